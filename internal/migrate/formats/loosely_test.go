package formats_test

import (
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/migrate/migratetest"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

func TestSomeCharactersAreAnySegmentLoosely(t *testing.T) {
	const takesMore = "the rule takes more paths"
	for _, tt := range []struct {
		from       rulefile.Format
		text, want string
		says       int
	}{
		{"htaccess", "RewriteRule ^([0-9]{4})/(.*)$ https://b.example/$2 [R=301,L]\nRewriteRule ^about/us$ " +
			"/team [R=301,L]\nRewriteRule ^2020/x$ /y [R=301,L]\n",
			"about/us /team 301 exact|{_p1} https://b.example/ 301", 1},
		{"htaccess", "RedirectMatch 301 ^/p/\\d+$ /q\n", "p/{_p1} /q 301 exact", 1},
		{"map", "~^/a/([a-z-]+)/?$ /b/$1;\n/a/1 /c;\n/a/x /d;\n", "a/1 /c exact|a/x /d exact|a/{p1} " +
			"/b/{+p1} exact", 1},
		{"yaml", "^/([a-z]+)$: /b/$1\n^/x/([^/]+)$: /z/$1\n/4: /c\n/x/5: /d\n/y/6: /e\n",
			"4 /c exact|y/6 /e exact|{p1} /b/{+p1} exact|x/{p1} /z/{+p1} exact", 1},
		{"array", `[{"source":"/n/:id(\\d+)","destination":"/m/:id","permanent":true}]`,
			"n/{id} /m/{+id} 308 exact", 1},
	} {
		var rules []string
		in := migrate.Input{Reader: strings.NewReader(tt.text), Source: "file", Loosely: true}
		found, err := formatOf(t, tt.from).Read(in, func(rule resolver.Rule) {
			rules = append(rules, migratetest.InShort(rule))
		})
		said := 0
		for _, w := range found.Warnings {
			if w.Kind == rulefile.WarnApproximated && strings.Contains(w.Message, takesMore) {
				said++
			}
		}
		if got := strings.Join(rules, "|"); got != tt.want || said != tt.says || err != nil {
			t.Errorf("%s\n%s makes %s, says %v, %v", tt.from, tt.text, got, found.Warnings, err)
		}
	}
}

func TestAnHtaccessOfADirectoryIsReadRelativeToIt(t *testing.T) {
	text := "RewriteBase /\nRewriteRule ^a$ b [R=301,L]\nRewriteRule ^c$ " +
		"%{ENV:PROTO}://%{HTTP_HOST}/d [R=301,L]\nRedirect 301 /e /f\n"
	var rules []string
	in := migrate.Input{Reader: strings.NewReader(text), Source: "file", Base: "/dir/"}
	_, err := formatOf(t, "htaccess").Read(in, func(rule resolver.Rule) {
		rules = append(rules, migratetest.InShort(rule))
	})
	const want = "dir/a /b 301 exact|dir/c /d 301 exact|e /f 301"
	if got := strings.Join(rules, "|"); got != want || err != nil {
		t.Errorf("%s, %v", got, err)
	}
}

func TestKeysInJSONThatBeginWithASlashAreCut(t *testing.T) {
	rules, done := migratetest.RulesOf(t, rulefile.Reading{}, formatOf(t, rulefile.JSON),
		`{"/a": "/b", "c": "/d"}`)
	if rules != "a,/b,,exact\nc,/d\n" || len(done.Remarks) != 1 ||
		!strings.HasPrefix(done.Remarks[0], `keys begin with "/", which is removed`) {
		t.Errorf("%s\n%v", rules, done.Remarks)
	}
}
