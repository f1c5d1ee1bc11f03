package formats_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/migrate/formats"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

func TestTheFormatOfAFileIsToldByItsContent(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"/a /b 301\n/c/* https://x.example/:splat\n", "redirects"},
		{"# moved\n/a  /b\n/d/:x /e/:x 302!\n\n/f a=b /g\n", "redirects"},
		{"/a /b\n/c https://x.example\n", "redirects map"},
		{"/a\t/b\n/c\t/d\n", "redirects map csv"},
		{"/a\t/b\t301\n/c\t/d\t302\n", "redirects"},
		{"a https://x.example/\nb /c\n", "map"},
		{"map $uri $new {\n  /a /b;\n}\n", "map"},
		{"default \"\";\n/a /b;\n~^/c /d;\n", "map"},
		{"/a: /b\n\"/c d\": https://x.example # e\n^/f/(.*)$: /g/$1\n", "yaml"},
		{"---\n- from: /a\n  to: /b\n- from:\n    - /c\n  to: /d\n", "yaml"},
		{"user nginx;\nhttp {\n  server {\n    listen 80;\n  }\n}\n", "map"},
		{"location = /a { return 301 /b; }\n", "map"},
		{"rewrite ^/a$ /b permanent;\n", "map"},
		{"301:\n  /a: /b\n", "yaml"},
		{"a/(?P<b>.+)/?: \"/c/{b}\"\nd: /e # f\n", "yaml"},
		{"---\ntitle: A\nredirect_from:\n  - /b\n---\n\nSome text about that.\n", "yaml"},
		{"key,destination\na,https://x.example\n", "csv"},
		{"Quelle;Ziel\n/a;/b\n", "csv"},
		{"https://a.example/b,https://c.example/d,301\n", "csv"},
		{"\"old.md\" \"new.md\"\na/b.rst c.rst\n", "rediraffe"},
		{"Redirect 301 /a /b\n", "htaccess"},
		{"<IfModule mod_rewrite.c>\nRewriteEngine On\nRewriteRule ^a$ /b [R=301,L]\n</IfModule>\n",
			"htaccess"},
		{"[build]\ncommand = \"x\"\n[[redirects]]\nfrom = \"/a\"\nto = \"/b\"\n", "netlify-toml"},
		{"[[redirects]]\nfrom = \"/a\"\nto = \"/b\"\n", "netlify-toml"},
		{"[book]\ntitle = \"x\"\n\n[output.html.redirect]\n\"/a.html\" = \"b.html\"\n", "mdbook"},
		{"plugins:\n  - redirects:\n      redirect_maps:\n        a.md: b.md\n", "mkdocs"},
		{"<configuration><system.webServer><rewrite/></system.webServer></configuration>", "iis"},
		{"<RoutingRules><RoutingRule/></RoutingRules>", "s3"},
		{"s3_bucket: x\nredirects:\n  a: b\n", "s3"},
		{`{"RoutingRules": [{"Redirect": {"HostName": "x.example"}}]}`, "s3"},
		{`{"docs": "https://docs.example", "a": {"to": "/b", "status": 301}}`, "json"},
		{`{"redirects": "https://x.example", "source": "/a"}`, "json"},
		{`{"redirects": [{"source": "/a", "destination": "/b"}]}`, "array"},
		{`[{"from": "/a", "to": "/b"}]`, "array"},
		{"\uFEFF[\n  {\"source\": \"/a\", \"target\": \"/b\", \"status\": \"301\"}\n]", "amplify"},
		{`{"routes": [{"route": "/a", "redirect": "/b"}]}`, "azure"},
		{`{"redirects": [{"url": "/a", "action_data": {"url": "/b"}}]}`, "wordpress"},
		{`{"redirections": [{"source_path": "a.md", "redirect_url": "/b"}]}`, "openpublishing"},
		{`{"Short":"a","Long":"https://x.example"}` + "\n", "golink"},
		{"", ""}, {"# only a comment\n", ""}, {"Dear friends,\nthe links have moved.\n", ""},
	} {
		got := strings.Trim(fmt.Sprint(formats.OfContent([]byte(tt.text))), "[]")
		if got != tt.want {
			t.Errorf("%s\nis told to be %q, not %q", tt.text, got, tt.want)
		}
	}
}

func TestALongFileIsToldByItsBeginning(t *testing.T) {
	text := []byte(strings.Repeat("/a/* /b/:splat\n", formats.ContentSize))[:formats.ContentSize]
	if got := fmt.Sprint(formats.OfContent(text)); got != "[redirects]" {
		t.Errorf("it is told to be %s", got)
	}
}

func TestANameThatTellsTheFormatCountsBeforeTheContent(t *testing.T) {
	const array, redirects = `[{"from": "/a", "to": "/b"}]`, "/a /b 301\n"
	for _, tt := range []struct{ path, text, want string }{
		{"links.csv", redirects, "csv"}, {"_redirects", array, "redirects"},
		{"vercel.json", `{"a": "/b"}`, "array"}, {"links.json", array, "array guessed"},
		{"links.json", `{"a": "/b"}`, "json"}, {"links.json", "no JSON", "json"},
		{"moved.yml", "x:\n  redirect_maps:\n    a.md: b.md\n", "mkdocs guessed"},
		{"moved.yml", "/a: /b\n", "yaml"}, {"moved.yaml", redirects, "yaml"},
		{"moved.txt", redirects, "redirects guessed"}, {"-", "/a: /b\n", "yaml guessed"},
		{"moved.txt", "/a /b\n", "write --from with one of: redirects and map"},
		{"moved.txt", "nothing\n", "tells the file's format; write --from with one of: json, csv,"},
	} {
		format, isGuess, err := formats.Find(tt.path, []byte(tt.text))
		got := string(format.Name)
		if isGuess {
			got += " guessed"
		}
		if got != tt.want && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s with %q is %s, %v", tt.path, tt.text, got, err)
		}
	}
}

func FuzzContent(f *testing.F) {
	for _, text := range []string{"/a /b 301\n", "/a\t/b\n", "a,b;c\n", "/a: /b\n", "{\"a\": \"/b\"}",
		"[[redirects]]\nfrom=\"/a\"\n", "<RoutingRules/>", "server {\n", "---\na: b\nredirect_from: c\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		names := formats.OfContent([]byte(text))
		for i, name := range names {
			if slices.Contains(names[:i], name) {
				t.Errorf("%q has the candidates %v", text, names)
			}
			format, err := formats.Parse(string(name))
			if err != nil {
				t.Fatal(err)
			}
			in := migrate.Input{Reader: strings.NewReader(text), Source: "file"}
			var out strings.Builder
			if _, err := migrate.Convert(&out, rulefile.JSON, in, format); err != nil {
				t.Errorf("%q as %s: %v", text, name, err)
			}
		}
		found, isGuess, err := formats.Find("-", []byte(text))
		if isOne := len(names) == 1; isGuess != isOne || isOne != (err == nil) ||
			isOne && found.Name != names[0] {
			t.Errorf("%q has the candidates %v, and is found as %q, %v", text, names, found.Name, err)
		}
	})
}
