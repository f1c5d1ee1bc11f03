package shortlink_test

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

	"github.com/caddy-shortlink/shortlink"
	_ "github.com/caddy-shortlink/shortlink/page"
)

// signIn lets ann, whose password is "secret", read and edit the page.
const signIn = `
	basic_auth /.links* {
		ann $2a$04$hoKkVu6H3AmsMy5ZuEMJyeANa5W34/jOj/msfLgdN1a4Nn4ECPjW.
	}`

// asAnn is the header that signs ann in.
const asAnn = "Authorization: Basic YW5uOnNlY3JldA=="

const (
	asHTML = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	asJSON = "Accept: application/json"
)

// servePage starts a Caddy with a links page for rules of a file, and returns the file.
func servePage(t *testing.T, rules, options string) (*server, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "links.json")
	write(t, file, rules)
	return serve(t, pageBlock(file, options)), file
}

// pageBlock is what a site's block holds for a page.
func pageBlock(file, options string) string {
	return fmt.Sprintf(`shortlink {
		from file %s
		name go
	}
	%s
	shortlink_page {
		handler go
		%s
	}
	test_echo`, file, signIn, options)
}

// post sends a form to a page as ann.
func (s *server) post(t *testing.T, target, form string, header ...string) reply {
	t.Helper()
	header = append(header, asAnn, "Content-Type: application/x-www-form-urlencoded",
		fmt.Sprint("Content-Length: ", len(form)))
	return s.raw(t, "POST", "POST "+target+" HTTP/1.1\r\nHost: go.example\r\n"+lines(header)+
		"Connection: close\r\n\r\n"+form)
}

// wants reports what an answer does not hold.
func (r reply) wants(t *testing.T, status int, texts ...string) {
	t.Helper()
	if r.status != status {
		t.Errorf("status %d, want %d:\n%s", r.status, status, r.body)
	}
	for _, text := range texts {
		if !strings.Contains(r.body, text) {
			t.Errorf("the answer has no %q:\n%s", text, r.body)
		}
	}
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
		{"key/gh/%7Bowner%7D", "https://github.com/{owner}", `"chain":[`,
			"matches gh/{owner}, which leads to https://github.com/{owner}"},
		{"key/d?edit", `value="/docs"`, `"was":"\"/docs\""`, "POST the fields"},
		{"key/d?delete", `name="action" value="remove"`, `"remove":true`, "nothing is saved"},
		{"new?key=fresh", `value="fresh"`, `"key":"fresh"`, "POST the fields"},
		{"try?url=/d/x%3Fa=1", "lang=en", `"appended":"/x"`, "path: /x is appended"},
	} {
		target := "/.links/" + tt.target
		s.get(t, target, asAnn, asHTML).wants(t, 200, tt.html)
		inJSON := s.get(t, target, asAnn, asJSON)
		if inJSON.wants(t, 200, tt.json); !json.Valid([]byte(inJSON.body)) {
			t.Errorf("%s is no JSON: %s", target, inJSON.body)
		}
		s.get(t, target, asAnn).wants(t, 200, tt.text)
	}
}

func TestPagesHaveTheHeadersThatProtectThem(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	for _, target := range []string{
		"", "key/docs", "key/nothing", "nothing", "assets/style.css", "export.json",
		"opensearch.xml", "key/docs?qr=png",
	} {
		got := s.get(t, "/.links/"+target, asAnn, asHTML)
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; " +
				"img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; " +
				"frame-ancestors 'none'",
			"Referrer-Policy":        "same-origin",
			"X-Content-Type-Options": "nosniff",
			"X-Robots-Tag":           "noindex, nofollow",
			"Cache-Control":          "no-store",
		} {
			if is := got.header.Get(name); is != want {
				t.Errorf("%s has %s %q, want %q", target, name, is, want)
			}
		}
		if strings.Contains(got.body, "<style") || strings.Contains(got.body, " style=") ||
			regexp.MustCompile(`<script(>| [^s])| on[a-z]+=`).MatchString(got.body) {
			t.Errorf("%s has inline style or script:\n%s", target, got.body)
		}
	}
}

func TestHeadOfAPageHasTheHeadersOfGetAndNoBody(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	for _, target := range []string{"", "key/docs", "export.json", "export.csv", "opensearch.xml"} {
		get := s.get(t, "/.links/"+target, asAnn, asHTML)
		head := s.raw(t, "HEAD", "HEAD /.links/"+target+" HTTP/1.1\r\nHost: go.example\r\n"+asAnn+"\r\n"+
			asHTML+"\r\nConnection: close\r\n\r\n")
		if head.status != get.status || head.body != "" ||
			head.header.Get("Content-Type") != get.header.Get("Content-Type") ||
			head.header.Get("ETag") != get.header.Get("ETag") {
			t.Errorf("HEAD of %s: %d %v, GET: %d %v", target, head.status, head.header, get.status,
				get.header)
		}
	}
}

func TestAssetsAreKeptUnderTheURLThatPagesHave(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	style := regexp.MustCompile(`href="\./(assets/style\.css\?v=[0-9a-f]+)"`).
		FindStringSubmatch(s.get(t, "/.links/", asAnn, asHTML).body)
	got := s.get(t, "/.links/"+style[1], asAnn)
	if got.header.Get("Cache-Control") != "private, max-age=31536000, immutable" {
		t.Errorf("the stylesheet has Cache-Control %q", got.header.Get("Cache-Control"))
	}
	again := s.get(t, "/.links/"+style[1], asAnn, "If-None-Match: "+got.header.Get("ETag"))
	if again.status != 304 || s.get(t, "/.links/assets/none.css", asAnn).status != 404 {
		t.Errorf("asked again: %d", again.status)
	}
}

func TestExportsHaveAllRulesAndTheirDigestAsETag(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	digest := s.digestOnPage(t)
	for target, want := range map[string]string{
		"export.json": `"secret/plan": {"to":"https://plans.example","status":301,`,
		"export.csv":  "secret/plan,https://plans.example,301,",
	} {
		got := s.get(t, "/.links/"+target, asAnn)
		got.wants(t, 200, want)
		if got.header.Get("ETag") != `"`+digest+`"` {
			t.Errorf("%s has ETag %s, want the digest %s", target, got.header.Get("ETag"), digest)
		}
		s.get(t, "/.links/"+target, asAnn, `If-None-Match: "`+digest+`"`).wants(t, 304)
	}
	s.get(t, "/.links/export.redirects", asAnn).wants(t, 404)
}

// digestOnPage returns the digest of the rules, as the page tells it.
func (s *server) digestOnPage(t *testing.T) string {
	t.Helper()
	var home struct{ Status struct{ Digest string } }
	mustDo(t, json.Unmarshal([]byte(s.get(t, "/.links/", asAnn, asJSON).body), &home))
	return home.Status.Digest
}

func TestAnAddressBarFindsTheSearchWhereThePageStands(t *testing.T) {
	s, file := servePage(t, someRules, "")
	s.get(t, "/.links/opensearch.xml", asAnn).wants(t, 200,
		`template="http://go.example/.links/?q={searchTerms}"`)
	s.load(t, fmt.Sprintf(`shortlink {
		from file %s
		name go
	}
	handle_path /tools/* {
		shortlink_page {
			handler go
			read everyone
		}
	}`, file))
	s.get(t, "/tools/.links/opensearch.xml").wants(t, 200,
		`template="http://go.example/tools/.links/?q={searchTerms}"`)
	s.get(t, "/tools/.links/", asHTML).wants(t, 200, `action="./"`, `href="./assets/style.css`)
	s.get(t, "/tools/.links/key/secret/plan", asHTML).wants(t, 200, `action="../../"`)
	if got := s.get(t, "/tools/.links").location(); got != "308 ./.links/" {
		t.Errorf("the path without its slash: %s", got)
	}
}

func TestWhatLeadsSomewhereAndWhatNobodyNeedsCanBeSearched(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	s.get(t, "/.links/?q=to:https://docs.example/handbook%3Flang=en%23top", asAnn).wants(t, 200,
		"docs https://", "d /docs")
	unused := s.get(t, "/.links/?q=unused:1m", asAnn)
	unused.wants(t, 200, "docs https://", "old gone")
	s.get(t, "/d")
	if used := s.get(t, "/.links/?q=unused:1m", asAnn); strings.Contains(used.body, "docs") {
		t.Errorf("unused, though it was used through another:\n%s", used.body)
	}
	s.get(t, "/.links/?q=unused:soon", asAnn).wants(t, 400, "such as unused:90d")
	s.get(t, "/.links/?q=to:", asAnn).wants(t, 400, "to: takes a URL or a path")
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
		got := s.get(t, "/.links/?q=k&after="+url.QueryEscape(after), asAnn, asJSON)
		mustDo(t, json.Unmarshal([]byte(got.body), &found))
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
	write(t, file, someRules)
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
		"somebody who may not write": {guard: signIn, options: "write nobody",
			header: []string{asAnn}, read: 200, write: 403},
		"everyone may read, and nobody may write": {options: "read everyone\nwrite nobody", read: 200,
			write: 403},
		"everyone may read, and somebody may write": {guard: signIn, options: "read everyone",
			header: []string{asAnn}, read: 200, write: 201},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, fmt.Sprintf("shortlink {\nfrom file %s\n}\n%s\nshortlink_page {\n%s\n}", file,
				tt.guard, tt.options))
			write(t, file, someRules)
			s.get(t, "/.links/key/docs", append(tt.header, asHTML)...).wants(t, tt.read)
			s.get(t, "/.links/assets/style.css", tt.header...).wants(t, 200) // no secret
			header := append(tt.header, "Content-Type: application/x-www-form-urlencoded",
				"Content-Length: 28")
			got := s.raw(t, "POST", "POST /.links/new HTTP/1.1\r\nHost: go.example\r\n"+lines(header)+
				"Connection: close\r\n\r\nkey=fresh&to=https://x.test/")
			got.wants(t, tt.write)
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
		got := s.get(t, guarded, asHTML)
		if strings.Contains(got.body, "docs.example") {
			t.Errorf("%s shows a link to nobody: %d", guarded, got.status)
		}
	}
	// the page refuses these spellings itself, also where nothing guards it
	s.load(t, strings.ReplaceAll(pageBlock(file, "read everyone"), "basic_auth /.links*",
		"basic_auth /nowhere"))
	for _, unclean := range []string{
		"/.links/key/../../x", "/.links/key/a%2F..%2F..%2F..%2Fx", "/.links//", "/.links/./",
		"/.links/key//docs", "/.links/key/docs//", "/.links/key/%2e/docs", "/.links/key/a/%252e%252e/b",
	} {
		s.get(t, unclean, asHTML).wants(t, 404)
	}
}

func TestOtherRequestsPassThePage(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	for _, target := range []string{"/", "/other", "/x/.links/", "/.link"} {
		if got := s.get(t, target); !strings.HasPrefix(got.body, "GET "+target) {
			t.Errorf("%s got %d %s", target, got.status, got.body)
		}
	}
	if got := s.get(t, "/d").location(); got != "302 https://docs.example/handbook?lang=en#top" {
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
		got := s.get(t, "/.links/"+target, asAnn, asHTML)
		body := regexp.MustCompile(`<script src="[./]*assets/script.js\?v=[0-9a-f]+" defer></script>`).
			ReplaceAllString(got.body, "")
		body = inputField.ReplaceAllString(body, "") // what is to be edited stays what it is
		if strings.Contains(body, "<script") || strings.Contains(body, `href="javascript:`) {
			t.Errorf("%s: a text became markup:\n%s", target, got.body)
		}
		if strings.Contains(body, "\u202e") {
			t.Errorf("%s: an override of direction came through:\n%s", target, got.body)
		}
		if got.status >= 500 {
			t.Errorf("%s: status %d", target, got.status)
		}
	}
}

func TestWithSeveralHandlersEachPageShowsItsOwn(t *testing.T) {
	s := serve(t, `
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
	s.get(t, "/.links/?q=").wants(t, 200, "a https://a.example")
	s.get(t, "/.second/?q=").wants(t, 200, "b https://b.example")
	s.get(t, "/.which/").wants(t, 503, "there are: first, second")
}

func TestARuleThatHidesThePageIsAWarningWhereverItIsChecked(t *testing.T) {
	const want = "the rule answers /.links, which the links page does not get then; put a rule " +
		`".links pass" beside it`
	file := filepath.Join(t.TempDir(), "links.json")
	write(t, file, `{"{x}": "https://search.test/?q={x}"}`)
	config := filepath.Join(t.TempDir(), "Caddyfile")
	write(t, config, fmt.Sprintf("http://go.example {\n%s\n}\n", pageBlock(file, "")))
	out, _ := shortlink.Run([]string{"shortlink", "check", "--config", config}, "")
	if !strings.Contains(out, want) {
		t.Errorf("check says\n%s\nwant %s", out, want)
	}
	write(t, file, `{"{x}": "https://search.test/?q={x}", ".links": "pass"}`)
	out, _ = shortlink.Run([]string{"shortlink", "check", "--config", config}, "")
	if strings.Contains(out, "links page") {
		t.Errorf("check says of a page that is free\n%s", out)
	}
}

func TestTheLogWarnsOfRulesThatHideThePage(t *testing.T) {
	dir := t.TempDir()
	s := &liveServer{links: filepath.Join(dir, "links.json"), log: filepath.Join(dir, "caddy.log")}
	write(t, s.links, `{"{x}": "https://search.test/?q={x}"}`)
	block := strings.Replace(pageBlock(s.links, ""), "from file "+s.links,
		"from file "+s.links+" {\npoll 5ms\n}", 1)
	s.server = serveWith(t, logTo(s.log), block)
	s.logged(t, 1, "hides the links page")
	write(t, s.links, `{"{x}": "https://search.test/?q={x}", ".links": "pass"}`)
	s.logged(t, 1, "rules swapped")
	write(t, s.links, `{"{+x}": "https://search.test/?q={x}"}`)
	s.logged(t, 2, "hides the links page")
}

func TestTheLogSaysWhereAPageIsInTheWay(t *testing.T) {
	for name, tt := range map[string]struct{ block, want string }{
		"behind it stands another": {"shortlink\nshortlink_page {\nmisses\n}\nrespond x",
			"the handlers behind it are never asked"},
		"another is in its route": {"route {\nshortlink\nshortlink_page {\nmisses\n}\nrespond x\n}",
			"the handlers behind it are never asked"},
		"it is last":           {"route {\nrespond /x x\nshortlink\nshortlink_page {\nmisses\n}\n}", ""},
		"it has a matcher":     {"shortlink\nshortlink_page /a/* {\nmisses\n}\nrespond x", ""},
		"it leaves others be":  {"shortlink\nshortlink_page\nrespond x", ""},
		"it has its own block": {"handle /a/* {\nshortlink\nshortlink_page {\nmisses\n}\n}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := &liveServer{log: filepath.Join(t.TempDir(), "caddy.log")}
			s.server = serveWith(t, logTo(s.log), tt.block)
			if tt.want != "" {
				s.logged(t, 1, tt.want)
				return
			}
			s.get(t, "/anything") // Caddy has started, and whatever there is to say is said
			if content := rulesOf(t, s.log); strings.Contains(content, "shortlink_page") {
				t.Errorf("the log says\n%s", content)
			}
		})
	}
}

func TestBehindForwardAuthTheNameIsThatOfTheServerThatSaysIt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "links.json")
	write(t, file, someRules)
	authenticator := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Cookie") != "session=1" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Remote-User", "bob")
	}))
	t.Cleanup(authenticator.Close)
	s := serve(t, fmt.Sprintf(`route {
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
	}`, file, authenticator.URL))
	s.get(t, "/.links/", "Remote-User: eve", asHTML).wants(t, 401)
	s.get(t, "/.links/", "Remote-User: eve", "Cookie: session=1", asHTML).
		wants(t, 200, "Signed in as <b><bdi>bob</bdi></b>")
	if got := s.get(t, "/nothing", "Remote-User: eve", asHTML); strings.Contains(got.body, "new?key") {
		t.Error("a header that anybody can send makes somebody:", got.body)
	}
}

func TestAPageCanHaveAHandlePathForItself(t *testing.T) {
	s := serve(t, `shortlink {
		docs https://docs.example
	}
	handle_path /links/* {
		shortlink_page {
			path /
			read everyone
		}
	}
	redir /links /links/`)
	s.get(t, "/links/", asHTML).wants(t, 200, `href="./?q="`)
	s.get(t, "/links/key/docs", asHTML).wants(t, 200, "https://docs.example")
	s.get(t, "/links/opensearch.xml").wants(t, 200,
		`template="http://go.example/links/?q={searchTerms}"`)
}

func TestAKeyWithAnEncodedSlashLeadsToTheSamePage(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	s.get(t, "/.links/key/secret%2Fplan", asAnn, asHTML).wants(t, 200, "https://plans.example",
		`href="../assets/style.css`)
	s.get(t, "/.links/key/a%2F..%2Fb", asAnn, asHTML).wants(t, 404, `href="../assets/style.css`)
}

func TestKeysThatPathsDoNotHoldHaveAPage(t *testing.T) {
	s, _ := servePage(t, `{"a//b": "https://x.test/1", "a%2Fb": "https://x.test/2",
		"what%3F": "https://x.test/3", "c d": "https://x.test/4", "50%25": "https://x.test/5",
		"größe": "https://x.test/6", "a:b": "https://x.test/7", "x/": "https://x.test/8", "+": "https://x.test/9"}`, "")
	found := s.get(t, "/.links/?q=", asAnn, asHTML)
	links := regexp.MustCompile(`class="key" href="\./([^"]*)"`).FindAllStringSubmatch(found.body, -1)
	if len(links) != 9 {
		t.Fatalf("%d links of 9:\n%s", len(links), found.body)
	}
	seen := map[string]bool{}
	for _, link := range links {
		got := s.get(t, "/.links/"+html.UnescapeString(link[1]), asAnn, asHTML)
		got.wants(t, 200, "https://x.test/")
		to := regexp.MustCompile(`https://x\.test/\d`).FindString(got.body)
		if seen[to] {
			t.Errorf("%s shows the page of another key, which leads to %s", link[1], to)
		}
		seen[to] = true
		form := s.formOf(t, "/.links/"+html.UnescapeString(link[1])+querySeparator(link[1])+"edit")
		form.Set("to", to+"/new")
		action := regexp.MustCompile(`action="([^"]*key/[^"]*)"`).FindStringSubmatch(
			s.get(t, "/.links/"+html.UnescapeString(link[1])+querySeparator(link[1])+"edit", asAnn,
				asHTML).body)[1]
		target := "/.links/" + strings.TrimLeft(html.UnescapeString(action), "./")
		if got := s.post(t, target, form.Encode(), asHTML); got.status != 303 {
			t.Errorf("the edit of %s at %s was answered with %d:\n%s", link[1], target, got.status, got.body)
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
	write(t, file, someRules)
	s := serve(t, fmt.Sprintf(`basic_auth /hp/.links* {
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
		got := s.get(t, target, asHTML)
		if strings.Contains(got.body+got.header.Get("Location"), "docs.example") ||
			strings.Contains(got.body+got.header.Get("Location"), "//evil.example") {
			t.Errorf("%s: %s\n%s", target, got.location(), got.body)
		}
	}
	s.get(t, "/hp/.links/", asAnn, asHTML).wants(t, 200)
	if got := s.get(t, "/hp/docs+").location(); got != "303 /hp/.links/key/docs" {
		t.Error("the page of a key is at", got)
	}
}

func TestWithoutANameThePageIsOfTheHandlerAtItsHost(t *testing.T) {
	s := &server{addr: freeAddress(t)}
	t.Cleanup(func() { caddy.Stop() })
	_, port, _ := net.SplitHostPort(s.addr)
	site := func(host string) string {
		return fmt.Sprintf(
			"http://%s:%s {\nshortlink {\nlink https://%s/\n}\nshortlink_page {\nread everyone\n}\n}\n",
			host, port, host)
	}
	adapted, err := adapt(fmt.Sprintf("{\nadmin off\npersist_config off\ndefault_bind 127.0.0.1\n"+
		"storage file_system %q\n}\n", storageDir(t)) + site("a.test") + site("b.test"))
	mustDo(t, err)
	mustDo(t, caddy.Load(adapted, true))
	for _, host := range []string{"a.test", "b.test"} {
		s.raw(t, "GET", "GET /.links/?q= HTTP/1.1\r\nHost: "+host+"\r\nConnection: close\r\n\r\n").
			wants(t, 200, "link https://"+host+"/")
	}
}
