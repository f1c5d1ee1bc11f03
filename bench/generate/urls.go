package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/vectors"
)

const ofWPT = "web-platform-tests/wpt: url/resources/"

// ofWebPlatformTests makes tables of the URL tests of web-platform-tests.
func ofWebPlatformTests(folder string) ([]made, error) {
	urls, err := urlTable(filepath.Join(folder, "urltestdata.json"))
	if err != nil {
		return nil, err
	}
	domains := vectors.Table{
		Suite:   ofWPT + "toascii.json and IdnaTestV2.json",
		Licence: "BSD-3-Clause",
		Columns: []string{"domain", "as ASCII, null for one that is refused"},
	}
	for _, file := range []string{"toascii.json", "IdnaTestV2.json"} {
		if err := addDomains(&domains, folder, file); err != nil {
			return nil, err
		}
	}
	encoding, err := encodingTable(filepath.Join(folder, "percent-encoding.json"))
	return []made{
		{"weburl/testdata/wpt-urls.json", urls},
		{"weburl/testdata/wpt-domains.json", domains},
		{"weburl/testdata/wpt-encoding.json", encoding},
	}, err
}

// wptURL is a case of urltestdata.json.
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

func urlTable(file string) (vectors.Table, error) {
	t := vectors.Table{
		Suite:   ofWPT + "urltestdata.json",
		Licence: "BSD-3-Clause",
		Columns: []string{
			"input", "base", "href, missing for what is refused or not of http and https",
			"username", "password", "hostname", "port", "pathname", "search", "hash",
		},
	}
	cases, err := wptCases[wptURL](file)
	for _, c := range cases {
		if c.Failure || c.Protocol != "http:" && c.Protocol != "https:" {
			t.Add(c.Input, c.Base)
			continue
		}
		if err := c.checkDerived(); err != nil {
			return t, err
		}
		t.Add(c.Input, c.Base, c.Href, c.Username, c.Password, c.Hostname, c.Port, c.Pathname,
			c.Search, c.Hash)
	}
	return t, err
}

// checkDerived checks that the omitted members follow from the others.
func (c wptURL) checkDerived() error {
	host := c.Hostname
	if c.Port != "" {
		host += ":" + c.Port
	}
	isOrigin := c.Origin == "" || c.Origin == c.Protocol+"//"+host
	if c.Host != host || !isOrigin || !strings.HasPrefix(c.Href, c.Protocol) {
		return fmt.Errorf("%q on %q: host, origin or protocol do not follow from the rest",
			c.Input, c.Base)
	}
	return nil
}

func addDomains(t *vectors.Table, folder, file string) error {
	type domain struct {
		Input  string
		Output *string
	}
	cases, err := wptCases[domain](filepath.Join(folder, file))
	for _, c := range cases {
		t.Add(c.Input, c.Output)
	}
	return err
}

func encodingTable(file string) (vectors.Table, error) {
	t := vectors.Table{
		Suite:   ofWPT + "percent-encoding.json",
		Licence: "BSD-3-Clause",
		Columns: []string{"input", "percent-encoded as UTF-8"},
	}
	type encoding struct {
		Input  string
		Output map[string]string
	}
	cases, err := wptCases[encoding](file)
	for _, c := range cases {
		if encoded, ok := c.Output["utf-8"]; ok {
			t.Add(c.Input, encoded)
		}
	}
	return t, err
}

// wptCases returns the objects of an array. Plain strings in it are comments.
func wptCases[T any](file string) (cases []T, err error) {
	elements, err := read[[]json.RawMessage](file)
	for _, element := range elements {
		var c T
		if element[0] == '"' {
			continue
		}
		if err := json.Unmarshal(element, &c); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		cases = append(cases, c)
	}
	return cases, err
}

// ofRFC3986 makes a table of normalisation cases.
func ofRFC3986(file string) ([]made, error) {
	t := vectors.Table{
		Suite: "RFC 3986, sections 6.2.2, 6.2.3, 2.2 and 2.4; RFC 9110, section 4.2.3; and " +
			"tests of python-hyper/rfc3986, guzzle/psr7, lo48576/iri-string, php-src and net/url",
		Licence: "facts; the suites are under Apache-2.0, MIT, the PHP licence and BSD-3-Clause",
		Columns: []string{"what the two are: normal form, same, other or path", "first", "second"},
	}
	suite, err := read[struct {
		Normalize []struct {
			Input      string
			Normalized string `json:"rfc3986_normalized"`
		}
		Classes []struct {
			Equivalent    []string
			NotEquivalent []string `json:"not_equivalent"`
		} `json:"equivalence_classes"`
		Traps []struct {
			Input, Expected string
			Unchanged       bool `json:"must_be_left_unchanged"`
		} `json:"percent_traps"`
	}](file)
	for _, c := range suite.Normalize {
		t.Add("normal form", c.Input, c.Normalized)
	}
	for _, class := range suite.Classes {
		for _, url := range class.Equivalent {
			t.Add("same", class.Equivalent[0], url)
		}
		for i, url := range class.NotEquivalent {
			if i > 0 {
				t.Add("other", class.NotEquivalent[0], url)
			}
		}
	}
	for _, trap := range suite.Traps {
		if trap.Unchanged {
			trap.Expected = trap.Input
		}
		t.Add("path", trap.Input, trap.Expected)
	}
	return []made{{"weburl/testdata/rfc3986.json", t}}, err
}
