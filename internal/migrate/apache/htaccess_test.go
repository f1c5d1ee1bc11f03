package apache_test

import (
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/migrate/apache"
	"github.com/caddy-shortlink/shortlink/internal/migrate/migratetest"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

func TestRedirectsOfApacheAreRulesForAPathAndWhatIsBelow(t *testing.T) {
	migratetest.Check(t, apache.Read, rulefile.Reading{}, []migratetest.Text{
		{"Redirect permanent /one http://e.example/two", "one http://e.example/two 301", ""},
		{"redirect /one http://e.example/two", "one http://e.example/two 302", ""},
		{"REDIRECT temp /one /two", "one /two 302", ""},
		{"Redirect seeother /one /two", "one /two 303", ""},
		{"Redirect 308 /one /two", "one /two 308", ""},
		{"RedirectPermanent /one /two", "one /two 301", ""},
		{"RedirectTemp /one /two", "one /two 302", ""},
		{"Redirect gone /old", "old gone", ""},
		{"Redirect 410 /old", "old gone", ""},
		{"Redirect /a/ https://e.example/", "a https://e.example/ 302", ""},
		{"Redirect /a https://e.example/b/", "a https://e.example/b/ 302", ""},
		{"Redirect / https://e.example/", "{+splat} https://e.example/{+splat} 302",
			`no rule can match "/"`},
		{"Redirect / https://e.example", "",
			`follows the destination without a "/"; write https://e.example/`},
		{"Redirect /one/ http://e.example/two", "one http://e.example/two 302 exact",
			"there, the rest of a path follows the destination, or its query, as it is"},
		{"Redirect /one /two?x=1", "one /two?x=1 302 exact ignore", "or its query, as it is"},
		{"Redirect /one /two#x", "one /two#x 302 exact", "or its query, as it is"},
		{`Redirect 301 "/with space" "/b c"`, "with space /b c 301", ""},
		{`Redirect 301 /a%20b /c`, "a%2520b /c 301", ""},
		{`Redirect 301 '/it\'s' /c`, "it's /c 301", ""},
		{"Redirect 301 /a \\\n  /b", "a /b 301", ""},
		{"  # Redirect /a /b\n#\n\nRedirect /c /d", "c /d 302", ""},
		{"# goes on \\\nRedirect /a /b\nRedirect /c /d", "c /d 302", ""},
		{"Redirect /a /b\nRedirect /a/b /c", "a /b 302", "file:2:10: no request reaches this line"},
		{"Redirect /a/b /c\nRedirect /a /b", "a/b /c 302|a /b 302", ""},
		{"Redirect /café /b", "café /b 302", ""},
		{"Redirect /a//b /c", "a/b /c 302", ""},
		{"Redirect /a HTTPS://E.example/b", "a https://E.example/b 302", ""},
	})
}

func TestALineForAllBehindASlashLeavesThePathToALineForItAlone(t *testing.T) {
	const on = "RewriteEngine On\n"
	migratetest.Check(t, apache.Read, rulefile.Reading{}, []migratetest.Text{
		{on + "RewriteRule ^ns/(.*)$ /data/$1.ttl [R=302,L]\nRewriteRule ^ns$ /doc [R=302,L]",
			"ns/{splat} /data/{+splat}.ttl 302 exact|ns/{splat}/{+rest} /data/{+splat}/{+rest}.ttl 302 " +
				"exact|ns /doc 302 exact",
			"file:2:13: a rule matches a path with and without a slash at its end: /ns/ leads where " +
				"the line at file:3:13 leads"},
		{on + "RewriteRule ^ns/(.*)$ /data/$1 [R=302,L]\nRewriteRule ^ns$ /data/ [R=302,L]",
			"ns/{splat} /data/{+splat} 302|ns /data/ 302 exact", ""},
		{on + "RewriteRule ^([^/]+)/(.*)$ /data/$2 [R=302,L]\nRewriteRule ^ns$ /doc [R=302,L]",
			"{_p1}/{splat} /data/{+splat} 302 exact|{_p1}/{splat}/{+rest} /data/{+splat}/{+rest} 302|" +
				"ns /doc 302 exact", "/ns/ leads where"},
		{"Redirect /ns/ https://x.example/\nRedirectMatch ^/ns$ /doc",
			"ns/{splat} https://x.example/{+splat} 302|ns /doc 302 exact", "/ns/ leads where"},
		{on + "RewriteRule ^ns(/.*)?$ /data$1 [R=302,L]\nRewriteRule ^ns$ /doc [R=302,L]",
			"ns /data 302", "file:3:13: no request reaches this line"},
		{on + "RewriteRule ^ns/(.*)$ /data/$1 [R=302,L]\nRewriteRule ^ns/$ /doc [R=302,L]",
			"ns /data/ 302", "file:3:13: no request reaches this line"},
		{on + "RewriteRule ^ns$ /doc [R=302,L]\nRewriteRule ^ns/(.*)$ /data/$1 [R=302,L]",
			"ns /doc 302 exact|ns/{+splat} /data/{+splat} 302", ""},
	})
}

func TestALineIsNeverReachedIfNoneOfItsPathsIs(t *testing.T) {
	migratetest.Check(t, apache.Read, rulefile.Reading{}, []migratetest.Text{
		{"RedirectMatch ^/(a|b)$ /x\nRedirectMatch ^/(b|c)$ /y",
			"a /x 302 exact|b /x 302 exact|c /y 302 exact", ""},
		{"RedirectMatch ^/(a|b|c)$ /x\nRedirectMatch ^/(b|c)$ /y",
			"a /x 302 exact|b /x 302 exact|c /x 302 exact", "file:2:15: no request reaches this line"},
	})
}

func TestWhatTwoLinesTakeBothIsCapturedAsTheFirstOneCapturesIt(t *testing.T) {
	migratetest.Check(t, apache.Read, rulefile.Reading{}, []migratetest.Text{
		{"Redirect 302 /x https://a.example/d\n" +
			`RedirectMatch 302 ^/[^/]+/([^/]+)\.html$ https://b.example/e/$1`,
			"x https://a.example/d 302|{_p1}/{p2}.html https://b.example/e/{+p2} 302 exact|" +
				"x/{p2}.html https://a.example/d/{+p2}.html 302", ""},
		{`RedirectMatch 302 ^/v-([^/]+)/([^/]+)\.html$ https://a.example/$1/$2` + "\n" +
			`RedirectMatch 302 ^/v-2/([^/]+)$ https://b.example/$1`,
			"v-{p1}/{p2}.html https://a.example/{+p1}/{+p2} 302 exact|" +
				"v-2/{p1} https://b.example/{+p1} 302 exact|" +
				"v-2/{p2}.html https://a.example/2/{+p2} 302 exact", ""},
	})
}

func TestRedirectsOfApacheThatAreNoneAreToldOf(t *testing.T) {
	const form = "a redirect has a path and, unless it is gone, a destination; write: Redirect 301"
	migratetest.Check(t, apache.Read, rulefile.Reading{}, []migratetest.Text{
		{"Redirect 404 /a", "", "file:1:14: a rule has no status 404"},
		{"Redirect 304 /a /b", "", "a rule has no status 304"},
		{"Redirect 301 /a", "", "file:1:1: " + form},
		{"Redirect gone /a /b", "", form},
		{"Redirect moved /a /b", "", `file:1:16: "moved" is not a status; write 301`},
		{"Redirect /a b", "", `file:1:10: "b" is not a destination`},
		{"Redirect a /b", "", `"a" is not a path`},
		{"Redirect", "", form},
		{"Redirect /a /b /c /d", "", form},
		{`Redirect "/a /b`, "", "a quotation mark is not closed"},
		{"Redirect /a /b\x01", "", "this line holds control characters"},
		{"Redirect /a /b\xff", "", "is not Unicode text"},
		{"Redirect x\nRedirect /a b\nRedirectMatch ( /c", "",
			"file:3:15: in the regular expression|file:1:1:|file:2:10:"},
	})
}

func TestRegularExpressionsOfApacheAreTemplates(t *testing.T) {
	migratetest.Check(t, apache.Read, rulefile.Reading{}, []migratetest.Text{
		{"RedirectMatch 301 ^/b/(.*)$ https://e.example/$1", "b https://e.example/ 301", ""},
		{"RedirectMatch ^/b/(.*)$ https://e.example/c/$1?d=$1",
			"b https://e.example/c/?d= 302 exact ignore|b/{+splat} https://e.example/c/{+splat}?d={splat} " +
				"302 ignore", ""},
		{"RedirectMatch gone ^/x/([^/]+)$", "x/{p1} gone exact", ""},
		{"RedirectMatch 301 ^/(.*)/feed$ /$1", "", "may only be at the end"},
		{`RedirectMatch 301 ^/a\.php$ /a\$1`, "a.php /a$1 301 exact", ""},
		{`RedirectMatch 301 "^/a b$" /c`, "a b /c 301 exact", ""},
		{`RedirectMatch 301 /a$ /c`, "a /c 301 exact", "matches anywhere within a path there"},
		{`RedirectMatch 301 ^/([0-9]+)$ /c/$1`, "", "matches only some characters"},
		{`RedirectMatch 301 ^/a$ c`, "", `"c" is not a destination`},
		{`RedirectMatch ^/a$ /b%20c?d=%20#e%20`, "a /b%2520c?d=%20#e%20 302 exact ignore", ""},
		{`RedirectMatch ^/a(/.*)$ /b/$1`, "a /b// 302 exact|a/{+splat} /b//{+splat} 302 exact|" +
			"a/{+splat}/ /b//{+splat}/ 302 exact", ""},
	})
}

func TestRewriteRulesThatRedirectAreRules(t *testing.T) {
	migratetest.Check(t, apache.Read, rulefile.Reading{}, []migratetest.Text{
		{"RewriteRule ^a/b/?$ /c [R=301,L]", "a/b /c 301 exact", ""},
		{"RewriteRule ^d/(.*)$ https://e.example/$1?x=1 [R,L,QSA]",
			"d https://e.example/?x=1 302 preserve", "with QSA, Apache keeps the parameters of"},
		{"RewriteRule ^d/(.*)$ https://e.example/$1?x=1 [R,L]", "d https://e.example/?x=1 302 ignore",
			""},
		{"RewriteRule ^a$ /b? [R,L]", "a /b 302 exact ignore", ""},
		{"RewriteRule ^a$ /b [R,L,QSD]", "a /b 302 exact ignore", ""},
		{"RewriteRule ^gone$ - [G]", "gone gone exact", ""},
		{"RewriteRule ^gone$ - [R=410,L]", "gone gone exact", ""},
		{"RewriteRule ^a$ /b [R,L,QSA,QSD]", "a /b 302 exact ignore", ""},
		{"RewriteRule ^a$ /b?c [R,L,QSA,QSD]", "a /b?c 302 exact ignore", ""},
		{"RewriteRule ^a$ HTTPS://e.example/b [R,L]", "a https://e.example/b 302 exact", ""},
		{"RewriteRule ^a$ b [R,L]", "a /b 302 exact", "without a RewriteBase, Apache"},
		{"RewriteRule ^/?([^/]+)$ /x/b?c=$1 [R,L]", "{p1} /x/b?c={p1} 302 exact ignore", ""},
		{"RewriteRule ^a(/.*)$ $1 [R,L]", "a / 302 exact|a/{+splat} /{+splat} 302", ""},
		{"RewriteRule ^a$ https://e.example/b [L]", "a https://e.example/b 302 exact", ""},
		{"RewriteRule ^/a$ /b [R=permanent,END]", "a /b 301 exact", ""},
		{"RewriteRule ^a$ /b [R]", "a /b 302 exact", "the line has no L"},
		{"RewriteRule ^pre /x [R,L]", "pre /x 302 exact|pre/{splat} /x 302 exact|pre/{_splat}/{+_rest} " +
			"/x 302 exact|pre{splat} /x 302 exact|pre{_splat}/{+_rest} /x 302 exact", ""},
		{"RewriteRule ^About$ /b [R,L,NC]", "About /b 302 exact", "letters of either case match there"},
		{"RewriteRule ^a$ /b#c [R,L]", "a /b%23c 302 exact", ""},
		{"RewriteRule ^a$ /b#c [R,L,NE]", "a /b#c 302 exact", ""},
		{`RewriteRule ^a$ /b\%20c [R,L]`, "a /b%2520c 302 exact", ""},
		{`RewriteRule ^a$ /b\%20c [R,L,NE]`, "a /b%20c 302 exact", ""},
		{"RewriteRule ^a\\ b$ \"/c d\" [R,L]", "a b /c d 302 exact", ""},
		{"RewriteRule ^a$ https://%{HTTP_HOST}/b [R,L]", "a /b 302 exact", ""},
		{"RewriteRule ^a/ https://e.example%{REQUEST_URI} [R,L]", "a https://e.example/a/ 302", ""},
		{"RewriteBase /blog/\nRewriteRule ^a$ b [R,L]", "blog/a /blog/b 302 exact",
			"read as that of /blog/"},
		{"RewriteBase /\nRewriteRule ^a$ b [R,L]", "a /b 302 exact", ""},
		{"RewriteEngine off\nRewriteRule ^a$ b [R,L]", "", "the last RewriteEngine"},
		{"RewriteEngine on\nRewriteRule ^a$ /b [R,L]", "a /b 302 exact", ""},
		{"RewriteRule ^admin - [L]", "admin pass exact|admin/{splat} pass|admin{splat} pass",
			"does not redirect its requests"},
		{"RewriteRule ^index\\.php$ - [L]\nRewriteCond %{REQUEST_FILENAME} !-f\nRewriteRule . " +
			"/index.php [L]", "",
			"use Caddy's php_fastcgi"},
		{"Redirect /a /b\nRewriteRule ^a$ /c [R,L]", "a /c 302 exact|a/{+splat} /b/{+splat} 302",
			"Apache applies RewriteRules first"},
	})
}

func TestRewriteRulesWithoutAnEquivalentAreRefused(t *testing.T) {
	migratetest.Check(t, apache.Read, rulefile.Reading{}, []migratetest.Text{
		{"RewriteRule ^a$ /b [L]", "", "file:1:13: this is a rewrite, not a redirect"},
		{"RewriteRule ^a$ - [F]", "", "use Caddy's respond with status 403"},
		{"RewriteRule ^a$ /b [R=404,L]", "", "a rule has no status 404; use Caddy's error"},
		{"RewriteRule ^a$ /b [P]", "", `the flag "P" has no equivalent`},
		{"RewriteRule ^a$ mailto:b@e.example [R,L]", "", "is a path, or a URL of http or https"},
		{"RewriteRule !^a$ /b [R,L]", "", "a rule cannot match all paths except some"},
		{"RewriteRule ^a$ /%1 [R,L]", "", "cannot use parts of a condition"},
		{"RewriteRule ^a$ /${m:$1} [R,L]", "", "no variables except those of its path"},
		{"RewriteRule ^a$ /%{QUERY_STRING} [R,L]", "", "no variables except those of its path"},
		{"RewriteRule ^a$ https://$0.example/ [R,L]", "a https://a.example/ 302 exact", ""},
		{"RewriteRule ^([^/]+)$ https://$1.example/ [R,L]", "", "in the host of the destination"},
		{"RewriteRule ^a$ /b [R=301, L]",
			"", "a RewriteRule has a pattern, a destination and perhaps flags"},
		{"RewriteRule ^a$ /b R=301", "", "the flags stand in brackets"},
		{"RewriteRule ^a$", "", "a RewriteRule has a pattern"},
		{"RewriteCond %{HTTP_USER_AGENT} x\nRewriteRule ^a$ /b [R,L]\nRewriteRule ^c$ /d [R,L]",
			"c /d 302 exact",
			`file:2:13: the line has a condition at line 1, on "%{HTTP_USER_AGENT}"`},
		{"RewriteCond %{HTTPS} off\nRewriteRule ^ https://%{HTTP_HOST}%{REQUEST_URI} [R=301,L]", "",
			"Caddy redirects to HTTPS by itself"},
		{"RewriteCond x", "", "a RewriteCond has a test string and a pattern"},
		{"<VirtualHost *:80>\nRedirect /a /b\n</VirtualHost>\nRedirect /c /d", "c /d 302",
			"is in the block <VirtualHost *:80>"},
		{"<IfModule mod_alias.c>\nRedirect /a /b\n</IfModule>", "a /b 302", ""},
		{"<IfModule !mod_alias.c>\nRedirect /a /b\n</ifmodule>", "", "which applies only in some cases"},
		{"<If \"true\">\nRedirect /a /b",
			"", "which applies only in some cases|file:1:1: the block <If \"true\"> is not closed; add " +
				"its end"},
		{"</IfModule>", "", "</IfModule> closes no block"},
		{"Header set A b\noptions -Indexes\nOptions x", "",
			"what redirects nothing is left out: 3 directives (Header, options)"},
	})
}

func TestConditionsOnHostsAndFilesAreJudged(t *testing.T) {
	reading := rulefile.Reading{Hosts: []string{"www.example.com", "example.com"}}
	migratetest.Check(t, apache.Read, reading, []migratetest.Text{
		{"RewriteCond %{HTTP_HOST} ^(www\\.)?example\\.com$ [NC]\nRewriteRule ^a$ /b [R,L]",
			"a /b 302 exact", ""},
		{"RewriteCond %{HTTP_HOST} ^www\\.example\\.com$\nRewriteRule ^a$ /b [R,L]", "a /b 302 exact",
			"there, the line is for some of the site's hosts"},
		{"RewriteCond %{HTTP_HOST} =other.example\nRewriteRule ^a$ /b [R,L]", "",
			"name it with --line-host"},
		{"RewriteCond %{HTTP_HOST} !^other\nRewriteRule ^a$ /b [R,L]", "a /b 302 exact", ""},
		{"RewriteCond %{REQUEST_FILENAME} !-f\nRewriteCond %{REQUEST_FILENAME} !-d\nRewriteRule ^a$ /b " +
			"[R,L]",
			"a /b 302 exact", "there, files that exist take precedence"},
	})
}

func FuzzHtaccess(f *testing.F) {
	migratetest.Fuzz(f, apache.Read, "Redirect 301 /a/ /b/\nRedirectMatch ^/b(.*) /c$1\n",
		"RewriteCond %{HTTP_HOST} ^a\nRewriteRule ^a(/.*)?$ https://e.example$1 [R,L]\nRewriteRule "+
			"^(.*)/$ /$1 [R]\n",
		"<IfModule x>\nRewriteBase /b\nRewriteRule ^([^/]*)/x$ $1 [R,QSA]\nRedirect gone \"/x "+
			"y\"\n</IfModule>\n")
}

// htaccess is the format that conversions read.
var htaccess = migrate.Format{Name: "htaccess", Read: migrate.LinesOf(apache.Read)}

// Without a limit this takes gigabytes.
func TestADestinationThatRepeatsALongGroupIsRefusedSoon(t *testing.T) {
	text := "RedirectMatch ^/(" + strings.Repeat("a", 8000) + ")$ /" + strings.Repeat("$1", 500_000)
	rules, done := migratetest.RulesOf(t, rulefile.Reading{}, htaccess, text)
	if rules != "" ||
		!strings.Contains(migratetest.ReportsOf(done.Refused), "longer than 65535 bytes") {
		t.Errorf("%d bytes of rules, %+v", len(rules), done.Refused.Count)
	}
}

func TestALineForSeveralPathsIsReportedOnce(t *testing.T) {
	_, done := migratetest.RulesOf(t, rulefile.Reading{}, htaccess, "RedirectMatch ^/(a|b)$ /$1/")
	if n := len(done.Approximated.Reports); n != 1 {
		t.Errorf("%d reports of a line for two paths", n)
	}
}
