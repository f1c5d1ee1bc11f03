package command_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// front is what stands in front of a handler.
type front struct {
	block string // LINKS(...) stands for a directive with these keys
	never string // the keys that no request comes to
	// isVague is set where it is not known which requests come through.
	isVague bool
}

var fronts = map[string]front{
	"handle": {
		block: "handle /go/* {\n shortlink LINKS(docs go/a go Go/b g x=)\n}",
		never: "docs g x",
	},
	"its own matcher": {block: "shortlink /go/* LINKS(docs go/docs)", never: "docs"},
	"a named matcher": {
		block: "@links {\n path /go/* /l/*\n method GET\n}\nshortlink @links LINKS(docs l/a)",
		never: "docs",
	},
	"one path": {
		block: "handle /docs {\n shortlink LINKS(docs docs/a lunch)\n}", never: "docs/a lunch",
	},
	"handle_path": {block: "handle_path /go/* {\n shortlink LINKS(docs go/docs)\n}"},
	"a matcher within handle_path": {
		block: "handle_path /p/* {\n handle /go/* {\n shortlink LINKS(docs go/a p/go/b)\n}\n}",
		never: "docs p/go/b",
	},
	"handle_path within a matcher": {
		block: "handle /go/* {\n handle_path /go/p/* {\n shortlink LINKS(docs)\n}\n}",
	},
	"two matchers": {
		block: "handle /go/* {\n handle /go/p/* {\n shortlink LINKS(go/a go/p/b go/p)\n}\n}",
		never: "go/a",
	},
	"matchers of two places": {
		block: "handle /go/* {\n shortlink LINKS(go/a l/a docs)\n}\n" +
			"handle /l/* {\n shortlink LINKS(go/a l/a docs)\n}\n",
		never: "docs",
	},
	"a prefix is cut off": {
		block: "route {\n uri strip_prefix /p\n shortlink /go/* LINKS(docs go/a)\n}",
		never: "docs",
	},
	"a prefix is cut off behind": {
		block: "route /p/* {\n uri strip_prefix p\n shortlink LINKS(docs p/a)\n}",
	},
	"another handle cuts it off": {
		block: "handle_path /p/* {\n respond p\n}\nhandle /go/* {\n shortlink LINKS(docs go/a)\n}",
		never: "docs",
	},
	"variables": {
		block: "handle /go/* {\n shortlink LINKS(go/{x}/y {x}/y l/{x} gone/{x})\n}",
		never: "gone/{x} l/{x}",
	},
	"upper case and escapes": {
		block: "handle /GO/* {\n shortlink LINKS(%67o/a go%2Fb docs)\n}", never: "docs",
	},
	"escapes in the matcher": {
		block: "handle /g%6f/* {\n shortlink LINKS(docs go/a)\n}",
	},
	"two slashes in the matcher": {
		block: "handle /go//* {\n shortlink LINKS(docs go/a go//b)\n}", isVague: true,
	},
	"a rewrite in front": {
		block: "route {\n rewrite /p/* /go/a\n shortlink /go/* LINKS(docs go/a)\n}",
		never: "docs", isVague: true,
	},
	"a rewrite within": {
		block: "route /go/* {\n rewrite * /docs\n shortlink LINKS(docs)\n}", isVague: true,
	},
	"an end of paths": {
		block: "@html path *.html\nhandle @html {\n shortlink LINKS(docs go/a)\n}",
	},
	"a regular expression": {
		block: "@go path_regexp ^/go/\nhandle @go {\n shortlink LINKS(go/a docs)\n}", isVague: true,
	},
	"not a path": {
		block: "@go not path /go/*\nhandle @go {\n shortlink LINKS(go/a docs)\n}", isVague: true,
	},
	"for errors": {
		block: "error 404\nhandle_errors {\n handle /go/* {\n shortlink LINKS(go/a docs)\n}\n}",
		never: "docs", isVague: true,
	},
}

// site returns what the block of its site holds. Each key leads to a host of its own.
func (f front) site() string {
	var b strings.Builder
	for i, part := range strings.Split(f.block, "LINKS(") {
		keys, rest, isList := strings.Cut(part, ")")
		if i == 0 || !isList {
			b.WriteString(part)
			continue
		}
		b.WriteString("{\n")
		for key := range strings.FieldsSeq(keys) {
			key, isExact := strings.CutSuffix(key, "=")
			fmt.Fprintf(&b, "%s %s%s\n", key, pageOfKey(key), map[bool]string{true: " exact"}[isExact])
		}
		b.WriteString("}" + rest)
	}
	return b.String()
}

// pageOfKey returns where a key leads.
func pageOfKey(key string) string {
	return "https://" + strings.NewReplacer("/", "-", "%", "-", "{", "", "}", "").Replace(key) +
		".example"
}

// requests returns paths that clients may ask for to come to a key.
func requests(key string) (paths []string) {
	key = strings.ReplaceAll(key, "{x}", "v")
	for _, prefix := range []string{
		"", "/go", "/p", "/p/p", "/p/go", "/go/p", "/l", "/x", "/GO", "/g%6f", "/%70/go", "/go/", "/p/",
	} {
		for _, suffix := range []string{"", "/", "/x", "/x.html", "//"} {
			paths = append(paths, prefix+"/"+key+suffix)
		}
	}
	return paths
}

// serve starts a Caddy with the front, and returns the path of a Caddyfile that has it, too.
func (f front) serve(t *testing.T) (s *testcaddy.Server, config string) {
	t.Helper()
	config = filepath.Join(t.TempDir(), "Caddyfile")
	testcaddy.Write(t, config, "http://localhost {\n"+f.site()+"\n}\n")
	return testcaddy.Serve(t, f.site()), config
}

func TestCheckFindsTheKeysThatNoRequestComesTo(t *testing.T) {
	for name, f := range fronts {
		t.Run(name, func(t *testing.T) {
			s, config := f.serve(t)
			args := []string{"shortlink", "check", "--config", config, "--format", "json"}
			got, exit := testcaddy.Run(args, "")
			var report struct {
				Handlers []struct {
					Findings []struct{ Kind, Key string }
				}
			}
			if err := json.Unmarshal([]byte(got), &report); err != nil || exit != 0 {
				t.Fatalf("check says %s, %d", got, exit)
			}
			var never []string
			for _, finding := range report.Handlers[0].Findings {
				if finding.Kind == "never reached" {
					never = append(never, finding.Key)
				}
			}
			slices.Sort(never)
			if strings.Join(never, " ") != f.never {
				t.Errorf("no request comes to %q, want %s", never, f.never)
			}
			for _, key := range never {
				for _, path := range requests(key) {
					if strings.Contains(s.Get(t, path).Location(), pageOfKey(key)) {
						t.Errorf("a request for %s comes to %s", path, key)
					}
				}
			}
		})
	}
}

func TestResolveOfAURLSaysWhatARunningCaddyAnswers(t *testing.T) {
	const note = "the request does not reach the handler: a path matcher in front of it only matches "
	for name, f := range fronts {
		if f.isVague {
			continue
		}
		t.Run(name, func(t *testing.T) {
			s, config := f.serve(t)
			paths := slices.Concat(requests("docs"), requests("go/a"), requests("x"))
			urls := "http://localhost" + strings.Join(paths, "\nhttp://localhost")
			args := []string{"shortlink", "resolve", "--config", config, "--format", "json", "-"}
			got, _ := testcaddy.Run(args, urls)
			decoder := json.NewDecoder(strings.NewReader(got))
			for _, path := range paths {
				var answer struct{ Destination, Note string }
				testcaddy.Must(t, decoder.Decode(&answer))
				is := "302 " + answer.Destination
				if answer.Destination == "" || strings.HasPrefix(answer.Note, note) {
					is = "200"
				}
				if want := s.Get(t, path).Location(); is != want {
					t.Errorf("%s: resolve says %+v, Caddy %s", path, answer, want)
				}
			}
		})
	}
}

func TestAKeyThatOthersLeadToIsNotForRequestsAlone(t *testing.T) {
	config := filepath.Join(t.TempDir(), "Caddyfile")
	testcaddy.Write(t, config, `http://localhost {
	handle /go/* {
		shortlink {
			go/home /
			go/a /b
			b /c/d
			c https://c.example
			go/gh/{owner} /github/{owner}
			github/v{x} /forge/{x}
			forge /forges/now
			forges https://github.com
			x /y
			y https://y.example
		}
	}
}`)
	got, _ := testcaddy.Run([]string{"shortlink", "check", "--config", config}, "")
	for key, want := range map[string]bool{"b": false, "c": false, "github/v{x}": false,
		"forge": false, "forges": false, "x": true, "y": true} {
		if strings.Contains(got, fmt.Sprintf("key %q: no request for it", key)) != want {
			t.Errorf("of %s check says\n%s", key, got)
		}
	}
}

func TestResolveSaysThatNoSiteAnswersAHost(t *testing.T) {
	const note = "no site answers the host "
	for sites, hosts := range map[string]map[string]bool{
		"http://go.example, http://*.links.example": {
			"go.example": true, "GO.example:8080": true, "a.links.example": true,
			"a.b.links.example": false, "evil.test": false, "links.example": false,
		},
		"http://b\u00fccher.example": {"xn--bcher-kva.example": true, "bücher.example": true},
		"http://[::1], http://127.0.0.1:8080": {
			"[::1]": true, "[::1]:8080": true, "127.0.0.1": true, "[::2]": false,
		},
		":8080":                     {"evil.test": true},
		"http://{env.NOBODY_KNOWS}": {"evil.test": true},
	} {
		config := filepath.Join(t.TempDir(), "Caddyfile")
		testcaddy.Write(t, config, sites+" {\n shortlink {\n lunch https://lunch.example\n }\n}\n")
		for host, isSite := range hosts {
			url := "http://" + host + "/lunch"
			args := []string{"shortlink", "resolve", "--config", config, url}
			got, exit := testcaddy.Run(args, "")
			if !strings.HasPrefix(got, url+" -> 302 https://lunch.example/\n") || exit != 0 ||
				strings.Contains(got, note) == isSite {
				t.Errorf("%s: %s is answered %q, %d", sites, host, got, exit)
			}
		}
	}
}

func TestAKeyThatBeginsWithAHostIsAWarning(t *testing.T) {
	config := filepath.Join(t.TempDir(), "Caddyfile")
	const anySite = ":80 {\nshortlink {\n"
	for name, tt := range map[string]struct{ front, key, instead string }{
		"of the site":            {"https://intra:8443 {\nshortlink {\n", "intra/docs", "docs"},
		"of the site, alone":     {"go.intra {\nshortlink {\n", "go.intra", "a key such as docs"},
		"of the site, with port": {"go.intra:8443 {\nshortlink {\n", "go.intra:8443/docs", "docs"},
		"of a wildcard":          {"*.intra {\nshortlink {\n", "go.intra/docs/a", "docs/a"},
		"of the origin":          {anySite + "origin https://go\n", "go/docs", "docs"},
		"of nobody":              {anySite, "docs.example.com/a", "a"},
		"below a path": {
			"go.intra {\nhandle /go/* {\nshortlink {\n", "go.intra/docs", "go/docs",
		},

		"a word":                   {"https://intra {\nshortlink {\n", "intra", ""},
		"a file":                   {anySite, "robots.txt", ""},
		"a file of Go":             {anySite, "main.go", ""},
		"a file below a program":   {anySite, "node.js/install", ""},
		"a heading of a file":      {anySite, "readme.md/usage", ""},
		"a script":                 {anySite, "install.sh", ""},
		"a name that ends so":      {anySite, "draw.io", ""},
		"a version":                {anySite, "v1.2/docs", ""},
		"a path that has to begin": {"http://go {\nhandle /go/* {\nshortlink {\n", "go/docs", ""},
	} {
		testcaddy.Write(t, config, tt.front+tt.key+" https://docs.example\n"+
			strings.Repeat("}\n", strings.Count(tt.front, "{")))
		got, _ := testcaddy.Run([]string{"shortlink", "check", "--config", config}, "")
		found := strings.Contains(got, "URL as key (1)") &&
			strings.Contains(got, "looks like a host; write "+tt.instead)
		if found != (tt.instead != "") || tt.instead == "" && !strings.Contains(got, " 0 warnings") {
			t.Errorf("%s: check says\n%s", name, got)
		}
	}
}
