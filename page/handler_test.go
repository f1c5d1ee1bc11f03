package page_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// adaptFile turns a Caddyfile on the disk into JSON, as the commands of Caddy do.
func adaptFile(t *testing.T, path string) ([]byte, error) {
	t.Helper()
	content, err := os.ReadFile(path)
	testcaddy.Must(t, err)
	adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt(content,
		map[string]any{"filename": path})
	return adapted, err
}

const (
	handlerGo   = "shortlink {\n docs https://docs.example\n name go\n}\n"
	pageOf      = "shortlink_page {\n read everyone\n handler %s\n}\n"
	nobodysPage = "there is no shortlink handler named goo; there are: go; write handler go, or name " +
		"goo into the block of the handler that you mean"
	noHandler = "shortlink_page has no links to show: there is no shortlink handler in this " +
		"configuration; write a shortlink directive in front of it"
)

func TestAPageWhoseHandlerIsNotInItsCaddyfileIsAnErrorOfAdaptingIt(t *testing.T) {
	const typo = 6 // the line of the handler's name
	dir := t.TempDir()
	path := filepath.Join(dir, "Caddyfile")
	testcaddy.Write(t, filepath.Join(dir, "go.caddy"), ":81 {\n"+handlerGo+"}\n")
	testcaddy.Write(t, filepath.Join(dir, "page.caddy"), ":82 {\n"+fmt.Sprintf(pageOf, "go")+"}\n")
	for name, tt := range map[string]struct {
		caddyfile string
		line      int // of the error, 0 for none
	}{
		"in front of the handler": {":80 {\n\n\n" + fmt.Sprintf(pageOf, "goo") + handlerGo + "}", typo},
		"behind the handler": {":80 {\n" + handlerGo + fmt.Sprintf(pageOf, "goo") + "}",
			typo + 2},
		"in another site":   {":80 {\n" + fmt.Sprintf(pageOf, "go") + "}\n:81 {\n" + handlerGo + "}", 0},
		"from a snippet":    {"(l) {\n" + handlerGo + "}\n:80 {\n shortlink_page\n import l\n}", 0},
		"in other files":    {"import page.caddy\nimport go.caddy", 0},
		"with another name": {"import page.caddy\n:80 {\nshortlink\n}", 4},
		"in a named route":  {"&(l) {\n" + handlerGo + "}\n:80 {\n invoke l\n shortlink_page\n}", 0},
		"without a name": {":80 {\nshortlink\n" + fmt.Sprintf(pageOf, "shortlink") + "}",
			0},
		"of two without a name": {":80 {\nshortlink\nhandle {\nshortlink {\ncache 1h\n}\n}\n" +
			fmt.Sprintf(pageOf, "shortlink-2") + "}", 0},
		"part of a configuration": {":80 {\n" + fmt.Sprintf(pageOf, "goo") + "}", 0},
	} {
		t.Run(name, func(t *testing.T) {
			testcaddy.Write(t, path, tt.caddyfile)
			_, err := adaptFile(t, path)
			place := fmt.Sprintf(":%d: there is no shortlink handler named ", tt.line)
			if (err == nil) != (tt.line == 0) || err != nil && !strings.Contains(err.Error(), place) {
				t.Errorf("got %v, want an error in line %d", err, tt.line)
			}
		})
	}
}

// pageConfig is a configuration in JSON of two servers.
func pageConfig(t *testing.T, first, second string) []byte {
	return fmt.Appendf(nil, `{
		"admin": {"disabled": true, "config": {"persist": false}},
		"logging": {"logs": {"default": {"writer": {"output": "discard"}}}},
		"storage": {"module": "file_system", "root": %q},
		"apps": {"http": {"servers": {
			"a": {"listen": [%q], "routes": [%s]},
			"b": {"listen": [%q], "routes": [%s]}
		}}}
	}`, testcaddy.StorageDir(t), testcaddy.FreeAddress(t), first, testcaddy.FreeAddress(t), second)
}

const (
	goInJSON = `{"handler": "shortlink", "name": "go", "rules": {"docs": "https://docs.example"}}`
	goRoute  = `{"handle": [` + goInJSON + `]}`
	nested   = `{"handle": [{"handler": "subroute", "routes": [` + goRoute + `]}]}`
	goPage   = `{"handle": [{"handler": "shortlink_page", "handler_name": "go"}]}`
	anyPage  = `{"handle": [{"handler": "shortlink_page"}]}`
	gooPage  = `{"handle": [{"handler": "shortlink_page", "handler_name": "goo"}]}`
)

func TestAPageFindsItsHandlerWhereverThatStandsInTheConfiguration(t *testing.T) {
	for name, tt := range map[string]struct{ first, second, want string }{
		"in front of it":          {goRoute + "," + goPage, "", ""},
		"behind it":               {goPage + "," + goRoute, "", ""},
		"in its route":            {`{"handle": [{"handler": "shortlink_page"}, ` + goInJSON + `]}`, "", ""},
		"in a subroute behind it": {goPage + "," + nested, "", ""},
		"in a subroute in front":  {nested + "," + goPage, "", ""},
		"in another server":       {goPage, nested, ""},
		"the only one":            {anyPage, goRoute, ""},
		"none of its name":        {goRoute + "," + gooPage, "", nobodysPage},
		"none behind it":          {gooPage, goRoute, nobodysPage},
		"none at all":             {anyPage, "", noHandler},
		"none, by name":           {gooPage, "", noHandler},
	} {
		t.Run(name, func(t *testing.T) {
			encoded := pageConfig(t, tt.first, tt.second)
			isRight := func(err error) bool {
				return (err == nil) == (tt.want == "") &&
					(err == nil || strings.Contains(err.Error(), tt.want))
			}
			var config caddy.Config
			testcaddy.Must(t, json.Unmarshal(encoded, &config))
			if err := caddy.Validate(&config); !isRight(err) {
				t.Errorf("valid: %v, want %q", err, tt.want)
			}
			if err := caddy.Load(encoded, true); !isRight(err) {
				t.Errorf("started: %v, want %q", err, tt.want)
			}
			testcaddy.Must(t, caddy.Stop())
			path := filepath.Join(t.TempDir(), "caddy.json")
			testcaddy.Write(t, path, string(encoded))
			got, exit := testcaddy.Run([]string{"shortlink", "check", "--config", path}, "")
			found := strings.Contains(got, "error: configuration (1)\n  "+tt.want+"\n")
			if found != (tt.want != "") || (exit == 1) != found {
				t.Errorf("check says %s, %d", got, exit)
			}
		})
	}
}

func TestAReloadThatTakesAPagesHandlerAwayIsRefused(t *testing.T) {
	s := testcaddy.Serve(t, handlerGo+fmt.Sprintf(pageOf, "go"))
	s.Load(t, fmt.Sprintf(pageOf, "go")+"handle /x {\n"+handlerGo+"}")
	renamed := strings.Replace(handlerGo, "name go", "name gone", 1)
	err := s.TryToLoad(t, renamed+fmt.Sprintf(pageOf, "go"))
	if err == nil || !strings.Contains(err.Error(), "no shortlink handler named go; there are: gone") {
		t.Errorf("got %v", err)
	}
	s.Get(t, "/.links/key/docs").Wants(t, 200, "https://docs.example")
	testcaddy.Must(t, s.TryToLoad(t, renamed+fmt.Sprintf(pageOf, "gone")))
}

func TestCheckSaysInWhichLineAPageNamesNoHandler(t *testing.T) {
	path := filepath.Join(t.TempDir(), "Caddyfile")
	testcaddy.Write(t, path, ":80 {\n"+handlerGo+fmt.Sprintf(pageOf, "goo")+"}\n")
	got, exit := testcaddy.Run([]string{"shortlink", "check", "--config", path}, "")
	if !strings.Contains(got, path+":8: "+nobodysPage) || exit != 1 {
		t.Errorf("check says %s, %d", got, exit)
	}
}
