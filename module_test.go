package shortlink_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// A request is redirected whatever its method; the status decides what a client does next.
func TestEveryMethodIsRedirectedWithoutABody(t *testing.T) {
	s := testcaddy.Serve(t, `shortlink {
		github https://github.com
		form https://example.com/form 307
		cached https://example.com
		cache 90m
	}`)
	tests := map[string]struct{ request, want string }{
		"GET": {"GET /github/caddyserver?tab=repositories",
			"302 https://github.com/caddyserver?tab=repositories"},
		"HEAD":            {"HEAD /github", "302 https://github.com/"},
		"POST with 307":   {"POST /form", "307 https://example.com/form"},
		"unknown methods": {"BREW /github", "302 https://github.com/"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			method, _, _ := strings.Cut(tt.request, " ")
			got := s.Raw(t, method,
				tt.request+" HTTP/1.1\r\nHost: go.example\r\nContent-Length: 3\r\nConnection: close\r\n\r\na=b")
			if got.Location() != tt.want {
				t.Errorf("got %s, want %s", got.Location(), tt.want)
			}
			if got.Body != "" || got.Header.Get("Content-Type") != "" {
				t.Errorf("got a body of type %q: %q", got.Header.Get("Content-Type"), got.Body)
			}
			if got.Header.Get("Cache-Control") != "max-age=5400" {
				t.Errorf("got Cache-Control %q", got.Header.Get("Cache-Control"))
			}
		})
	}
}

func TestPermanentRedirectsHaveALifetimeOfTheirOwn(t *testing.T) {
	s := testcaddy.Serve(t, `shortlink {
		cache 90s 30d
		found https://example.com
		see https://example.com 303
		kept https://example.com 307
		moved https://example.com 301
		moved-as-it-is https://example.com 308
		to-moved /moved
		moved-to-moved /moved 301
	}`)
	for target, want := range map[string]string{
		"/found": "302 max-age=90", "/see": "303 max-age=90", "/kept": "307 max-age=90",
		"/moved": "301 max-age=2592000", "/moved-as-it-is": "308 max-age=2592000",
		"/to-moved": "302 max-age=90", "/moved-to-moved": "301 max-age=2592000",
	} {
		got := s.Get(t, target)
		if got := fmt.Sprint(got.Status, " ", got.Header.Get("Cache-Control")); got != want {
			t.Errorf("%s: got %s, want %s", target, got, want)
		}
	}
}

func TestALifetimeOfPermanentRedirectsAloneIsTheirs(t *testing.T) {
	h, err := testcaddy.Provision(t, `{"rules": {"a": "https://example.com", "b": {"to": "https://example.com",
		"status": 301}}, "cache_permanent": "1h"}`)
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]string{"/a": "", "/b": "max-age=3600"} {
		w := httptest.NewRecorder()
		if err := h.ServeHTTP(w, prepare(target, w), nothing); err != nil {
			t.Fatal(err)
		}
		if got := w.Header().Get("Cache-Control"); got != want {
			t.Errorf("%s: got Cache-Control %q", target, got)
		}
	}
}

func TestCacheControlStandsOnRedirectsWhereItIsAskedFor(t *testing.T) {
	s := testcaddy.Serve(t, `shortlink {
		github https://github.com
	}`)
	if got := s.Get(t, "/github").Header; got["Cache-Control"] != nil {
		t.Errorf("without the option: got Cache-Control %q", got["Cache-Control"])
	}
	s.Load(t, `shortlink {
		loop /loop
		cache 1h
	}
	respond next`)
	for _, target := range []string{"/other", "/loop"} {
		if got := s.Get(t, target).Header; got["Cache-Control"] != nil {
			t.Errorf("%s: got Cache-Control %q", target, got["Cache-Control"])
		}
	}
}

func TestHTTP2IsAnsweredLikeHTTP1(t *testing.T) {
	s := testcaddy.ServeWith(t, "servers {\n protocols h1 h2c\n }", `shortlink {
		github https://github.com
		docs /documentation
	}`)
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	for target, want := range map[string]string{
		"/github/a?b=c": "302 https://github.com/a?b=c",
		"/docs":         "302 http://" + s.Addr + "/documentation",
	} {
		request, err := http.NewRequest("GET", "http://"+s.Addr+target, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := transport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		if response.ProtoMajor != 2 {
			t.Errorf("%s was answered over %s", target, response.Proto)
		}
		if got := testcaddy.ReadReply(t, response).Location(); got != want {
			t.Errorf("%s: got %s, want %s", target, got, want)
		}
	}
}

// A request target is a path on this host, and what is escaped in it stays so (R2).
func TestATargetNeverNamesAHostAndKeepsItsSpelling(t *testing.T) {
	s := testcaddy.Serve(t, `shortlink {
		gh https://github.com
		base https://example.com/base/
		home /
		docs /documentation
		café https://example.com/café
		x https://example.com/x
		part https://example.com#rule
	}
	respond next 299`)
	tests := map[string]struct{ target, want string }{
		"two slashes are an empty segment": {"//evil.test/x", "299"},
		"two slashes behind an internal root": {"/home//evil.test/x",
			"302 http://go.example//evil.test/x"},
		"two slashes behind a key": {"/gh//evil.test",
			"302 https://github.com//evil.test"},
		"a leading dot segment goes":             {"/../x", "302 https://example.com/x"},
		"an escaped one goes as well":            {"/%2e%2e/x", "302 https://example.com/x"},
		"a backslash is a slash":                 {`/x\y`, "302 https://example.com/x/y"},
		"an escaped slash stays escaped":         {"/gh/a%2Fb", "302 https://github.com/a%2Fb"},
		"an escaped slash separates nothing":     {"/gh%2Fa", "299"},
		"an escaped question mark stays escaped": {"/gh/a%3Fb", "302 https://github.com/a%3Fb"},
		"an escaped climb is refused":            {"/base/..%2F..%2Fadmin", "400"},
		"a twice escaped climb is refused":       {"/base/%252e%252e%252fadmin", "400"},
		"raw bytes match their escaped form":     {"/caf\xc3\xa9", "302 https://example.com/caf%C3%A9"},
		"lower-case escapes match": {"/caf%c3%a9/a",
			"302 https://example.com/caf%C3%A9/a"},
		"escaped letters match": {"/%78", "302 https://example.com/x"},
		"absolute form is its path": {"http://o.example/gh/a?b=c",
			"302 https://github.com/a?b=c"},
		"absolute form names the host": {"http://o.example/docs",
			"302 http://o.example/documentation"},
		"absolute form without a path": {"http://o.example?x", "299"},
		"absolute form of another scheme": {"https://o.example/docs",
			"302 http://o.example/documentation"},
		"an opaque target is no path":             {"http:foo?x=://o.example/gh", "299"},
		"a fragment is not for servers":           {"/part#request", "302 https://example.com/#rule"},
		"the root matches nothing":                {"/", "299"},
		"the query is none of the key's business": {"/?gh", "299"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := s.Get(t, tt.target).Location(); got != tt.want {
				t.Errorf("%s: got %s, want %s", tt.target, got, tt.want)
			}
		})
	}
}

func TestTheAuthorityOfConnectIsNoPath(t *testing.T) {
	s := testcaddy.Serve(t, `route {
		shortlink {
			go.example:443 https://example.com
		}
		test_echo
	}`)
	got := s.Raw(t, "GET",
		"CONNECT go.example:443 HTTP/1.1\r\nHost: go.example:443\r\nConnection: close\r\n\r\n")
	if want := `CONNECT go.example:443 //go.example:443 ""`; got.Body != want {
		t.Errorf("got %d %s, want %s", got.Status, got.Body, want)
	}
}

// Without an origin, absolute destinations are answered, and internal ones are refused (R2).
func TestAHostThatIsMissingOrInvalidNeverReachesALocation(t *testing.T) {
	s := testcaddy.Serve(t, `shortlink {
		gh https://github.com
		docs /documentation
	}`)
	tests := map[string]string{
		"no Host in HTTP/1.0":     "GET %s HTTP/1.0\r\n\r\n",
		"an empty Host":           "GET %s HTTP/1.0\r\nHost: \r\n\r\n",
		"a percent sign":          "GET %s HTTP/1.0\r\nHost: a%%b\r\n\r\n",
		"a number out of range":   "GET %s HTTP/1.0\r\nHost: 1.2.3.999\r\n\r\n",
		"an invalid IPv6 address": "GET %s HTTP/1.0\r\nHost: [1::2::3]\r\n\r\n",
		"a port out of range":     "GET %s HTTP/1.0\r\nHost: go.example:99999\r\n\r\n",
	}
	for name, request := range tests {
		t.Run(name, func(t *testing.T) {
			request := strings.ReplaceAll(request, "%%", "%")
			if got := s.Raw(t, "GET", strings.Replace(request, "%s", "/gh/evil.test", 1)).Location(); got != "302 https://github.com/evil.test" {
				t.Errorf("absolute: got %s", got)
			}
			if got := s.Raw(t, "GET", strings.Replace(request, "%s", "/docs/evil.test", 1)).Location(); got != "400" {
				t.Errorf("internal: got %s", got)
			}
		})
	}
	s.Load(t, `shortlink {
		docs /documentation
		origin https://go.example.com
	}`)
	if got := s.Raw(t, "GET", "GET /docs HTTP/1.0\r\n\r\n").Location(); got != "302 https://go.example.com/documentation" {
		t.Errorf("with origin: got %s", got)
	}
}

func TestOnlyATrustedProxySaysWhatTheClientSees(t *testing.T) {
	const rules = `shortlink {
		docs /documentation
		self /self
	}`
	tests := map[string]struct {
		header             []string
		trusted, untrusted string
	}{
		"scheme and host": {
			[]string{"X-Forwarded-Proto: https", "X-Forwarded-Host: www.example:8443"},
			"302 https://www.example:8443/documentation", "302 http://go.example/documentation",
		},
		"the last value counts": {
			[]string{"X-Forwarded-Host: evil.test", "X-Forwarded-Host: www.example",
				"X-Forwarded-Proto: http", "X-Forwarded-Proto: HTTPS"},
			"302 https://www.example/documentation", "302 http://go.example/documentation",
		},
		"the last of a list counts, too": {
			[]string{"X-Forwarded-Host: evil.test, www.example", "X-Forwarded-Proto: http,https"},
			"302 https://www.example/documentation", "302 http://go.example/documentation",
		},
		"a scheme other than http and https is ignored": {
			[]string{"X-Forwarded-Proto: javascript"},
			"302 http://go.example/documentation", "302 http://go.example/documentation",
		},
		"an empty host is ignored": {
			[]string{"X-Forwarded-Host: "},
			"302 http://go.example/documentation", "302 http://go.example/documentation",
		},
		"a host that is none is refused": {
			[]string{"X-Forwarded-Host: evil.test/path"},
			"400", "302 http://go.example/documentation",
		},
	}
	check := func(t *testing.T, s *testcaddy.Server, header []string, want string) {
		t.Helper()
		if got := s.Get(t, "/docs", header...).Location(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	t.Run("trusted", func(t *testing.T) {
		s := testcaddy.ServeWith(t, "servers {\n trusted_proxies static 127.0.0.0/8\n }", rules)
		for name, tt := range tests {
			t.Run(name, func(t *testing.T) { check(t, s, tt.header, tt.trusted) })
		}
	})
	t.Run("untrusted", func(t *testing.T) {
		s := testcaddy.Serve(t, rules)
		for name, tt := range tests {
			t.Run(name, func(t *testing.T) { check(t, s, tt.header, tt.untrusted) })
		}
	})
}

// Keys are matched against the path as the handlers before have left it; internal
// destinations are paths of the site.
func TestRulesSeeTheRewrittenPath(t *testing.T) {
	tests := map[string]struct{ block, target, want string }{
		"handle_path": {
			"handle_path /go/* {\n shortlink {\n gh https://github.com\n }\n }", "/go/gh/a%2Fb?c",
			"302 https://github.com/a%2Fb?c=",
		},
		"handle_path and an internal destination": {
			"handle_path /go/* {\n shortlink {\n docs /documentation\n }\n }", "/go/docs/x",
			"302 http://go.example/documentation/x",
		},
		"handle_path that strips everything": {
			"handle_path /go* {\n shortlink {\n docs /documentation\n }\n respond {http.request.uri}\n }",
			"/go", "200",
		},
		"a stripped prefix is no part of a key": {
			"handle_path /go/* {\n shortlink {\n go/docs /documentation\n }\n }\n respond next 299",
			"/go/docs", "299",
		},
		"uri strip_prefix": {
			"uri strip_prefix /go/\n route {\n shortlink {\n gh https://github.com\n }\n }", "/go/gh",
			"302 https://github.com/",
		},
		"a rewrite to a path without its slash": {
			"route {\n rewrite gh/b\n shortlink {\n gh https://github.com\n }\n }", "/a?c=d",
			"302 https://github.com/b?c=d",
		},
		"a rewrite to what looks like a URL is a path": {
			"route {\n rewrite http://gh/b\n shortlink {\n http: https://example.com\n b " +
				"https://evil.test\n }\n }", "/a", "302 https://example.com//gh/b",
		},
		"a rewrite of an absolute target": {
			"route {\n uri strip_prefix /go\n shortlink {\n gh https://github.com\n }\n }",
			"http://o.example/go/gh", "302 https://github.com/",
		},
		"a destination that is what the client asked for passes": {
			"handle_path /go/* {\n shortlink {\n docs /go/docs\n }\n respond next 299\n }", "/go/docs?a=b",
			"299",
		},
		"a destination that is the stripped path redirects": {
			"handle_path /go/* {\n shortlink {\n old /new\n new https://example.com\n }\n respond next " +
				"299\n }", "/go/old", "302 https://example.com/",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := testcaddy.Serve(t, tt.block)
			if got := s.Get(t, tt.target).Location(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestAMatcherDecidesWhichRequestsAreLookedAt(t *testing.T) {
	s := testcaddy.Serve(t, `@internal header X-Team *
	shortlink @internal {
		wiki https://wiki.example.com
	}
	shortlink /go/* {
		go/wiki https://wiki.example.org
	}
	respond next 299`)
	for target, want := range map[string][2]string{
		"/wiki":    {"299", "302 https://wiki.example.com/"},
		"/go/wiki": {"302 https://wiki.example.org/", "302 https://wiki.example.org/"},
	} {
		if got := s.Get(t, target).Location(); got != want[0] {
			t.Errorf("%s: got %s, want %s", target, got, want[0])
		}
		if got := s.Get(t, target, "X-Team: a").Location(); got != want[1] {
			t.Errorf("%s with the header: got %s, want %s", target, got, want[1])
		}
	}
}

func TestErrorsGoToHandleErrors(t *testing.T) {
	const rules = `shortlink {
		ping /pong
		pong /ping
		a /b
		b https://example.com
		docs https://example.com/docs/
		max_redirects 0
	}`
	s := testcaddy.Serve(t, rules)
	want := map[string]int{"/ping": 508, "/a": 508, "/docs/..%2f": 400, "/b": 302}
	for target, status := range want {
		if got := s.Get(t, target); got.Status != status || got.Body != "" {
			t.Errorf("%s: got %d %q, want %d", target, got.Status, got.Body, status)
		}
	}
	s.Load(t, rules+`
	handle_errors 400 508 {
		respond "{http.error.status_code}: {http.error.message} ({http.shortlink.key}, {http.shortlink.outcome})"
	}`)
	for target, body := range map[string]string{
		"/ping":       "508: too many internal redirects: loop ping -> pong -> ping (ping, error)",
		"/a":          "508: too many internal redirects (a, error)",
		"/docs/..%2f": "400: unsafe path (docs, error)",
	} {
		if got := s.Get(t, target); got.Status != want[target] || got.Body != body {
			t.Errorf("%s: got %d %q, want %q", target, got.Status, got.Body, body)
		}
	}
}

func TestARequestThatMatchesNothingReachesTheNextHandlerAsItCame(t *testing.T) {
	s := testcaddy.Serve(t, `shortlink {
		gh https://github.com
		self /self
	}
	test_echo`)
	for _, target := range []string{
		"/other/%2e%2e/A%2fb?q=%20+#f",
		"//evil.test//x/../y?",
		"/self?a=b",
		"http://o.example/other?a",
	} {
		got := s.Raw(t, "POST",
			"POST "+target+" HTTP/1.1\r\nHost: go.example\r\nContent-Length: 5\r\nConnection: "+
				"close\r\n\r\nhello")
		s.Load(t, "test_echo")
		want := s.Raw(t, "POST",
			"POST "+target+" HTTP/1.1\r\nHost: go.example\r\nContent-Length: 5\r\nConnection: "+
				"close\r\n\r\nhello")
		if got.Body != want.Body {
			t.Errorf("%s: got %s, without the handler %s", target, got.Body, want.Body)
		}
	}
}

func TestAHostThatTheClientChoosesIsWarnedOf(t *testing.T) {
	const rules = "shortlink {\n in /page\n docs https://docs.example\n}"
	const anyHost = "the destination is a path of this site, and no host matcher names its host, " +
		"so the client chooses it; "
	for _, test := range []struct {
		name, config string
		warned       string
	}{
		{"any host", "http://:PORT {\n" + rules + "\n}",
			anyHost + "write origin https://go.example, or name the hosts of the site"},
		{"any host of a domain that is nobody's", "http://*.com:PORT {\n" + rules + "\n}", anyHost},
		{"several rules",
			"http://:PORT {\nshortlink {\n in /page\n to/{x} /page/{x}\n via /in\n}\n}",
			anyHost + "the same goes for 2 other rules; write origin"},
		{"a host on one of two servers",
			"http://go.example:PORT {\n" + rules + "\n}\nhttp://:1 {\n" + rules + "\n}", anyHost},
		{"any host beside a site with one",
			"http://go.example:PORT {\nrespond a\n}\nhttp://:PORT {\n" + rules + "\n}", anyHost},
		{"a host beside a site for any",
			"http://go.example:PORT {\n" + rules + "\n}\nhttp://:PORT {\nrespond a\n}", ""},
		{"a host in front of a named route",
			"&(links) {\n" + rules + "\n}\nhttp://go.example:PORT {\ninvoke links\n}", ""},
		{"a host", "http://go.example:PORT {\n" + rules + "\n}", ""},
		{"a host in a matcher",
			"http://:PORT {\n@go host go.example\nhandle @go {\n" + rules + "\n}\n}", ""},
		{"an origin",
			"http://:PORT {\nshortlink {\n in /page\n origin https://go.example\n}\n}", ""},
		{"no paths of the site",
			"http://:PORT {\nshortlink {\n a /b/c\n b https://b.example\n}\n}", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "Caddyfile")
			_, port, _ := net.SplitHostPort(testcaddy.FreeAddress(t))
			log := filepath.Join(t.TempDir(), "log")
			config := "{\nadmin off\npersist_config off\nstorage file_system " + testcaddy.StorageDir(t) +
				"\ndefault_bind 127.0.0.1\n" + testcaddy.LogTo(log) + "\n}\n" +
				strings.ReplaceAll(test.config, "PORT", port)
			testcaddy.Write(t, file, config)

			checked, _ := testcaddy.Run([]string{"shortlink", "check", "--config", file}, "")
			if got := strings.Contains(checked, "host of the client"); got != (test.warned != "") ||
				!strings.Contains(checked, test.warned) {
				t.Errorf("check says\n%s\nwant %q", checked, test.warned)
			}

			adapted, err := testcaddy.Adapt(config)
			testcaddy.Must(t, err)
			var parsed caddy.Config
			testcaddy.Must(t, json.Unmarshal(adapted, &parsed))
			testcaddy.Must(t, caddy.Validate(&parsed))
			content, err := os.ReadFile(log)
			testcaddy.Must(t, err)
			if got := strings.Contains(string(content), anyHost); got != (test.warned != "") {
				t.Errorf("the log says %s", content)
			}
		})
	}
}

func TestASwapThatBringsAClientsHostIsWarnedOf(t *testing.T) {
	s := testcaddy.Follow(t, `{"docs": "https://docs.example"}`, "", "")
	testcaddy.Write(t, s.Links, `{"docs": "/handbook"}`)
	entry := s.Logged(t, 1, "host of the client")
	if entry["level"] != "warn" || entry["key"] != "docs" {
		t.Errorf("got %v", entry)
	}
}

func TestAProxyThatIsNotTrustedIsWarnedOfOnceWhereRedirectsAreNotEncrypted(t *testing.T) {
	const text = "Caddy does not trust it; if that is your proxy, write its address into trusted_proxies"
	rules := `{"docs": "/page", "t/{x}": "/pages/{x}", "chain": "/out", "plain": "/plainest",
		"out": "https://x.example", "plainest": "http://go.example.evil.test/x", "gone": "gone"}`
	const says = "X-Forwarded-Proto: https"
	for name, tt := range map[string]struct {
		servers, more string // options of the server, and of the handler
		target        string
		header        []string
		times         int
	}{
		"a path of the site":       {"", "", "/docs", []string{says}, 1},
		"a template":               {"", "", "/t/a", []string{says}, 1},
		"the last value is https":  {"", "", "/docs", []string{"X-Forwarded-Proto: http, HTTPS"}, 1},
		"a URL behind a chain":     {"", "", "/chain", []string{says}, 0},
		"a plain URL behind one":   {"", "", "/plain", []string{says}, 0},
		"a URL":                    {"", "", "/out", []string{says}, 0},
		"no redirect":              {"", "", "/nothing", []string{says}, 0},
		"gone":                     {"", "", "/gone", []string{says}, 0},
		"the client came by http":  {"", "", "/docs", []string{"X-Forwarded-Proto: http"}, 0},
		"there is no proxy":        {"", "", "/docs", nil, 0},
		"a trusted proxy":          {"trusted_proxies static 127.0.0.0/8", "", "/docs", []string{says}, 0},
		"the origin is configured": {"", "origin http://go.example", "/docs", []string{says}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "caddy.log")
			file := filepath.Join(t.TempDir(), "links.json")
			testcaddy.Write(t, file, rules)
			s := &testcaddy.Follower{Log: log}
			s.Server = testcaddy.ServeWith(t, testcaddy.LogTo(log)+"\nservers {\n"+tt.servers+"\n}",
				"shortlink {\n from file "+file+"\n name go\n "+tt.more+"\n }")
			for range 3 {
				s.Get(t, tt.target, tt.header...)
			}
			if got := s.TimesLogged(t, text); got != tt.times {
				t.Errorf("it is logged %d times, want %d:\n%s", got, tt.times, testcaddy.ReadFile(t, log))
			}
			if tt.times == 1 && s.Logged(t, 1, text)["name"] != "go" {
				t.Error("the handler is not named")
			}
		})
	}
}
