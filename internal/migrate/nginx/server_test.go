package nginx_test

import (
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate/migratetest"
	"github.com/caddy-shortlink/shortlink/internal/migrate/nginx"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

func TestRedirectsOfLocationsAreRules(t *testing.T) {
	migratetest.Check(t, nginx.Read, rulefile.Reading{}, []migratetest.Text{
		{"location = /a { return 301 /b; }\nlocation = /c{return 302 https://x.example/?q=1;}",
			"a /b 301 exact ignore|c https://x.example/?q=1 302 exact ignore", ""},
		{"location =/a { return https://x.example/; }", "a https://x.example/ 302 exact ignore", ""},
		{"location /a/ {\n\treturn 301 https://x.example$request_uri;\n}", "a https://x.example/a/ 301", ""},
		{"location /a/ { return 308 https://x.example/$request_uri; }", "a https://x.example//a/ 308", ""},
		{"location ^~ /a/ { return 307 /b$uri$is_args$args; }", "a /b/a/ 307", ""},
		{"location = /a { return 301 /b?c=1&$query_string; }", "a /b?c=1 301 exact preserve", ""},
		{"location = /a { return 301 $scheme://$host/b; }", "a /b 301 exact ignore", ""},
		{"location = /a { return 301 $scheme://b.example/b; }", "a https://b.example/b 301 exact ignore", ""},
		{"location = /a { return 410; }", "a gone exact", ""},
		{"location ~ ^/u/([^/]+)/?$ { return 301 /v/$1; }", "u/{p1} /v/{+p1} 301 exact ignore", ""},
		{"location ~* ^/A$ { return 301 /b; }", "A /b 301 exact ignore", "letters of either case"},
		{"location = /a { return 301 /a/; }", "", "only adds or removes the slash"},
		{"location @a { return 301 /b; }\nlocation = /c { return 301 /d; }", "c /d 301 exact ignore", ""},
	})
}

func TestARewriteThatRedirectsIsARule(t *testing.T) {
	const outside = "matches paths of other locations"
	migratetest.Check(t, nginx.Read, rulefile.Reading{}, []migratetest.Text{
		{"rewrite ^/a/(.*)$ /b/$1 permanent;", "a /b/ 301", ""},
		{"rewrite ^/a$ /b?c=1 redirect;", "a /b?c=1 302 exact preserve", ""},
		{"rewrite ^/a$ /b? permanent;", "a /b 301 exact ignore", ""},
		{"rewrite ^/a$ http://x.example/;", "a http://x.example/ 302 exact", ""},
		{"rewrite ^/a$ /b last;\nrewrite ^/a$ /c permanent;", "a /c 301 exact", "this is a rewrite, not a " +
			"redirect, and lines after it see the new path; use Caddy's rewrite or try_files; the line is " +
			"left out, and the line at file:2:1 gets some of its requests"},
		{"location /a/ { rewrite ^/a/b/(.*)$ /c/$1 permanent; }", "a/b /c/ 301", ""},
		{"location /a { rewrite ^ https://x.example$request_uri? permanent; }", "a https://x.example/a 301 exact|" +
			"a/{splat} https://x.example/a/{+splat} 301|a{splat} https://x.example/a{+splat} 301", ""},
		{"location /a/ { rewrite ^/b/(.*)$ /c/$1 permanent; }", "", outside},
		{"location = /a { rewrite ^/(a)$ /b/$1 permanent; }", "", outside},
	})
}

func TestTheOrderOfLocationsIsThatOfNginx(t *testing.T) {
	migratetest.Check(t, nginx.Read, rulefile.Reading{}, []migratetest.Text{
		{"location /a/ { return 301 /x; }\nlocation = /a/b { return 301 /y; }\nlocation /a/c/ { root /w; }",
			"a/b /y 301 exact ignore|a/c pass|a /x 301 exact ignore|a/{+splat} /x 301 exact ignore",
			"left out: 1 directive (\"root\")"},
		{"location /a/ { return 301 /x; }\nlocation /a/b/ { return 301 /y; }\nrewrite ^/a/b/c$ /z permanent;",
			"a/b/c /z 301 exact|a/b /y 301 exact ignore|a/b/{+splat} /y 301 exact ignore|a /x 301 exact " +
				"ignore|a/{+splat} /x 301 exact ignore", ""},
		{"location ~ \\.php$ { root /w; }\nlocation /a/ { return 301 /x$request_uri; }", "a /x/a/ 301",
			"left out|file:1:1: nginx tries this location before those for the beginning of a path; here"},
		{"location ^~ /a/ { return 301 /x; }\nlocation /a/b/ { return 301 /y; }\nlocation ~ ^/z$ { }",
			"a/b /y 301 exact ignore|a/b/{+splat} /y 301 exact ignore", "without \"^~\"|file:3:1: nginx tries"},
		{"location /w/ { rewrite ^/w/a$ /b permanent; return 404; }\nlocation / { return 301 https://x.example/; }",
			"w/a /b 301 exact|w pass|{+splat} https://x.example/ 301 exact ignore", "directive|no rule can match"},
		{"location / { root /w; }\nlocation = /a { return 301 /x; }\nlocation = /b { return 404; }",
			"a /x 301 exact ignore", "left out: 2 directives"},
	})
}

func TestAWholeConfigurationOfNginxIsRead(t *testing.T) {
	const head = "user www;\nevents { worker_connections 64; }\nhttp {\n\tinclude mime.types;\n\tserver {\n" +
		"\t\tlisten 80; server_name a.example www.a.example;\n\t\treturn 301 https://$host$request_uri;\n\t}\n"
	const one = "\tserver {\n\t\tserver_name a.example;\n\t\tlocation = /a { return 301 /b; }\n\t}\n"
	const skipped = "what redirects nothing is left out"
	migratetest.Check(t, nginx.Read, rulefile.Reading{Hosts: []string{"a.example"}},
		[]migratetest.Text{
			{head + one + "}\n", "a /b 301 exact ignore", skipped + ": 5 directives|leads every path to itself"},
			{head + one + "\tserver { server_name b.example; rewrite ^/c$ /d permanent; }\n}\n",
				"a /b 301 exact ignore", skipped + "|leads every path to itself|if \"b.example\" is this site's"},
			{"server { server_name w.example; return 301 https://a.example$request_uri; }", "", skipped +
				"|this is for every path of \"w.example\", and rules have no host; write a site block for it, " +
				"with: redir https://a.example{uri}"},
			{"map $uri $new {\n/a /b;\n~^/c/(.*)$ /d/$1;\n}\nserver {\nif ($new) { return 301 $new; }\n" +
				"location /c/ { return 302 /e; }\n}\n",
				"a /b 301 exact ignore|c /d/ 301 ignore",
				"ignores the case|no request reaches this line"},
			{"server {\nif ($uri ~* ^/c/) { return 301 /d; }\nif ($http_cookie) { return 301 /e; }\n}", "",
				"this is in an if at file:2:1, on \"($uri ~* ^/c/)\", and a rule matches the path alone: use a " +
					"location or a rewrite|this is in an if at file:3:1, on \"($http_cookie)\""},
			{"user www;\nmap $http_upgrade $connection {\ndefault upgrade;\n}\nserver {\nserver_name a.example;\n" +
				"location = /a { return 301 /b; }\n}", "a /b 301 exact ignore", skipped + ": 2 directives"},
		})
}

func TestWhatAServerOfNginxCannotHaveIsToldOf(t *testing.T) {
	migratetest.Check(t, nginx.Read, rulefile.Reading{}, []migratetest.Text{
		{"location = /a { return 300 /b; }", "", "a rule has no status 300"},
		{"location = /a { return 301 /b/$http_x; }", "", "\"$\" in the destination does not name a group"},
		{"location = /a { return 301 $request_uri/b; }", "", "$request_uri has a query"},
		{"location = /a { return 301 /b /c; }", "", "a return has a status and a destination"},
		{"rewrite ^/a$;", "", "a rewrite has an expression and a destination"},
		{"location { return 301 /b; }", "", "a location has a path"},
		{"location ~ (a { return 301 /b; }", "", "is not well-formed"},
		{"location = /a { return 301 $request_uri; }", "", "the line leads to itself, or to itself with a slash"},
		{"location = /a { return 301 b; }", "", "\"b\" is not a destination"},
	})
}
