package weburl

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
)

// canonicalHref is the canonical form of a URL, with user name and password left in it, as the vectors have them.
func canonicalHref(t *testing.T, s string) string {
	t.Helper()
	u, err := Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	canonical := u.Canonical()
	canonical.Username, canonical.Password = u.Username, u.Password
	canonical.Fragment, canonical.HasFragment, canonical.HasQuery = u.Fragment, u.HasFragment, u.HasQuery
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

// publicCases are vectors of RFC 3986 and its implementations.
type publicCases struct {
	Normalize []struct {
		Input      string
		Normalized string `json:"rfc3986_normalized"`
		WHATWG     string `json:"whatwg"`
	}
	Classes []struct {
		Equivalent    []string
		NotEquivalent []string `json:"not_equivalent"`
	} `json:"equivalence_classes"`
	Traps []struct {
		Input, Expected string
		Unchanged       bool `json:"must_be_left_unchanged"`
	} `json:"percent_traps"`
}

func readPublicCases(t *testing.T) (cases publicCases) {
	t.Helper()
	content, err := os.ReadFile("../../shared/testdata/rfc3986-cases.json")
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("the vectors of RFC 3986 are not beside this checkout (../shared/testdata)")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// Hosts and ports are the URL Standard's, and queries stay as they are written, so the paths are compared, and whether input and normal form
// are one page.
func TestTheCanonicalPathIsTheNormalFormOfRFC3986(t *testing.T) {
	checked := 0
	for _, c := range readPublicCases(t).Normalize {
		u, err := Parse(c.Input)
		if err != nil {
			continue // of another scheme
		}
		normal, err := Parse(c.Normalized)
		if err != nil {
			t.Fatal(err)
		}
		checked++
		u.Query, normal.Query = "", ""
		if got := u.Canonical(); got.Path != normal.Path || got != normal.Canonical() {
			t.Errorf("%s is %s, not %s", c.Input, got.Href(), c.Normalized)
		}
	}
	if checked < 50 {
		t.Errorf("%d vectors", checked)
	}
}

func TestThePublicClassesOfEquivalenceAndTrapsHold(t *testing.T) {
	cases := readPublicCases(t)
	for _, class := range cases.Classes {
		for _, url := range class.Equivalent {
			if strings.HasPrefix(strings.ToLower(url), "http") && canonicalHref(t, url) != canonicalHref(t, class.Equivalent[0]) {
				t.Errorf("%s differs from %s", url, class.Equivalent[0])
			}
		}
		for i, url := range class.NotEquivalent {
			if i > 0 && canonicalHref(t, url) == canonicalHref(t, class.NotEquivalent[0]) {
				t.Errorf("%s is the same as %s", url, class.NotEquivalent[0])
			}
		}
	}
	for _, trap := range cases.Traps {
		want := trap.Expected
		if trap.Unchanged {
			want = trap.Input
		}
		if got := string(AppendCanonicalPath(nil, trap.Input)); got != want {
			t.Errorf("%s becomes %s, not %s", trap.Input, got, want)
		}
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
