package live

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

// fileOf returns a source of a file that has been there for some time.
func fileOf(t *testing.T, name, content string) *source.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	before := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, before, before); err != nil {
		t.Fatal(err)
	}
	return provisioned(t, path)
}

func provisioned(t *testing.T, path string) *source.File {
	t.Helper()
	file := &source.File{Path: path}
	if err := file.Provision(caddy.Context{}); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestWhatServesAfterAnEditIsWhatAStartServes(t *testing.T) {
	files := map[string]string{
		"_redirects": "/a https://a.example/ 301\n",
		"links.json": `{"a": "https://a.example/"}`,
		"links.csv":  "a,https://a.example/\n",
	}
	for name, content := range files {
		for _, rule := range []resolver.Rule{
			{Key: "docs", Value: "https://docs.example/x"},
			{Key: "u/{name}", Value: "https://docs.example/{name}", Status: 301, Exact: true},
		} {
			t.Run(name+" "+rule.Key, func(t *testing.T) {
				file := fileOf(t, name, content)
				rs, _ := serve(t, Config{Sources: []source.Source{file}})
				e := &Edit{Changes: []Change{{Key: rule.Key, Rule: &rule}}}
				if _, err := rs.Apply(t.Context(), e); err != nil {
					t.Fatal(err)
				}
				fresh := New(Config{Sources: []source.Source{provisioned(t, file.Path)}})
				loaded, err := fresh.newLoading(t.Context(), nil).load()
				if err != nil {
					t.Fatal(err)
				}
				serves, _ := rs.Serving().Ruleset.RuleOf(1, rule.Key)
				starts, _ := loaded.Ruleset.RuleOf(1, rule.Key)
				if serves != starts || rs.Serving().Digest != loaded.Digest {
					t.Errorf("%+v serves, and after a start %+v", serves, starts)
				}
			})
		}
	}
}

func TestARuleWithoutADestinationIsNamedWherePartsOfTheFileAreReadInTheSamePlace(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("theonethatiswrong,\n")
	for i := range 30_000 {
		fmt.Fprintf(&rows, "k%d,https://example.com/some/page\n", i)
	}
	file := fileOf(t, "links.csv", rows.String())
	_, err := New(Config{Sources: []source.Source{file}}).newLoading(t.Context(), nil).load()
	if err == nil || !strings.Contains(err.Error(), `links.csv:1:1: key "theonethatiswrong": `) {
		t.Errorf("the error is %v", err)
	}
}
