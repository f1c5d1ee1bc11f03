package source_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink"
	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

func TestAFileIsServedAndPickedUpWhenItChanges(t *testing.T) {
	links := filepath.Join(t.TempDir(), "links.json")
	testcaddy.Write(t, links, `{"docs": "https://docs.example"}`)
	s := testcaddy.Serve(t, `shortlink {
		from file `+links+` {
			poll 10ms
		}
	}
	respond next 299`)
	s.Eventually(t, "/docs/a", "302 https://docs.example/a")
	testcaddy.Write(t, links, `{"docs": "https://example.com/docs", "new": "/docs"}`)
	s.Eventually(t, "/new/a", "302 https://example.com/docs/a")
	testcaddy.Write(t, links, `{"docs": "nonsense"}`)
	testcaddy.Write(t, links, `{"docs": "https://third.example"}`)
	s.Eventually(t, "/docs", "302 https://third.example/")
	s.Eventually(t, "/new", "299")
}

func TestAnEnvironmentVariableCanNameTheFile(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("SHORTLINK_TEST_DIR", dir)
	testcaddy.Write(t, filepath.Join(dir, "links.json"), `{"docs": "https://docs.example"}`)
	testcaddy.Write(t, filepath.Join(dir, "expect.json"), `{"/docs": "https://docs.example"}`)
	s := testcaddy.Serve(t, `shortlink {
		from file {env.SHORTLINK_TEST_DIR}/links.json {
			expect {env.SHORTLINK_TEST_DIR}/expect.json
		}
	}`)
	s.Eventually(t, "/docs/a", "302 https://docs.example/a")
}

// Some programs write in place and put the time back; and the clocks of file systems are coarse.
func TestAChangeThatLeavesSizeAndTimeAsTheyWereIsPickedUp(t *testing.T) {
	links := filepath.Join(t.TempDir(), "links.json")
	testcaddy.Write(t, links, `{"docs": "https://one.example"}`)
	info, err := os.Stat(links)
	testcaddy.Must(t, err)
	s := testcaddy.Serve(t, "shortlink {\n from file "+links+" {\n poll 5ms\n }\n }")
	s.Eventually(t, "/docs", "302 https://one.example/")
	testcaddy.Must(t, os.WriteFile(links, []byte(`{"docs": "https://two.example"}`), 0o600))
	testcaddy.Must(t, os.Chtimes(links, info.ModTime(), info.ModTime()))
	s.Eventually(t, "/docs", "302 https://two.example/")
}

// Of JSON the first half does not parse.
func TestAFileThatIsWrittenSlowlyInPlaceIsTakenWhenWhole(t *testing.T) {
	links := filepath.Join(t.TempDir(), "links.csv")
	testcaddy.Write(t, links, "a,https://old.example\nb,/a\n")
	s := testcaddy.Serve(t, "shortlink {\n from file "+links+" {\n poll 5ms\n }\n }\n respond next 299")
	s.Eventually(t, "/b/x", "302 https://old.example/x")
	file, err := os.Create(links)
	testcaddy.Must(t, err)
	_, err = file.WriteString("a,https://new.example\n")
	testcaddy.Must(t, err)
	for range 20 { // of its polls
		if got := s.Get(t, "/b/x").Location(); got != "302 https://old.example/x" {
			t.Fatalf("got %s while the file is being written", got)
		}
		now := time.Now()
		// however slow this machine is, the writer was here a moment ago
		testcaddy.Must(t, os.Chtimes(links, now, now))
		time.Sleep(5 * time.Millisecond)
	}
	_, err = file.WriteString("b,/a\n")
	testcaddy.Must(t, errors.Join(err, file.Close()))
	s.Eventually(t, "/b/x", "302 https://new.example/x")
}

func TestAFileThatHasChangedSinceItWasReadIsNotEdited(t *testing.T) {
	dir := t.TempDir()
	for name, from := range map[string]source.Writable{
		"a file": &source.File{Path: dir + "/links.json"},
		"a storage entry": &source.Storage{Key: "links.json",
			StorageRaw: json.RawMessage(fmt.Sprintf(`{"module": "file_system", "root": %q}`, dir))},
	} {
		t.Run(name, func(t *testing.T) {
			testcaddy.Write(t, dir+"/links.json", `{"a": "https://a.example"}`)
			ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
			defer cancel()
			testcaddy.Must(t, from.(caddy.Provisioner).Provision(ctx))
			version, err := from.Read(ctx, func(resolver.Rule) {})
			testcaddy.Must(t, err)
			const theirs = `{"a": "https://theirs.example"}`
			testcaddy.Write(t, dir+"/links.json", theirs)
			_, err = from.Edit(ctx, version, rulefile.Edit{Changes: []rulefile.Change{{Key: "a"}}})
			content, _ := os.ReadFile(dir + "/links.json")
			if !errors.Is(err, source.ErrChanged) || string(content) != theirs {
				t.Errorf("got %v, and it holds %s", err, content)
			}
		})
	}
}

func TestTheNameOfAFileTellsItsFormatWhereNoneIsGiven(t *testing.T) {
	dir := t.TempDir()
	for name, tt := range map[string]struct{ file, format, content string }{
		"JSON":                  {"links.json", "", `{"docs": "https://docs.example"}`},
		"CSV":                   {"links.csv", "", "docs,https://docs.example\n"},
		"_redirects":            {"_redirects", "", "/docs https://docs.example 302\n"},
		"JSON by default":       {"links", "", `{"docs": "https://docs.example"}`},
		"the one that is given": {"links.txt", "csv", "docs,https://docs.example\n"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, tt.file)
			testcaddy.Write(t, path, tt.content)
			config := fmt.Sprintf(
				`{"sources": [{"source": "file", "path": %q, "format": %q}], "expect": {"/docs": "https://docs.example"}}`, path, tt.format)
			if _, err := testcaddy.Provision(t, config); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTheOptionsOfASourceAreCheckedTogether(t *testing.T) {
	for name, tt := range map[string]struct {
		source string
		want   []string
	}{
		"of a file": {
			`{"source": "file", "format": "xml", "poll": "often", "minisign": "RWQ"}`,
			[]string{"the path of the file is missing; write from file <path>", `not "xml"`,
				`poll takes a duration of at least 1ms, such as 2s, or off, not "often"`,
				"minisign takes a public key"},
		},
		"of a storage": {
			`{"source": "storage", "format": "xml", "poll": "0s", "minisign": "RWQ"}`,
			[]string{"the key of the entry is missing; write from storage <key>", `not "xml"`,
				`poll takes a duration of at least 1ms, such as 2s, or off, not "0s"`,
				"minisign takes a public key"},
		},
		"that there are": {`{"source": "file", "path": "links.json", "every": "2s"}`,
			[]string{`unknown field "every"`}},
		"its name": {`{"source": "nowhere"}`,
			[]string{"unknown module: http.shortlink.sources.nowhere"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := testcaddy.Provision(t, `{"sources": [`+tt.source+`]}`)
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %s", err, want)
				}
			}
		})
	}
}

func TestTheJSONOfSourcesIsReadAsItWasWritten(t *testing.T) {
	for name, tt := range map[string]struct {
		config string
		source any
	}{
		"file":    {`{"path":"links.csv","format":"csv","poll":"10s","expect":"expect.json","minisign":"RWQ","allow_empty":true}`, new(source.File)},
		"storage": {`{"key":"links","storage":{"module":"file_system"},"format":"json","poll":"off","expect":"expect","minisign":"RWQ","allow_empty":true}`, new(source.Storage)},
		"handler": {`{"sources":[{"source":"file","path":"links.json"},{"source":"storage","key":"links"}],"expect":{"/a":"pass"}}`, new(shortlink.Handler)},
	} {
		t.Run(name, func(t *testing.T) {
			testcaddy.Must(t, json.Unmarshal([]byte(tt.config), tt.source))
			got, err := json.Marshal(tt.source)
			testcaddy.Must(t, err)
			if string(got) != tt.config {
				t.Errorf("got\n%s\nwant\n%s", got, tt.config)
			}
		})
	}
}
