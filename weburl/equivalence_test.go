package weburl

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// canonicalHref is the canonical form of a URL with its user name and password, as in the vectors.
func canonicalHref(t *testing.T, s string) string {
	t.Helper()
	u, err := Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	canonical := u.Canonical()
	canonical.Username, canonical.Password = u.Username, u.Password
	canonical.Fragment, canonical.HasFragment = u.Fragment, u.HasFragment
	canonical.HasQuery = u.HasQuery
	return canonical.Href()
}

func TestEquivalentURLsHaveOneCanonicalFormAndOthersNot(t *testing.T) {
	content, err := os.ReadFile("testdata/equivalence.json")
	if err != nil {
		t.Fatal(err)
	}
	var classes []struct {
		Why         string
		Same        []string
		DiffersFrom []string `json:"differs_from"`
	}
	if err := json.Unmarshal(content, &classes); err != nil {
		t.Fatal(err)
	}
	for _, class := range classes {
		want := canonicalHref(t, class.Same[0])
		for _, url := range class.Same {
			if got := canonicalHref(t, url); got != want {
				t.Errorf("%s: %s is %s, not %s", class.Why, url, got, want)
			}
		}
		for _, url := range class.DiffersFrom {
			if canonicalHref(t, url) == want {
				t.Errorf("%s: %s is %s, too", class.Why, url, want)
			}
		}
	}
}

// eachPublicCase checks the vectors of RFC 3986 and its implementations, and counts each kind.
func eachPublicCase(t *testing.T, check func(kind, first, second string)) map[string]int {
	t.Helper()
	count := map[string]int{}
	for _, row := range readRows(t, "rfc3986.json") {
		var kind, first, second string
		if err := row.Scan(&kind, &first, &second); err != nil {
			t.Fatal(err)
		}
		count[kind]++
		check(kind, first, second)
	}
	return count
}

// Hosts and ports are the URL Standard's, and queries stay as they are written. So the paths are
// compared, and whether input and normal form are one page.
func TestTheCanonicalPathIsTheNormalFormOfRFC3986(t *testing.T) {
	checked := 0
	eachPublicCase(t, func(kind, input, normalized string) {
		u, err := Parse(input)
		if kind != "normal form" || err != nil {
			return // of another scheme
		}
		normal, err := Parse(normalized)
		if err != nil {
			t.Fatal(err)
		}
		checked++
		u.Query, normal.Query = "", ""
		if got := u.Canonical(); got.Path != normal.Path || got != normal.Canonical() {
			t.Errorf("%s is %s, not %s", input, got.Href(), normalized)
		}
	})
	if checked < 50 {
		t.Errorf("%d vectors", checked)
	}
}

func TestThePublicClassesOfEquivalenceAndTrapsHold(t *testing.T) {
	count := eachPublicCase(t, func(kind, first, second string) {
		switch kind {
		case "same":
			isHTTP := strings.HasPrefix(strings.ToLower(first), "http")
			if isHTTP && canonicalHref(t, first) != canonicalHref(t, second) {
				t.Errorf("%s differs from %s", second, first)
			}
		case "other":
			if canonicalHref(t, first) == canonicalHref(t, second) {
				t.Errorf("%s is the same as %s", second, first)
			}
		case "path":
			if got := string(AppendCanonicalPath(nil, first)); got != second {
				t.Errorf("%s becomes %s, not %s", first, got, second)
			}
		}
	})
	if count["same"] == 0 || count["other"] == 0 || count["path"] == 0 {
		t.Errorf("there are %v", count)
	}
}

func FuzzCanonicalPath(f *testing.F) {
	for _, path := range []string{"/%61%2f%zz", "/%%34%31", "/é%C3%A9\xff", "/a b?c#d", "/%25%34%31"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		once := string(AppendCanonicalPath(nil, path))
		if twice := string(AppendCanonicalPath(nil, once)); twice != once {
			t.Errorf("%q is %q, and then %q", path, once, twice)
		}
		if strings.ContainsAny(once, "?#\\") || !strings.HasPrefix(once, "/") {
			return // what no pathname holds
		}
		u, err := Parse("http://h" + path)
		if err != nil || strings.ContainsAny(path, "?#\\\t\r\n") {
			return
		}
		if canonical := u.Canonical(); canonical.Canonical() != canonical {
			t.Errorf("%q is %q, and then %q", u.Path, canonical.Path, canonical.Canonical().Path)
		}
	})
}
