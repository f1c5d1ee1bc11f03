package weburl

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/idna"

	"github.com/caddy-shortlink/shortlink/internal/vectors"
)

// readRows returns the rows of a table of vectors in testdata.
func readRows(t *testing.T, name string) []vectors.Row {
	t.Helper()
	rows, err := vectors.Read(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// readURLs returns the cases of web-platform-tests.
func readURLs(t *testing.T) (cases []wptURL) {
	t.Helper()
	for _, row := range readRows(t, "wpt-urls.json") {
		var c wptURL
		err := row.Scan(&c.Input, &c.Base, &c.Href, &c.Username, &c.Password, &c.Hostname, &c.Port,
			&c.Pathname, &c.Search, &c.Hash)
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	return cases
}

// wptURL is a case; without an Href the input is refused, or no URL of http and https.
type wptURL struct {
	Input, Base, Href                                          string
	Username, Password, Hostname, Port, Pathname, Search, Hash string
}

func (c wptURL) scheme() string {
	scheme, _, _ := strings.Cut(clean(c.Input), ":")
	return lower(scheme)
}

// isAbsolute reports whether the base does not matter. A scheme equal to the base's is only a
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
	if (c.Href == "") != (err != nil) {
		t.Errorf("%q on %q: %v, want %q", c.Input, c.Base, err, c.Href)
		return
	}
	if err != nil {
		return
	}
	got := wptURL{
		c.Input, c.Base, u.Href(), u.Username, u.Password, u.Host, u.Port, u.Path, u.Search(),
		u.Hash(),
	}
	if got != c {
		t.Errorf("%q on %q:\n got %+v\nwant %+v", c.Input, c.Base, got, c)
	}
	host := c.Hostname
	if c.Port != "" {
		host += ":" + c.Port
	}
	scheme, _, _ := strings.Cut(c.Href, ":")
	if u.Scheme != scheme || u.Origin() != scheme+"://"+host {
		t.Errorf("%q on %q: origin %s, want %s://%s", c.Input, c.Base, u.Origin(), scheme, host)
	}
}

func TestEveryAbsoluteURLOfWebPlatformTestsParsesAsItSays(t *testing.T) {
	found := 0
	for _, c := range readURLs(t) {
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
	for _, c := range readURLs(t) {
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
	for _, c := range readURLs(t) {
		if scheme := c.scheme(); scheme == "http" || scheme == "https" {
			continue
		}
		if u, err := Parse(c.Input); err == nil {
			t.Errorf("%q was read as %s", c.Input, u.Href())
		}
	}
}

func TestPercentEncodingOfWebPlatformTestsHolds(t *testing.T) {
	for _, row := range readRows(t, "wpt-encoding.json") {
		var input, want string
		if err := row.Scan(&input, &want); err != nil {
			t.Fatal(err)
		}
		u, err := Parse("https://h/?" + input + "#" + input)
		if err != nil {
			t.Fatal(err)
		}
		if u.Query != want || u.Fragment != want {
			t.Errorf("%q: query %q, fragment %q, want %q", input, u.Query, u.Fragment, want)
		}
	}
}

func TestOnlyDomainsOfNewerCharactersFailWebPlatformTests(t *testing.T) {
	// These are in the data, and Unicode assigned them in version 17.
	const newer = "\U00032931\U00032B9A"
	passed, tooNew := 0, 0
	for _, row := range readRows(t, "wpt-domains.json") {
		var c wptDomain
		if err := row.Scan(&c.Input, &c.Output); err != nil {
			t.Fatal(err)
		}
		switch {
		case c.Input == "": // no URL can have it
		case c.passes():
			passed++
		case strings.ContainsAny(c.Input, newer):
			tooNew++
		default:
			t.Errorf("%+q fails", c.Input)
		}
	}
	wantNew := 0
	if idna.UnicodeVersion == "15.0.0" {
		wantNew = 3
	}
	if passed+tooNew != 2757 || tooNew != wantNew {
		t.Errorf("%d pass, and %d are too new, want %d", passed, tooNew, wantNew)
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
