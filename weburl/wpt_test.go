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

// readCases reads a data file of web-platform-tests: an array of objects, with comments
// between them as plain strings.
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

// isAbsolute reports whether the base has no say: a scheme equal to the base's is only a
// prefix unless "//" follows it.
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
	withoutBase, absolute := 0, 0
	for _, c := range readCases[wptURL](t, "urltestdata.json") {
		if c.Base == "" && strings.HasPrefix(c.scheme(), "http") {
			withoutBase++
		}
		if !c.isAbsolute() {
			continue
		}
		absolute++
		u, err := Parse(c.Input)
		c.check(t, u, err)
	}
	t.Logf("%d http(s) cases without base, %d absolute in all", withoutBase, absolute)
	if absolute < 300 {
		t.Errorf("only %d cases were found to be absolute", absolute)
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

// remapped are the characters that Unicode 15.1 and 16 map, or ignore, in a domain and
// Unicode 15 refused or mapped to something else.
const remapped = "\u04C0\u115F\u1160\u17B4\u17B5\u180E\u1E9E\u2061\u2062\u2063\u206A\u206B\u206C\u206D\u206E\u206F" +
	"\u2132\u2183\u3164\uFFA0\U0001D173\U0001D174\U0001D175\U0001D176\U0001D177\U0001D178\U0001D179\U0001D17A" +
	"\U0002F868\U0002F874\U0002F91F\U0002F95F\U0002F9BF" +
	"\u10A0\u10A1\u10A2\u10A3\u10A4\u10A5\u10A6\u10A7\u10A8\u10A9\u10AA\u10AB\u10AC\u10AD\u10AE\u10AF\u10B0\u10B1\u10B2" +
	"\u10B3\u10B4\u10B5\u10B6\u10B7\u10B8\u10B9\u10BA\u10BB\u10BC\u10BD\u10BE\u10BF\u10C0\u10C1\u10C2\u10C3\u10C4\u10C5"

// added are characters of the data that Unicode had not assigned in version 15.
const added = "\U00032931\U00032B9A"

func TestDomainsOfWebPlatformTestsFailOnlyForTheAgeOfUnicodeTables(t *testing.T) {
	type counts struct{ passed, remapped, added, unexplained int }
	for name, want := range map[string]counts{
		"toascii.json":    {passed: 80, remapped: 7},
		"IdnaTestV2.json": {passed: 2596, remapped: 71, added: 3},
	} {
		t.Run(name, func(t *testing.T) {
			var got counts
			for _, c := range readCases[wptDomain](t, name) {
				switch {
				case c.Input == "":
				case c.passes():
					got.passed++
				case strings.ContainsAny(c.Input, remapped):
					got.remapped++
				case strings.ContainsAny(c.Input, added):
					got.added++
				default:
					got.unexplained++
					t.Errorf("%+q has no explanation", c.Input)
				}
			}
			if idna.UnicodeVersion != "15.0.0" {
				t.Logf("Unicode %s: %+v", idna.UnicodeVersion, got)
				if got.passed < want.passed {
					t.Errorf("%d passed, with Unicode 15 they were %d", got.passed, want.passed)
				}
				return
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
