package source_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/source"
)

// remarker is a file of rules that warns of its lines of comment.
type remarker struct {
	source.File
	warnings []lint.Warning
}

func init() { caddy.RegisterModule(new(remarker)) }

func (*remarker) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.shortlink.sources.test_remarker", New: func() caddy.Module {
		return new(remarker)
	}}
}

func (r *remarker) Read(ctx context.Context, add func(resolver.Rule)) (string, error) {
	content, err := os.ReadFile(r.Path)
	if err != nil {
		return "", err
	}
	r.warnings = nil
	for i, line := range strings.Split(string(content), "\n") {
		if message, is := strings.CutPrefix(line, "#"); is {
			at := resolver.Position{Source: r.String(), Line: i + 1, Column: 1}
			r.warnings = append(r.warnings, lint.Warning{
				Kind: "remark", Position: at, Message: message,
			})
		}
	}
	return r.File.Read(ctx, add)
}

func (r *remarker) Remarks() source.Remarks { return source.Remarks{Warnings: r.warnings} }

var _ source.Annotated = (*remarker)(nil)

func TestWhatASourceWarnsOfIsLoggedOnceAndChecked(t *testing.T) {
	dir := t.TempDir()
	links := filepath.Join(dir, "links.csv")
	s := &testcaddy.Follower{Links: links, Log: filepath.Join(dir, "caddy.log")}
	testcaddy.Write(t, links, "#one\na,https://ann@a.example\n#two\nb,https://b.example\n")
	block := func(more string) string {
		return "shortlink {\n from test_remarker " + links + " {\n poll 5ms\n }\n " + more + "\n }"
	}
	s.Server = testcaddy.ServeWith(t, testcaddy.LogTo(s.Log), block(""))
	if entry := s.Logged(t, 1, ":1:1"); entry["kind"] != "remark" || entry["msg"] != "one" {
		t.Errorf("the entry is %v", entry)
	}
	testcaddy.Write(t, links, "#one\n#new\nb,https://b.example\n")
	s.Logged(t, 1, `"new"`)
	testcaddy.Write(t, links, "not a row\n")
	s.Logged(t, 1, testcaddy.Rejected)
	s.Reload(t, block("status 301")) // which serves the last good rules
	testcaddy.Write(t, links, "#one\n#new\nb,https://b.example\n#newest\n")
	s.Logged(t, 1, `"newest"`)
	if once, twice := s.TimesLogged(t, `"new"`), s.TimesLogged(t, `"one"`); once != 2 || twice != 2 {
		t.Errorf("logged %d and %d times, want once for each configuration", once, twice)
	}
}

func TestWhatASourceWarnsOfStandsAmongTheFindingsInItsPlace(t *testing.T) {
	dir := t.TempDir()
	links, config := filepath.Join(dir, "links.csv"), filepath.Join(dir, "Caddyfile")
	testcaddy.Write(t, links, "#one\na,https://ann@a.example\n#two\n")
	testcaddy.Write(t, config, "http://127.0.0.1:1 {\n shortlink {\n from test_remarker "+links+"\n }\n}")
	got, status := testcaddy.Run([]string{"shortlink", "check", "--strict", "--config", config}, "")
	want := "warning: remark (2)\n  " + links + ":1:1: one\n  " + links + ":3:1: two\n"
	if status != 1 || !strings.Contains(got, want) {
		t.Errorf("status %d, got\n%s", status, got)
	}
}
