package command_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// writtenCaddyfile converts a table, and returns the Caddyfile of what no rule can express, and the
// report.
func writtenCaddyfile(t *testing.T, table string, args ...string) (caddyfile, report string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "moved.caddy")
	args = append([]string{"shortlink", "convert", "--to", "json", "--caddyfile", path}, args...)
	report, _ = testcaddy.Run(args, table)
	text, _ := os.ReadFile(path)
	return string(text), report
}

func TestWhatNoRuleCanExpressIsServedByTheWrittenCaddyfile(t *testing.T) {
	written, report := writtenCaddyfile(t, "/paper https://example.com/paper.pdf\n/ /start 302\n"+
		"/search q=old /archive\nhttp://blog.example/a /blog/a 301\n"+
		"https://docs.example/* https://new.example/docs/:splat 308\n"+
		"/ /german 302 Language=de\nhttp://u.example/:x /x/:x\nhttp://u.example/y /y Country=de\n",
		"--from", "redirects")
	const remark = "moved.caddy has 4 redirects that no rule can express."
	if !strings.Contains(report, remark) || !strings.Contains(report, "1 exact, 0 approximated, 7") {
		t.Errorf("the report is\n%s", report)
	}
	// the hosts of the sites are matched without TLS
	written = strings.NewReplacer("\nblog.example", "\nhttp://blog.example", "\ndocs.example",
		"\nhttp://docs.example").Replace(written)
	s := serveWritten(t, written)
	for host, requests := range map[string]map[string]string{
		"www.example": {"/": "302 /start", "/?a=b": "302 /start?a=b", "/search?q=old": "301 /archive",
			"/search?q=new": "404", "/search": "404", "/a": "404", "/y": "404"},
		"blog.example": {"/a": "301 /blog/a", "/a?b=c": "301 /blog/a?b=c"},
		"docs.example": {"/": "308 https://new.example/docs/",
			"/a/b?c=d": "308 https://new.example/docs/a/b?c=d"},
	} {
		for target, want := range requests {
			reply := s.Raw(t, "GET", "GET "+target+" HTTP/1.1\r\nHost: "+host+"\r\nConnection: close\r\n\r\n")
			if got := strings.TrimSpace(reply.Location()); got != want {
				t.Errorf("%s%s: got %s, not %s from\n%s", host, target, got, want, written)
			}
		}
	}
}

func TestARuleForAnAcceptHeaderIsServedByTheWrittenCaddyfile(t *testing.T) {
	const accept = "RewriteCond %{HTTP_ACCEPT} "
	written, report := writtenCaddyfile(t, accept+
		`application/rdf\+xml`+"\nRewriteRule ^$ /x.rdf [R=303,L]\n"+
		accept+"text/(turtle|n3)\nRewriteRule ^$ https://o.example/x.ttl [R=302,L]\n"+
		accept+"!text/html\nRewriteRule ^$ /x.none [R=302,L]\n"+
		accept+"text/turtle\nRewriteRule ^doc\\.x$ /doc.ttl? [R=303,L]\n"+
		accept+"text/a\nRewriteCond %{HTTP_COOKIE} x\nRewriteRule ^c$ /no [R]\n"+
		"RewriteRule ^$ /x.html [R=302,L]\nRewriteRule ^doc\\.x$ /doc.html [R=302,L]\n"+
		accept+"text/turtle\nRewriteRule ^doc\\.x$ /never [R=303,L]\n", "--from", "htaccess")
	if !strings.Contains(report, "moved.caddy has 4 redirects that no rule can express.") {
		t.Errorf("the report is\n%s", report)
	}
	s := serveWritten(t, written)
	for request, want := range map[string]string{
		"/ application/rdf+xml":              "303 /x.rdf",
		"/?a=b text/html,text/turtle;q=0.9":  "302 https://o.example/x.ttl?a=b",
		"/ text/turtle, application/rdf+xml": "303 /x.rdf",
		"/ text/html":                        "302 /x.html",
		"/doc.x?a=b text/turtle":             "303 /doc.ttl",
		"/doc.x text/html":                   "404",
		"/doc-x text/turtle":                 "404",
		"/c text/a":                          "404",
	} {
		target, header, _ := strings.Cut(request, " ")
		reply := s.Raw(t, "GET", "GET "+target+" HTTP/1.1\r\nHost: a.example\r\nAccept: "+header+
			"\r\nConnection: close\r\n\r\n")
		if got := strings.TrimSpace(reply.Location()); got != want {
			t.Errorf("%s: got %s, not %s from\n%s", request, got, want, written)
		}
	}
}

// serveWritten serves a written Caddyfile, imported by one whose site imports its snippet.
func serveWritten(t *testing.T, written string) *testcaddy.Server {
	t.Helper()
	s := &testcaddy.Server{Addr: testcaddy.FreeAddress(t)}
	_, port, _ := net.SplitHostPort(s.Addr)
	path := filepath.Join(t.TempDir(), "moved.caddy")
	testcaddy.Write(t, path, written)
	config, err := testcaddy.Adapt(fmt.Sprintf("{\n\tadmin off\n\tpersist_config off\n"+
		"\tdefault_bind 127.0.0.1\n\thttp_port %s\n\tstorage file_system %q\n}\nimport %s\n"+
		"http:// {\n\timport moved\n\trespond 404\n}\n", port, testcaddy.StorageDir(t), path))
	testcaddy.Must(t, err)
	testcaddy.Must(t, caddy.Load(config, true))
	t.Cleanup(func() { testcaddy.Must(t, caddy.Stop()) })
	return s
}

func TestACaddyfileIsOnlyWrittenForWhatCaddyTakesAsItIs(t *testing.T) {
	for table, format := range map[string]string{
		"/a /b\n": "redirects",
		"/ /a\"b\nhttp://a.example/{x} /y\n/ /{env.HOME}\n/s q=:q /t/:q\n": "redirects",
		"https://a.example/a/*: /b/:splat\n/q?a=\"b\": /c\n":               "yaml",
	} {
		written, report := writtenCaddyfile(t, table, "--from", format)
		if written != "" || !strings.Contains(report, "none of the refused lines can be written to") {
			t.Errorf("%s: %s\nwith %s", table, written, report)
		}
	}
}

func TestTablesOfAllKindsKeepWhatNoRuleCanExpress(t *testing.T) {
	for _, tt := range []struct{ format, table, want string }{
		{"array", `[{"source": "https://h.example/a", "destination": "/b", "statusCode": 301}]`,
			"\nh.example {\n\tredir /a /b{http.request.uri.prefixed_query} 301\n"},
		{"yaml", "/: /start\n/q?x=1: /y\n", "(moved) {\n\tredir / /start" +
			"{http.request.uri.prefixed_query} 302\n\t@moved2 {\n\t\tpath /q\n\t\texpression " +
			"`{query} == \"x=1\"`\n\t}\n\tredir @moved2 /y 302\n}\n"},
		{"htaccess", "RewriteEngine On\nRewriteRule ^$ /start [R=301,L]\n",
			"\tredir / /start{http.request.uri.prefixed_query} 301\n"},
		{"csv", "from,to\nhttps://h.example/a,/b\n/,/c\n",
			"\nh.example {\n\tredir /a /b{http.request.uri.prefixed_query} 302\n"},
		{"map", "/ /start\n", "\tredir / /start{http.request.uri.prefixed_query} 302\n"},
	} {
		written, report := writtenCaddyfile(t, tt.table, "--from", tt.format)
		if !strings.Contains(written, tt.want) {
			t.Errorf("%s: got\n%s\nwith %s", tt.format, written, report)
		}
	}
}
