package apache_test

import (
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate/apache"
	"github.com/caddy-shortlink/shortlink/internal/migrate/migratetest"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

const aliasRemark = "Apache applies RewriteRules first|"

func TestRewriteRulesBehindThoseThatDecideAreToldOfInOneRemark(t *testing.T) {
	const ua = "RewriteCond %{HTTP_USER_AGENT} x\n"
	const front = "RewriteRule ^(.*)$ /index.php [L]\n"
	const remark = "|a line that leads all requests to"
	const first = "line 1 rewrites or depends on others; lines after it may never be reached: check " +
		"them"
	const second, ends = "line 2 rewrites or depends on others", "RewriteRule ^a$ /b [R,L]"
	const made = "a /b 302 exact"
	migratetest.Check(t, apache.Read, rulefile.Reading{}, []migratetest.Text{
		{ua + "RewriteRule ^ - [L]\n" + ends + "\nRedirect /c /d", made + "|c /d 302",
			second + "|" + aliasRemark + "use Caddy's redir with a header matcher"},
		{ua + "RewriteRule ^x/ - [L]\n" + ends, made, second + "|header matcher"},
		{"RewriteRule ^a$ - [E=A:1,L]\n" + ends, made, first + "|the flag"},
		{"RewriteRule ^a/ /x [L]\nRewriteRule ^a/b$ /b [R,L]", "a/b /b 302 exact",
			first + "|this is a rewrite"},
		{ua + "RewriteRule ^[a-z]+$ - [L]\n" + ends, made, second + "|header matcher"},
		{"RewriteRule ^x$ - [F]\n" + ends, made, first + "|a rule cannot forbid a path"},
		{"RewriteRule ^c$ /d [R,L]\n" + front + ends, "c /d 302 exact|" + made, second + remark},
		{"RewriteRule . /index.php [L]\n" + ends, made, first + remark},
		{"RewriteCond %{REQUEST_FILENAME} !-f\n" + front + ends, made, second + remark},
		{"RewriteCond %{HTTP_HOST} ^blog\\.\n" + front + ends, made, second + remark},
		{front + ua + "RewriteRule ^x$ - [L]\n" + ends, made, first + remark + "|header matcher"},
		{front + "Redirect /a /b", "a /b 302", remark[1:]},
		{ends + "\n" + front, made, remark[1:]},
	})
}

func TestFilesThatWinInFrontOfRewriteRulesAreToldOf(t *testing.T) {
	migratetest.Check(t, apache.Read, rulefile.Reading{}, []migratetest.Text{
		{"RewriteCond %{REQUEST_FILENAME} -f [OR]\nRewriteCond %{REQUEST_FILENAME} -d\n" +
			"RewriteRule ^ - [L]\nRewriteRule ^a$ /b [R,L]", "a /b 302 exact",
			"there, files that exist take precedence over RewriteRules"},
	})
}

func TestRulesBehindThoseThatAreChainedOrSkipSomeAreRefused(t *testing.T) {
	const tied = ":13: the line at file:1:13 is chained with later ones ([C]), or skips some ([S])"
	migratetest.Check(t, apache.Read, rulefile.Reading{}, []migratetest.Text{
		{"RewriteRule ^x /y [C]\nRewriteRule ^a$ /b [R,L]\nRewriteRule ^c$ /d [R,L]\nRedirect /e /f",
			"e /f 302", "a rule does not affect later ones ([C]); use|file:2" + tied + "|file:3" + tied},
		{"RewriteRule ^w /z [R,L]\nRewriteRule ^x - [S=2]\nRewriteRule ^a$ /b [R,L]",
			"w /z 302 exact|w/{splat} /z 302 exact|w/{_splat}/{+_rest} /z 302 exact|w{splat} /z 302 exact|" +
				"w{_splat}/{+_rest} /z 302 exact", "a rule does not affect later ones ([S=2])|file:3:13: the " +
				"line at file:2:13 is chained with later ones ([C]), or skips some"},
	})
}

func TestTheLastRewriteEngineAndBaseHoldForAllOfAFile(t *testing.T) {
	migratetest.Check(t, apache.Read, rulefile.Reading{}, []migratetest.Text{
		{"RewriteEngine on\nRewriteRule ^a$ /b [R,L]\nRewriteEngine off", "", "the last RewriteEngine"},
		{"RewriteEngine off\nRewriteRule ^a$ /b [R,L]\nRewriteEngine on", "a /b 302 exact", ""},
		{"RewriteBase /x\nRewriteRule ^a$ b [R,L]\nRewriteBase /y", "y/a /y/b 302 exact",
			"read as that of /y/"},
		{"RewriteRule ^a$ /b [R,L]\n<Directory /x>\nRewriteEngine off\n</Directory>",
			"a /b 302 exact", ""},
		{"<IfModule x>\nRewriteCond %{HTTP_COOKIE} x\n</IfModule>\nRewriteRule ^a$ /b [R,L]", "",
			"use Caddy's redir with a header matcher"},
	})
}

func TestWhatRewriteRulesLetPassIsStillRedirectedByApache(t *testing.T) {
	const says = aliasRemark + "file:1:13: requests that pass here can still match a Redirect or " +
		"RedirectMatch there, but not here; write these as RewriteRules before it|does not redirect " +
		"its requests"
	migratetest.Check(t, apache.Read, rulefile.Reading{}, []migratetest.Text{
		{"RewriteRule ^admin/ - [L]\nRedirect /admin/x /y", "admin pass", says +
			"|write it as a RewriteRule in front of that, as RewriteRules come first"},
		{"RewriteRule ^admin/x$ - [L]\nRedirect /admin /y", "admin/x pass exact|admin /y 302", says},
		{"RewriteRule ^admin/ - [L]", "admin pass", "does not redirect its requests"},
	})
}

func TestARedirectBehindARewriteRuleIsToBecomeOne(t *testing.T) {
	migratetest.Check(t, apache.Read, rulefile.Reading{}, []migratetest.Text{
		{"Redirect /a/b /c\nRewriteRule ^a/ /b [R,L]",
			"a /b 302 exact|a/{+splat} /b 302 exact", aliasRemark +
				"file:1:10: no request reaches this line: the line at file:2:13 comes first and matches " +
				"all of its paths; write it as a RewriteRule in front of that"},
		{"Redirect /a /c\nRedirect /a/b /d", "a /c 302", "put this line before it"},
	})
}

func TestWhatProtectsIsToldOf(t *testing.T) {
	migratetest.Check(t, apache.Read, rulefile.Reading{}, []migratetest.Text{
		{"A x\nB x\nC x\nD x\nE x\nF x\n" +
			"AuthType Basic\nRequire valid-user\n<Limit GET>\nDeny from all\n" +
			"</Limit>", "", "10 directives (A, B, C, D, E, F, AuthType, Require, Limit, Deny)|" +
			"shortlink protects nothing: protect the site with Caddy's basic_auth or forward_auth"},
	})
}

func TestAPathWithAQueryIsRefused(t *testing.T) {
	const says = "a rule has no query, because only the path selects it; use Caddy's redir with a query"
	migratetest.Check(t, apache.Read, rulefile.Reading{}, []migratetest.Text{
		{"Redirect 301 /old.php?id=1 /new", "", says},
		{`RedirectMatch 301 ^/old\.php\?id=1$ /new`, "", says},
		{`RewriteRule ^old\.php\?id=1$ /new [R,L]`, "", says},
		{`RewriteRule ^old(\?id=1)?$ /new [R,L]`, "", says},
	})
}

func TestARefusedLineNamesTheOneThatGetsItsRequests(t *testing.T) {
	const all, gets = "\nRedirect / https://e.example/", " gets some of its requests"
	const root = `|no rule can match "/"`
	const blog = "blog https://e.example 301"
	migratetest.Check(t, apache.Read, rulefile.Reading{}, []migratetest.Text{
		{"RedirectMatch ^/blog/(\\d+)$ /p/$1\nRedirectMatch ^/blog/(.+)\\.php$ /q/$1\n" +
			"Redirect 301 /blog https://e.example", blog, "the line at file:3:14" + gets +
			"|the line at file:3:14" + gets},
		{"RedirectMatch ^/b/(\\d+)$ /p/$1\nRedirect 301 /blog https://e.example", blog,
			"path_regexp matcher; the line is left out"},
		{"Redirect 404 /blog/a//b\nRedirectMatch 404 ^/blog/\\d\nRedirect 301 /blog https://e.example",
			blog, "the line at file:3:14" + gets + "|the line at file:3:14" + gets},
		{"RewriteRule ^(.+)\\.html$ /$1 [R,L]" + all, "{+splat} https://e.example/{+splat} 302",
			"the line at file:2:10" + gets + root},
		{"RewriteRule !^x /y [R,L]" + all, "{+splat} https://e.example/{+splat} 302",
			"the line at file:2:10" + gets + root},
		{"RewriteBase /x/\nRewriteRule ^b\\d+ /y [R,L]\nRedirect 301 /b /c\nRedirect 301 /x /z",
			"b /c 301|x /z 301", "read as that of /x/|the line at file:4:14" + gets},
	})
}

func TestARewriteRuleThatOnlySetsSomethingIsLeftOut(t *testing.T) {
	const note = "what redirects nothing is left out: 1 directive (RewriteRule)"
	const rules = "a /b 302 exact"
	for _, line := range []string{".* - [E=HTTP_AUTHORIZATION:%{HTTP:Authorization}]",
		"^feed$ - [E=X:1,NC]", "^a$ - [CO=x:y:z]", `\.php$ - [T=text/html,H=x]`, "^a$ -"} {
		migratetest.Check(t, apache.Read, rulefile.Reading{}, []migratetest.Text{
			{"RewriteCond %{HTTP_COOKIE} x\nRewriteRule " + line + "\nRewriteRule ^a$ /b [R,L]", rules,
				note},
		})
	}
	migratetest.Check(t, apache.Read, rulefile.Reading{}, []migratetest.Text{
		{"RewriteRule ^a$ - [E=X:1,F]", "", "the flag \"E=X:1\" has no equivalent"},
		{"RewriteRule ^a$ /b [E=X:1,R]", "", "the flag \"E=X:1\" has no equivalent"},
		{"RewriteRule ^a$ - [R=301]", "", "the destination is the request itself"},
	})
}

func TestALineThatTurnsASlashAloneMakesNoRule(t *testing.T) {
	const all, made = "\nRedirect / https://e.example/", "{+splat} https://e.example/{+splat} 302"
	const says = `later lines answer|no rule can match "/"`
	migratetest.Check(t, apache.Read, rulefile.Reading{}, []migratetest.Text{
		{"RedirectMatch ^/g$ /g/" + all, made, says},
		{"RewriteBase /\nRewriteRule ^wp-admin$ wp-admin/ [R,L]" + all, made, aliasRemark + says},
		{"RewriteRule ^([^/]+)$ /$1/ [R,L]" + all, made, aliasRemark + says},
		{"RedirectMatch ^/a/$ /a\nRedirectMatch ^/a$ /b", "a /b 302 exact", "it makes no rule"},
		{"RedirectMatch ^/g$ /g" + all, "g pass exact|" + made, "remove the line|no rule can match"},
	})
}

func TestALineThatLeadsAHostToAnotherIsNoRule(t *testing.T) {
	const www = "RewriteCond %{HTTP_HOST} ^example\\.com$ [NC]\n" +
		"RewriteRule ^(.*)$ https://www.example.com/$1 [L,R=301]\nRewriteRule ^a$ /b [R,L]"
	const says = "this leads one host to the same paths of another, and rules have no host; write a " +
		"site block for the host, with: redir https://www.example.com{uri} 301; the line is left out"
	for _, hosts := range [][]string{nil, {"example.com"}, {"example.com", "www.example.com"}} {
		migratetest.Check(t, apache.Read, rulefile.Reading{Hosts: hosts}, []migratetest.Text{
			{www, "a /b 302 exact", says},
			{"RewriteCond %{HTTP_HOST} !^www\\.example\\.com$\nRewriteRule ^ " +
				"https://www.example.com%{REQUEST_URI} [L,R=301]", "", says},
			{"RewriteCond %{HTTP_HOST} ^example\\.com$\nRewriteBase /x/\n" +
				"RewriteRule ^a/(.*)$ https://www.example.com/x/a/$1? [L,R]", "",
				"read as that of /x/|redir https://www.example.com{uri} 302"},
			{"RewriteCond %{HTTP_HOST} !^www\\.\n" +
				"RewriteRule ^(.*)$ https://www.%{HTTP_HOST}/$1 [L,R=301]", "", "the line is left out"},
		})
	}
	own := rulefile.Reading{Hosts: []string{"example.com", "www.example.com"}}
	migratetest.Check(t, apache.Read, own, []migratetest.Text{
		{"RewriteRule ^ https://www.example.com%{REQUEST_URI} [L,R]", "", "write a site block"},
		{"RewriteRule ^a/(.*)$ https://www.example.com/b/$1 [L,R]", "a https://www.example.com/b/ 302",
			""},
	})
	migratetest.Check(t, apache.Read, rulefile.Reading{}, []migratetest.Text{
		{"RewriteRule ^(.*)$ https://new.example/$1 [L,R=301]",
			"{+splat} https://new.example/{+splat} 301", "no rule can match \"/\""},
		{"RewriteCond %{HTTPS} off\nRewriteRule ^(.*)$ https://%{HTTP_HOST}/$1 [R,L]\n" +
			"RewriteRule ^a$ /c [R,L]", "a /c 302 exact",
			"as Caddy redirects to HTTPS by itself; the line is left out"},
	})
}

func TestManyLinesThatLetPassAreReadSoon(t *testing.T) {
	text := strings.Repeat("RewriteCond %{HTTP_COOKIE} x\nRewriteRule ^a/ - [L]\n", 7_000) +
		strings.Repeat("RewriteRule ^b/ - [L]\n", 300) + strings.Repeat("Redirect /c /d\n", 2000)
	rules, _, _ := migratetest.Read(apache.Read, rulefile.Reading{}, text)
	if strings.Join(rules, "|") != "b pass|c /d 302" {
		t.Errorf("%.200q", rules)
	}
}

func TestARedirectKeepsTheQueryThatALineBehindItAdds(t *testing.T) {
	migratetest.Check(t, apache.Read, rulefile.Reading{}, []migratetest.Text{
		{"RewriteRule ^b$ /c?d=1 [R,L,QSA]\nRewriteRule ^a$ /b [R,L]",
			"b /c?d=1 302 exact preserve|a /b 302 exact", "with QSA, Apache keeps"},
		{"RewriteRule ^b$ /c?d=1 [R,L]\nRewriteRule ^a$ /b [R,L]",
			"b /c?d=1 302 exact ignore|a /b 302 exact ignore", ""},
	})
}
