package weburl

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/idna"
)

// readCases reads a data file of web-platform-tests: an array of objects, with comments between
// them as plain strings.
func readCases[T any](t *testing.T, name string) []T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "shared", "testdata", "wpt", name))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("%s of web-platform-tests is not there; it belongs in ../shared/testdata/wpt beside the repository", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	var elements []json.RawMessage
	if err := json.Unmarshal(data, &elements); err != nil {
		t.Fatal(err)
	}
	var cases []T
	for _, element := range elements {
		var c T
		if element[0] == '{' {
			if err := json.Unmarshal(element, &c); err != nil {
				t.Fatal(err)
			}
			cases = append(cases, c)
		}
	}
	return cases
}

type wptURL struct {
	Input    string
	Base     string
	Failure  bool
	Href     string
	Protocol string
	Origin   string
	Username string
	Password string
	Host     string
	Hostname string
	Port     string
	Pathname string
	Search   string
	Hash     string
}

func (c wptURL) scheme() string {
	scheme, _, _ := strings.Cut(clean(c.Input), ":")
	return lower(scheme)
}

// isAbsolute reports whether the base has no say: a scheme equal to the base's is only a prefix
// unless "//" follows it.
func (c wptURL) isAbsolute() bool {
	scheme := c.scheme()
	if scheme != "http" && scheme != "https" {
		return false
	}
	rest := clean(c.Input)[len(scheme):]
	return c.Base == "" || !strings.HasPrefix(c.Base, scheme+":") || strings.HasPrefix(rest, "://")
}

func (c wptURL) isPathReference() bool {
	input := clean(c.Input)
	return input != "" && isSlash(input[0])
}

func (c wptURL) check(t *testing.T, u URL, err error) {
	t.Helper()
	if c.Failure != (err != nil) {
		t.Errorf("%q on %q: refused %t, want %t (%v)", c.Input, c.Base, err != nil, c.Failure, err)
		return
	}
	if c.Failure {
		return
	}
	host := strings.TrimPrefix(u.Origin(), u.Scheme+"://")
	got := wptURL{c.Input, c.Base, false, u.Href(), u.Scheme + ":", u.Origin(), u.Username, u.Password,
		host, u.Host, u.Port, u.Path, u.Search(), u.Hash()}
	if c.Origin == "" {
		got.Origin = "" // some cases leave it out
	}
	if got != c {
		t.Errorf("%q on %q:\n got %+v\nwant %+v", c.Input, c.Base, got, c)
	}
}

func TestEveryAbsoluteURLOfWebPlatformTestsParsesAsItSays(t *testing.T) {
	found := 0
	for _, c := range readCases[wptURL](t, "urltestdata.json") {
		if !c.isAbsolute() {
			continue
		}
		found++
		u, err := Parse(c.Input)
		c.check(t, u, err)
	}
	t.Logf("%d cases", found)
	if found < 380 {
		t.Errorf("only %d cases were found to be absolute", found)
	}
}

func TestEveryPathReferenceOfWebPlatformTestsResolvesAsItSays(t *testing.T) {
	found := 0
	for _, c := range readCases[wptURL](t, "urltestdata.json") {
		base, err := Parse(c.Base)
		if err != nil || !c.isPathReference() {
			continue
		}
		found++
		u, err := base.Resolve(c.Input)
		c.check(t, u, err)
	}
	t.Logf("%d cases", found)
	if found < 20 {
		t.Errorf("only %d cases were found to be path references", found)
	}
}

func TestEveryOtherURLOfWebPlatformTestsIsRefused(t *testing.T) {
	for _, c := range readCases[wptURL](t, "urltestdata.json") {
		if scheme := c.scheme(); scheme == "http" || scheme == "https" {
			continue
		}
		if u, err := Parse(c.Input); err == nil {
			t.Errorf("%q was read as %s", c.Input, u.Href())
		}
	}
}

func TestPercentEncodingOfWebPlatformTestsHolds(t *testing.T) {
	type wptEncoding struct {
		Input  string
		Output map[string]string
	}
	found := 0
	for _, c := range readCases[wptEncoding](t, "percent-encoding.json") {
		want, ok := c.Output["utf-8"]
		if !ok {
			continue
		}
		found++
		u, err := Parse("https://h/?" + c.Input + "#" + c.Input)
		if err != nil {
			t.Fatal(err)
		}
		if u.Query != want || u.Fragment != want {
			t.Errorf("%q: query %q, fragment %q, want %q", c.Input, u.Query, u.Fragment, want)
		}
	}
	if found == 0 {
		t.Error("no case names an output in UTF-8")
	}
}

func TestDomainsOfWebPlatformTestsFailOnlyWithCharactersNewerThanTheTables(t *testing.T) {
	// These are in the data, and Unicode assigned them in version 17.
	const newer = "\U00032931\U00032B9A"
	type counts struct{ passed, newer int }
	for name, want := range map[string]counts{
		"toascii.json":    {passed: 87},
		"IdnaTestV2.json": {passed: 2667, newer: 3},
	} {
		t.Run(name, func(t *testing.T) {
			var got counts
			for _, c := range readCases[wptDomain](t, name) {
				switch {
				case c.Input == "": // no URL can have it
				case c.passes():
					got.passed++
				case strings.ContainsAny(c.Input, newer):
					got.newer++
				default:
					t.Errorf("%+q fails", c.Input)
				}
			}
			if idna.UnicodeVersion != "15.0.0" {
				want = counts{passed: want.passed + want.newer}
			}
			if got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
}

type wptDomain struct {
	Input  string
	Output *string // nil: refused
}

func (c wptDomain) passes() bool {
	// What would end the host in a URL is encoded, as web-platform-tests' own runner does.
	host, err := ParseHost(strings.NewReplacer(":", "%3A", "/", "%2F", "?", "%3F", "#", "%23", `\`, "%5C").Replace(c.Input))
	if c.Output == nil {
		return err != nil
	}
	return err == nil && host == *c.Output
}
