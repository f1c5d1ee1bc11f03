package page_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
	_ "github.com/caddy-shortlink/shortlink/page"
)

// servePage starts a Caddy with a links page for rules of a file, and returns the file.
func servePage(t *testing.T, rules, options string) (*testcaddy.Server, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "links.json")
	testcaddy.Write(t, file, rules)
	return testcaddy.Serve(t, testcaddy.PageBlock(file, options)), file
}

const someRules = `{
	"docs": "https://docs.example/handbook?lang=en#top",
	"d": "/docs",
	"gh/{owner}": "https://github.com/{owner}",
	"secret/plan": {"to":"https://plans.example","status":301, "exact": true, "unlisted": true,
		"note": "Ask Ann first."},
	"old": "gone"
}`

func TestEachPageIsHTMLForBrowsersJSONForProgramsAndElseText(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	for _, tt := range []struct{ target, html, json, text string }{
		{"", `<form role="search"`, `"rules":5`, "5 rules, digest "},
		{"?q=doc", `href="./key/docs"`, `"key":"docs","to":"https://docs.example/`,
			"docs https://docs.example/handbook?lang=en#top\n"},
		{"key/d", `https://docs.example/handbook?lang=en#top</bdi></a>`,
			`"destination":"https://docs.example/handbook?lang=en#top"`, "1. /d matches d ("},
		{"key/secret/plan", "Ask Ann first.", `"note":"Ask Ann first."`, "note: Ask Ann first.\n"},
		{"key/gh/%7Bowner%7D", "https://github.com/{owner}", `"destination":"https://github.com/owner"`,
			"which leads to https://github.com/owner with owner=owner"},
		{"key/d?edit", `value="/docs"`, `"was":"\"/docs\""`, "POST the fields"},
		{"key/d?delete", `name="action" value="remove"`, `"remove":true`, "nothing is saved"},
		{"new?key=fresh", `value="fresh"`, `"key":"fresh"`, "POST the fields"},
		{"try?url=/d/x%3Fa=1", "lang=en", `"appended":"/x"`, "path: /x is appended"},
	} {
		target := "/.links/" + tt.target
		s.Get(t, target, testcaddy.AsAnn, testcaddy.AsHTML).Wants(t, 200, tt.html)
		inJSON := s.Get(t, target, testcaddy.AsAnn, testcaddy.AsJSON)
		if inJSON.Wants(t, 200, tt.json); !json.Valid([]byte(inJSON.Body)) {
			t.Errorf("%s is no JSON: %s", target, inJSON.Body)
		}
		s.Get(t, target, testcaddy.AsAnn).Wants(t, 200, tt.text)
	}
}

func TestThePageOfAKeySaysInWhichLineItStands(t *testing.T) {
	s, file := servePage(t, someRules, "")
	for key, place := range map[string]string{"d": "links.json:3:2", "gh/%7Bowner%7D": "links.json:4:2"} {
		page := s.Get(t, "/.links/key/"+key, testcaddy.AsAnn, testcaddy.AsHTML)
		page.Wants(t, 200, "<dd><bdi>"+filepath.Dir(file)+"/"+place+"</bdi></dd>")
	}
	for _, target := range []string{"key/d", "try?url=/d"} {
		s.Get(t, "/.links/"+target, testcaddy.AsAnn).Wants(t, 200, "matches d ("+file+":3:2)",
			"matches docs ("+file+":2:2)")
	}
}

func TestPagesHaveTheHeadersThatProtectThem(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	for _, target := range []string{
		"", "key/docs", "key/nothing", "nothing", "assets/style.css", "export.json",
		"opensearch.xml", "key/docs?qr=png",
	} {
		got := s.Get(t, "/.links/"+target, testcaddy.AsAnn, testcaddy.AsHTML)
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; " +
				"img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; " +
				"frame-ancestors 'none'",
			"Referrer-Policy":        "same-origin",
			"X-Content-Type-Options": "nosniff",
			"X-Robots-Tag":           "noindex, nofollow",
			"Cache-Control":          "no-store",
		} {
			if is := got.Header.Get(name); is != want {
				t.Errorf("%s has %s %q, want %q", target, name, is, want)
			}
		}
		if strings.Contains(got.Body, "<style") || strings.Contains(got.Body, " style=") ||
			regexp.MustCompile(`<script(>| [^s])| on[a-z]+=`).MatchString(got.Body) {
			t.Errorf("%s has inline style or script:\n%s", target, got.Body)
		}
	}
}

func TestHeadOfAPageHasTheHeadersOfGetAndNoBody(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	for _, target := range []string{"", "key/docs", "export.json", "export.csv", "opensearch.xml"} {
		get := s.Get(t, "/.links/"+target, testcaddy.AsAnn, testcaddy.AsHTML)
		head := s.Raw(t, "HEAD", "HEAD /.links/"+target+" HTTP/1.1\r\nHost: go.example\r\n"+testcaddy.AsAnn+"\r\n"+
			testcaddy.AsHTML+"\r\nConnection: close\r\n\r\n")
		if head.Status != get.Status || head.Body != "" ||
			head.Header.Get("Content-Type") != get.Header.Get("Content-Type") ||
			head.Header.Get("ETag") != get.Header.Get("ETag") {
			t.Errorf("HEAD of %s: %d %v, GET: %d %v", target, head.Status, head.Header, get.Status,
				get.Header)
		}
	}
}

func TestAssetsAreKeptUnderTheURLThatPagesHave(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	style := regexp.MustCompile(`href="\./(assets/style\.css\?v=[0-9a-f]+)"`).
		FindStringSubmatch(s.Get(t, "/.links/", testcaddy.AsAnn, testcaddy.AsHTML).Body)
	got := s.Get(t, "/.links/"+style[1], testcaddy.AsAnn)
	if got.Header.Get("Cache-Control") != "private, max-age=31536000, immutable" {
		t.Errorf("the stylesheet has Cache-Control %q", got.Header.Get("Cache-Control"))
	}
	again := s.Get(t, "/.links/"+style[1], testcaddy.AsAnn, "If-None-Match: "+got.Header.Get("ETag"))
	if again.Status != 304 || s.Get(t, "/.links/assets/none.css", testcaddy.AsAnn).Status != 404 {
		t.Errorf("asked again: %d", again.Status)
	}
}

func TestExportsHaveAllRulesAndTheirDigestAsETag(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	digest := digestOnPage(t, s)
	for target, want := range map[string]string{
		"export.json": `"secret/plan": {"to":"https://plans.example","status":301,`,
		"export.csv":  "secret/plan,https://plans.example,301,",
	} {
		got := s.Get(t, "/.links/"+target, testcaddy.AsAnn)
		got.Wants(t, 200, want)
		if got.Header.Get("ETag") != `"`+digest+`"` {
			t.Errorf("%s has ETag %s, want the digest %s", target, got.Header.Get("ETag"), digest)
		}
		s.Get(t, "/.links/"+target, testcaddy.AsAnn, `If-None-Match: "`+digest+`"`).Wants(t, 304)
	}
	s.Get(t, "/.links/export.redirects", testcaddy.AsAnn).Wants(t, 404)
}

// digestOnPage returns the digest of the rules, as the page tells it.
func digestOnPage(t *testing.T, s *testcaddy.Server) string {
	t.Helper()
	var home struct{ Status struct{ Digest string } }
	testcaddy.Must(t, json.Unmarshal([]byte(s.Get(t, "/.links/", testcaddy.AsAnn, testcaddy.AsJSON).Body), &home))
	return home.Status.Digest
}

func TestAnAddressBarFindsTheSearchWhereThePageStands(t *testing.T) {
	s, file := servePage(t, someRules, "")
	s.Get(t, "/.links/opensearch.xml", testcaddy.AsAnn).Wants(t, 200,
		`template="http://go.example/.links/?q={searchTerms}"`)
	s.Load(t, fmt.Sprintf(`shortlink {
		from file %s
		name go
	}
	handle_path /tools/* {
		shortlink_page {
			handler go
			read everyone
		}
	}`, file))
	s.Get(t, "/tools/.links/opensearch.xml").Wants(t, 200,
		`template="http://go.example/tools/.links/?q={searchTerms}"`)
	s.Get(t, "/tools/.links/", testcaddy.AsHTML).Wants(t, 200, `action="./"`, `href="./assets/style.css`)
	s.Get(t, "/tools/.links/key/secret/plan", testcaddy.AsHTML).Wants(t, 200, `action="../../"`)
	if got := s.Get(t, "/tools/.links").Location(); got != "308 ./.links/" {
		t.Errorf("the path without its slash: %s", got)
	}
}

func TestWhatLeadsSomewhereAndWhatNobodyNeedsCanBeSearched(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	s.Get(t, "/.links/?q=to:https://docs.example/handbook%3Flang=en%23top", testcaddy.AsAnn).Wants(t, 200,
		"docs https://", "d /docs")
	unused := s.Get(t, "/.links/?q=unused:1m", testcaddy.AsAnn)
	unused.Wants(t, 200, "docs https://", "old gone")
	s.Get(t, "/d")
	if used := s.Get(t, "/.links/?q=unused:1m", testcaddy.AsAnn); strings.Contains(used.Body, "docs") {
		t.Errorf("unused, though it was used through another:\n%s", used.Body)
	}
	s.Get(t, "/.links/?q=unused:soon", testcaddy.AsAnn).Wants(t, 400, "such as unused:90d")
	s.Get(t, "/.links/?q=to:", testcaddy.AsAnn).Wants(t, 400, "to: takes a URL or a path")
}

func TestPagesOfASearchBeginBehindTheLastKey(t *testing.T) {
	var rules strings.Builder
	for i := range 250 {
		fmt.Fprintf(&rules, "%c\n\t\"k/%03d\": \"https://k.example/%d\"", "{,"[min(i, 1)], i, i)
	}
	s, _ := servePage(t, rules.String()+"}", "")
	seen := map[string]bool{}
	after := ""
	for range 3 {
		var found struct {
			Rules []struct{ Key string }
			Next  string
		}
		got := s.Get(t, "/.links/?q=k&after="+url.QueryEscape(after), testcaddy.AsAnn, testcaddy.AsJSON)
		testcaddy.Must(t, json.Unmarshal([]byte(got.Body), &found))
		for _, rule := range found.Rules {
			seen[rule.Key] = true
		}
		after = found.Next
	}
	if len(seen) != 250 || after != "" {
		t.Errorf("three pages have %d of 250 rules, and the next one begins behind %q", len(seen), after)
	}
}

func TestOnlySomebodyByNameSeesThePage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "links.json")
	testcaddy.Write(t, file, someRules)
	for name, tt := range map[string]struct {
		guard, options string
		header         []string
		read, write    int
	}{
		"nobody is asked for a name": {read: 403, write: 403},
		"everyone may read":          {options: "read everyone", read: 200, write: 403},
		"a header names somebody": {options: "user {header.Remote-User}",
			header: []string{"Remote-User: bob"}, read: 200, write: 201},
		"the header is not there": {options: "user {header.Remote-User}", read: 403,
			write: 403},
		"the header is empty": {options: "user {header.Remote-User}",
			header: []string{"Remote-User:  "}, read: 403, write: 403},
		"the header is a placeholder": {options: "user {header.Remote-User}",
			header: []string{"Remote-User: {http.auth.user.id}"}, read: 403, write: 403},
		"the placeholder is unknown": {options: "user {http.nobody.knows}", read: 403,
			write: 403},
		"a variable that is not set": {options: "user {vars.nothing}", read: 403,
			write: 403},
		"somebody who may not write": {guard: testcaddy.SignIn, options: "write nobody",
			header: []string{testcaddy.AsAnn}, read: 200, write: 403},
		"everyone may read, and nobody may write": {options: "read everyone\nwrite nobody", read: 200,
			write: 403},
		"everyone may read, and somebody may write": {guard: testcaddy.SignIn, options: "read everyone",
			header: []string{testcaddy.AsAnn}, read: 200, write: 201},
	} {
		t.Run(name, func(t *testing.T) {
			s := testcaddy.Serve(t, fmt.Sprintf("shortlink {\nfrom file %s\n}\n%s\nshortlink_page {\n%s\n}", file,
				tt.guard, tt.options))
			testcaddy.Write(t, file, someRules)
			s.Get(t, "/.links/key/docs", append(tt.header, testcaddy.AsHTML)...).Wants(t, tt.read)
			s.Get(t, "/.links/assets/style.css", tt.header...).Wants(t, 200) // no secret
			header := append(tt.header, "Content-Type: application/x-www-form-urlencoded",
				"Content-Length: 28")
			got := s.Raw(t, "POST", "POST /.links/new HTTP/1.1\r\nHost: go.example\r\n"+testcaddy.HeaderLines(header)+
				"Connection: close\r\n\r\nkey=fresh&to=https://x.test/")
			got.Wants(t, tt.write)
		})
	}
}

func TestNoSpellingOfAPathGoesAroundTheGuard(t *testing.T) {
	s, file := servePage(t, someRules, "")
	for _, guarded := range []string{
		"/.links", "/.links/", "/.links/key/docs", "/%2Elinks/", "/.%6Cinks/key/docs",
		"/.links/key/../../x", "/.links/key/a%2F..%2F..%2F..%2Fx", "/.links/key/..%2F..%2Fdocs",
		"/.links//key/docs", "/.links/./key/docs", "/.links/key/%2e%2e/%2E%2e/docs",
		"/x/../.links/key/docs", "//.links/key/docs", "/.links%2Fkey%2Fdocs",
		"/.links/key/a/../docs", "/.links/../.links/key/docs", "/.links/key/docs/.",
		"/.links/key/docs/..",
		"/.links/key/docs//", "/.links/%252e%252e/docs", "/.links/?q=docs", "/.LINKS/key/docs",
	} {
		got := s.Get(t, guarded, testcaddy.AsHTML)
		if strings.Contains(got.Body, "docs.example") {
			t.Errorf("%s shows a link to nobody: %d", guarded, got.Status)
		}
	}
	// the page refuses these spellings itself, also where nothing guards it
	s.Load(t, strings.ReplaceAll(testcaddy.PageBlock(file, "read everyone"), "basic_auth /.links*",
		"basic_auth /nowhere"))
	for _, unclean := range []string{
		"/.links/key/../../x", "/.links/key/a%2F..%2F..%2F..%2Fx", "/.links//", "/.links/./",
		"/.links/key//docs", "/.links/key/docs//", "/.links/key/%2e/docs", "/.links/key/a/%252e%252e/b",
	} {
		s.Get(t, unclean, testcaddy.AsHTML).Wants(t, 404)
	}
}

func TestOtherRequestsPassThePage(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	for _, target := range []string{"/", "/other", "/x/.links/", "/.link"} {
		if got := s.Get(t, target); !strings.HasPrefix(got.Body, "GET "+target) {
			t.Errorf("%s got %d %s", target, got.Status, got.Body)
		}
	}
	if got := s.Get(t, "/d").Location(); got != "302 https://docs.example/handbook?lang=en#top" {
		t.Error("a link beside its page got", got)
	}
}

func TestHostileTextStaysText(t *testing.T) {
	const hostile = `{
	"a<script>alert(1)<": "https://x.test/?q=%3Cscript%3E",
	"quo'te": {"to": "https://x.test/'%22", "note": "<script>alert('note')</script> \" ' \u202Egnp.exe"},
	"bidi\u202Eabc": "https://x.test/\u202E"
}`
	s, _ := servePage(t, hostile, "")
	for _, target := range []string{
		"", "?q=", "?q=%3Cscript%3Ealert(2)%3C/script%3E", "?q=%FF%FE", "key/quo'te", "key/quo'te?edit",
		"key/%3Cscript%3E", "try?url=%22%3E%3Cscript%3E", "try?url=javascript:alert(1)",
		"new?key=%22%3E%3Cscript%3E&to=javascript:alert(1)", "?removed=%3Cscript%3E",
		"key/" + strings.Repeat("x", 6000), "key/%FF%FE", "?q=" + strings.Repeat("%E2%80%AE", 50),
		"key/quo'te?done=%3Cscript%3E",
	} {
		got := s.Get(t, "/.links/"+target, testcaddy.AsAnn, testcaddy.AsHTML)
		body := regexp.MustCompile(`<script src="[./]*assets/script.js\?v=[0-9a-f]+" defer></script>`).
			ReplaceAllString(got.Body, "")
		body = regexp.MustCompile(`href="javascript:void%28[^"<' ]*%29">New link to this page`).
			ReplaceAllString(body, "")
		// What is to be edited stays what it is.
		body = regexp.MustCompile(`<input [^>]*>`).ReplaceAllString(body, "")
		if strings.Contains(body, "<script") || strings.Contains(body, `href="javascript:`) {
			t.Errorf("%s: a text became markup:\n%s", target, got.Body)
		}
		if strings.Contains(body, "\u202e") {
			t.Errorf("%s: an override of direction came through:\n%s", target, got.Body)
		}
		if got.Status >= 500 {
			t.Errorf("%s: status %d", target, got.Status)
		}
	}
}

func TestWithSeveralHandlersEachPageShowsItsOwn(t *testing.T) {
	s := testcaddy.Serve(t, `
	shortlink {
		a https://a.example
		name first
	}
	shortlink {
		b https://b.example
		name second
	}
	shortlink_page {
		handler first
		read everyone
	}
	shortlink_page {
		handler second
		path /.second
		read everyone
	}
	shortlink_page {
		path /.which
		read everyone
	}
`)
	s.Get(t, "/.links/?q=").Wants(t, 200, "a https://a.example")
	s.Get(t, "/.second/?q=").Wants(t, 200, "b https://b.example")
	s.Get(t, "/.which/").Wants(t, 503, "there are: first, second")
}

func TestARuleThatHidesThePageIsAWarningWhereverItIsChecked(t *testing.T) {
	const want = "the rule answers /.links, so the links page does not get it; put a rule " +
		`".links pass" beside it`
	file := filepath.Join(t.TempDir(), "links.json")
	testcaddy.Write(t, file, `{"{x}": "https://search.test/?q={x}"}`)
	config := filepath.Join(t.TempDir(), "Caddyfile")
	testcaddy.Write(t, config, fmt.Sprintf("http://go.example {\n%s\n}\n", testcaddy.PageBlock(file, "")))
	out, _ := testcaddy.Run([]string{"shortlink", "check", "--config", config}, "")
	if !strings.Contains(out, want) {
		t.Errorf("check says\n%s\nwant %s", out, want)
	}
	testcaddy.Write(t, file, `{"{x}": "https://search.test/?q={x}", ".links": "pass"}`)
	out, _ = testcaddy.Run([]string{"shortlink", "check", "--config", config}, "")
	if strings.Contains(out, "links page") {
		t.Errorf("check says of a page that is free\n%s", out)
	}
}

func TestTheLogWarnsOfRulesThatHideThePage(t *testing.T) {
	dir := t.TempDir()
	s := &testcaddy.Follower{Links: filepath.Join(dir, "links.json"), Log: filepath.Join(dir, "caddy.log")}
	testcaddy.Write(t, s.Links, `{"{x}": "https://search.test/?q={x}"}`)
	block := strings.Replace(testcaddy.PageBlock(s.Links, ""), "from file "+s.Links,
		"from file "+s.Links+" {\npoll 5ms\n}", 1)
	s.Server = testcaddy.ServeWith(t, testcaddy.LogTo(s.Log), block)
	s.Logged(t, 1, "hides the links page")
	testcaddy.Write(t, s.Links, `{"{x}": "https://search.test/?q={x}", ".links": "pass"}`)
	s.Logged(t, 1, "rules swapped")
	testcaddy.Write(t, s.Links, `{"{+x}": "https://search.test/?q={x}"}`)
	s.Logged(t, 2, "hides the links page")
}

func TestTheLogSaysWhereAPageIsInTheWay(t *testing.T) {
	for name, tt := range map[string]struct{ block, want string }{
		"behind it stands another": {"shortlink\nshortlink_page {\nmisses\n}\nrespond x",
			"the handlers after it are never reached"},
		"another is in its route": {"route {\nshortlink\nshortlink_page {\nmisses\n}\nrespond x\n}",
			"the handlers after it are never reached"},
		"it is last":           {"route {\nrespond /x x\nshortlink\nshortlink_page {\nmisses\n}\n}", ""},
		"it has a matcher":     {"shortlink\nshortlink_page /a/* {\nmisses\n}\nrespond x", ""},
		"it leaves others be":  {"shortlink\nshortlink_page\nrespond x", ""},
		"it has its own block": {"handle /a/* {\nshortlink\nshortlink_page {\nmisses\n}\n}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := &testcaddy.Follower{Log: filepath.Join(t.TempDir(), "caddy.log")}
			s.Server = testcaddy.ServeWith(t, testcaddy.LogTo(s.Log), tt.block)
			if tt.want != "" {
				s.Logged(t, 1, tt.want)
				return
			}
			s.Get(t, "/anything") // Caddy has started, and whatever there is to say is said
			if content := testcaddy.ReadFile(t, s.Log); strings.Contains(content, "shortlink_page") {
				t.Errorf("the log says\n%s", content)
			}
		})
	}
}

// authenticator is a server for forward_auth that knows bob by his cookie. It returns its URL.
func authenticator(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Cookie") != "session=1" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Remote-User", "bob")
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestBehindForwardAuthTheNameIsThatOfTheServerThatSaysIt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "links.json")
	testcaddy.Write(t, file, someRules)
	s := testcaddy.Serve(t, fmt.Sprintf(`route {
		request_header -Remote-User
		shortlink {
			from file %s
			name go
		}
		forward_auth /.links* %s {
			uri /api/authz
			copy_headers Remote-User
		}
		shortlink_page {
			handler go
			user {header.Remote-User}
			misses
		}
	}`, file, authenticator(t)))
	s.Get(t, "/.links/", "Remote-User: eve", testcaddy.AsHTML).Wants(t, 401)
	s.Get(t, "/.links/", "Remote-User: eve", "Cookie: session=1", testcaddy.AsHTML).
		Wants(t, 200, "Signed in as <b><bdi>bob</bdi></b>")
	for _, header := range []string{"Remote-User: eve", "Remote-User: "} {
		// answers to misses know nobody, so that all of them are the same
		s.Get(t, "/nothing", header, testcaddy.AsHTML).Wants(t, 404, "new?key=nothing")
	}
}

func TestAPageCanHaveAHandlePathForItself(t *testing.T) {
	s := testcaddy.Serve(t, `shortlink {
		docs https://docs.example
	}
	handle_path /links/* {
		shortlink_page {
			path /
			read everyone
		}
	}
	redir /links /links/`)
	s.Get(t, "/links/", testcaddy.AsHTML).Wants(t, 200, `href="./?q="`)
	s.Get(t, "/links/key/docs", testcaddy.AsHTML).Wants(t, 200, "https://docs.example")
	s.Get(t, "/links/opensearch.xml").Wants(t, 200,
		`template="http://go.example/links/?q={searchTerms}"`)
}

func TestAKeyWithAnEncodedSlashLeadsToTheSamePage(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	s.Get(t, "/.links/key/secret%2Fplan", testcaddy.AsAnn, testcaddy.AsHTML).Wants(t, 200, "https://plans.example",
		`href="../assets/style.css`)
	s.Get(t, "/.links/key/a%2F..%2Fb", testcaddy.AsAnn, testcaddy.AsHTML).Wants(t, 404, `href="../assets/style.css`)
}

func TestKeysThatPathsDoNotHoldHaveAPage(t *testing.T) {
	s, _ := servePage(t, `{"a//b": "https://x.test/1", "a%2Fb": "https://x.test/2",
		"what%3F": "https://x.test/3", "c d": "https://x.test/4", "50%25": "https://x.test/5",
		"größe": "https://x.test/6", "a:b": "https://x.test/7", "x/": "https://x.test/8", "+": "https://x.test/9"}`, "")
	found := s.Get(t, "/.links/?q=", testcaddy.AsAnn, testcaddy.AsHTML)
	links := regexp.MustCompile(`class="key" href="\./([^"]*)"`).FindAllStringSubmatch(found.Body, -1)
	if len(links) != 9 {
		t.Fatalf("%d links of 9:\n%s", len(links), found.Body)
	}
	seen := map[string]bool{}
	for _, link := range links {
		got := s.Get(t, "/.links/"+html.UnescapeString(link[1]), testcaddy.AsAnn, testcaddy.AsHTML)
		got.Wants(t, 200, "https://x.test/")
		to := regexp.MustCompile(`https://x\.test/\d`).FindString(got.Body)
		if seen[to] {
			t.Errorf("%s shows the page of another key, which leads to %s", link[1], to)
		}
		seen[to] = true
		form := s.FormOf(t, "/.links/"+html.UnescapeString(link[1])+querySeparator(link[1])+"edit")
		form.Set("to", to+"/new")
		action := regexp.MustCompile(`action="([^"]*key/[^"]*)"`).FindStringSubmatch(
			s.Get(t, "/.links/"+html.UnescapeString(link[1])+querySeparator(link[1])+"edit", testcaddy.AsAnn,
				testcaddy.AsHTML).Body)[1]
		target := "/.links/" + strings.TrimLeft(html.UnescapeString(action), "./")
		if got := s.Post(t, target, form.Encode(), testcaddy.AsHTML); got.Status != 303 {
			t.Errorf("the edit of %s at %s was answered with %d:\n%s", link[1], target, got.Status, got.Body)
		}
	}
}

func querySeparator(path string) string {
	if strings.Contains(path, "?") {
		return "&"
	}
	return "?"
}

func TestNoPathThatIsCleanedOnItsWayGoesAroundTheGuard(t *testing.T) {
	file := filepath.Join(t.TempDir(), "links.json")
	testcaddy.Write(t, file, someRules)
	s := testcaddy.Serve(t, fmt.Sprintf(`basic_auth /hp/.links* {
		ann $2a$04$hoKkVu6H3AmsMy5ZuEMJyeANa5W34/jOj/msfLgdN1a4Nn4ECPjW.
	}
	handle_path /hp/* {
		route {
			shortlink {
				from file %s
			}
			shortlink_page {
				read everyone
				misses
			}
		}
	}`, file))
	for _, target := range []string{
		"/hp/a%2fb/../.links/export.json", "/hp/a%2fb/../.links/key/docs", "/hp/%2e/../.links/",
		"/hp/a%2f%2e%2e%2f/../.links/key/docs", "//evil.example/../hp/docs+", "//evil.example/../hp/dosc",
	} {
		got := s.Get(t, target, testcaddy.AsHTML)
		if strings.Contains(got.Body+got.Header.Get("Location"), "docs.example") ||
			strings.Contains(got.Body+got.Header.Get("Location"), "//evil.example") {
			t.Errorf("%s: %s\n%s", target, got.Location(), got.Body)
		}
	}
	s.Get(t, "/hp/.links/", testcaddy.AsAnn, testcaddy.AsHTML).Wants(t, 200)
	if got := s.Get(t, "/hp/docs+").Location(); got != "303 /hp/.links/key/docs" {
		t.Error("the page of a key is at", got)
	}
}

func TestWithoutANameThePageIsOfTheHandlerAtItsHost(t *testing.T) {
	s := &testcaddy.Server{Addr: testcaddy.FreeAddress(t)}
	t.Cleanup(func() { caddy.Stop() })
	_, port, _ := net.SplitHostPort(s.Addr)
	site := func(host string) string {
		return fmt.Sprintf(
			"http://%s:%s {\nshortlink {\nlink https://%s/\n}\nshortlink_page {\nread everyone\n}\n}\n",
			host, port, host)
	}
	adapted, err := testcaddy.Adapt(fmt.Sprintf("{\nadmin off\npersist_config off\ndefault_bind 127.0.0.1\n"+
		"storage file_system %q\n}\n", testcaddy.StorageDir(t)) + site("a.test") + site("b.test"))
	testcaddy.Must(t, err)
	testcaddy.Must(t, caddy.Load(adapted, true))
	for _, host := range []string{"a.test", "b.test"} {
		s.Raw(t, "GET", "GET /.links/?q= HTTP/1.1\r\nHost: "+host+"\r\nConnection: close\r\n\r\n").
			Wants(t, 200, "link https://"+host+"/")
	}
}
