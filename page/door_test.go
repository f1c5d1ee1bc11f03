package page_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

func TestTheRootOfASiteOfLinksLeadsToThePage(t *testing.T) {
	s, file := servePage(t, `{"docs": "https://docs.example"}`, "misses")
	for _, target := range []string{"/", "/?utm=1"} {
		for _, header := range []string{testcaddy.AsHTML, testcaddy.AsJSON, "Accept: */*"} {
			got := s.Get(t, target, header)
			if got.Location() != "302 /.links/" || got.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s, %s: %s, %v", target, header, got.Location(), got.Header)
			}
		}
	}
	head := s.Raw(t, "HEAD", "HEAD / HTTP/1.1\r\nHost: go.example\r\nConnection: close\r\n\r\n")
	if head.Location() != "302 /.links/" {
		t.Error("HEAD is answered with", head.Location())
	}
	s.Raw(t, "POST", "POST / HTTP/1.1\r\nHost: go.example\r\nConnection: close\r\n\r\n").Wants(t, 404)

	s.Load(t, "handle_path /team* {\n"+testcaddy.PageBlock(file, "misses")+"\n}")
	if got := s.Get(t, "/team/").Location(); got != "302 /team/.links/" {
		t.Error("below a path, the root leads to", got)
	}
	if got := s.Get(t, "/team").Location(); got != "302 /team/.links/" {
		t.Error("without its slash, it leads to", got)
	}
	s.Load(t, "route {\nrespond / \"our own index\"\n"+testcaddy.PageBlock(file, "misses")+"\n}")
	s.Get(t, "/").Wants(t, 200, "our own index")
}

func TestAMissLooksLikeThePageAndLeadsToASearch(t *testing.T) {
	s, _ := servePage(t, `{"handbook": "https://docs.example"}`, "misses")
	got := s.Get(t, "/a/handbok", testcaddy.AsHTML)
	got.Wants(t, 404, `<a class="brand" href="/.links/">go</a>`,
		`<form role="search" action="/.links/">`, `type="search" value="a/handbok"`,
		`href="/handbook"`, ".button {")
	_, style, _ := strings.Cut(got.Body, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	sum := sha256.Sum256([]byte(style))
	for name, want := range map[string]string{
		"Content-Security-Policy": "default-src 'none'; style-src 'sha256-" +
			base64.StdEncoding.EncodeToString(sum[:]) + "'; img-src data:; " +
			"form-action 'self' https:; base-uri 'none'; frame-ancestors 'none'",
		"X-Robots-Tag": "noindex, nofollow", "Cache-Control": "no-store",
	} {
		if is := got.Header.Get(name); is != want {
			t.Errorf("it has %s %q, want %q", name, is, want)
		}
	}
	if strings.Contains(got.Body, "assets/") || strings.Contains(got.Body, "<script") {
		t.Errorf("it asks for files that are guarded, or has a script:\n%s", got.Body)
	}
}

// guards are the two set-ups that docs show: who has no name is asked for one below /.links alone.
func guards(t *testing.T) map[string]struct{ guard, options, name string } {
	return map[string]struct{ guard, options, name string }{
		"basic_auth": {guard: testcaddy.SignIn, name: testcaddy.AsAnn},
		"forward_auth": {
			guard: fmt.Sprintf("request_header -Remote-User\nforward_auth /.links* %s {\nuri /\n"+
				"copy_headers Remote-User\n}", authenticator(t)),
			options: "user {header.Remote-User}", name: "Cookie: session=1",
		},
	}
}

func TestWhoMissesALinkCanMakeIt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "links.json")
	for name, tt := range guards(t) {
		t.Run(name, func(t *testing.T) {
			testcaddy.Write(t, file, `{"docs": "https://docs.example"}`)
			s := testcaddy.Serve(t, fmt.Sprintf("route {\n%s\nshortlink {\nfrom file %s\n}\n"+
				"shortlink_page {\nmisses\n%s\n}\n}", tt.guard, file, tt.options))
			for path, key := range map[string]string{
				"/team/menu": "team/menu", "/team/menu/": "team/menu", "/c%2B%2B?x=1": "c++",
			} {
				miss := s.Get(t, path, testcaddy.AsHTML)
				miss.Wants(t, 404, "Make this link")
				form := html.UnescapeString(regexp.MustCompile(`href="(/\.links/new\?key=[^"]*)"`).
					FindStringSubmatch(miss.Body)[1])
				s.Get(t, form, testcaddy.AsHTML).Wants(t, 401)
				filledIn := s.Get(t, form, tt.name, testcaddy.AsHTML)
				filledIn.Wants(t, 200, `method="post"`)
				if got := testcaddy.FieldsOf(filledIn.Body).Get("key"); got != key {
					t.Errorf("who misses %s can make the link %q, want %q", path, got, key)
				}
			}
		})
	}
}

func TestNobodyIsInvitedToMakeALinkWhereNobodyCan(t *testing.T) {
	file := filepath.Join(t.TempDir(), "links.json")
	testcaddy.Write(t, file, `{"docs": "https://docs.example"}`)
	for name, block := range map[string]string{
		"write nobody": testcaddy.PageBlock(file, "misses\nwrite nobody"),
		"inline rules": "shortlink {\ndocs https://docs.example\n}\nshortlink_page {\nmisses\n}",
		"handlers that share a name": "shortlink {\nfrom file " + file + "\n}\nhandle /x/* {\n" +
			"shortlink {\nx https://x.example\nfrom file " + file + "\n}\n}\n" +
			"shortlink_page {\nhandler shortlink\nmisses\n}",
	} {
		t.Run(name, func(t *testing.T) {
			got := testcaddy.Serve(t, block).Get(t, "/nothing", testcaddy.AsHTML)
			if got.Wants(t, 404, "No such link"); strings.Contains(got.Body, "new?key=") {
				t.Error("a miss invites to make a link:", got.Body)
			}
		})
	}
}

func TestTheStartPageSaysHowLinksAreUsed(t *testing.T) {
	s, file := servePage(t, someRules, "")
	home := s.Get(t, "/.links/", testcaddy.AsAnn, testcaddy.AsHTML)
	home.Wants(t, 200, "<code>go.example/<i>name</i></code>", "<code>http://go.example/%s</code>",
		"<code>http://go.example/.links/?q=%s</code>", "5 links")
	s.Get(t, "/d")
	s.Get(t, "/.links/", testcaddy.AsAnn, testcaddy.AsHTML).
		Wants(t, 200, "1 redirect in the last 30 days")

	s.Load(t, strings.Replace(testcaddy.PageBlock(file, ""), "name go",
		"name go\norigin https://go.corp.example", 1))
	s.Get(t, "/.links/", testcaddy.AsAnn, testcaddy.AsHTML).
		Wants(t, 200, "<code>go.corp.example/<i>name</i></code>",
			"<code>https://go.corp.example/%s</code>")
}

// bookmarklet returns the script of the bookmark that the start page offers.
func bookmarklet(t *testing.T, page string) string {
	t.Helper()
	found := regexp.MustCompile(`href="javascript:([^"]*)"`).FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("no bookmark is offered:\n%s", page)
	}
	script, err := url.PathUnescape(html.UnescapeString(found[1]))
	testcaddy.Must(t, err)
	return script
}

func TestABookmarkOpensTheFormForTheShownPage(t *testing.T) {
	s, file := servePage(t, someRules, "")
	got := s.Get(t, "/.links/", testcaddy.AsAnn, testcaddy.AsHTML)
	if script := bookmarklet(t, got.Body); !strings.Contains(script,
		"'http://go.example/.links/new?to\\u003D'+encodeURIComponent(location.href)") {
		t.Error("the bookmark runs", script)
	}
	s.Get(t, "/.links/new?to=https://x.test/%3Fa&note=A+page", testcaddy.AsAnn, testcaddy.AsHTML).
		Wants(t, 200, `name="to" value="https://x.test/?a"`, `name="note" value="A page"`)

	// what a client sends as its path cannot end the text in the script
	s.Load(t, fmt.Sprintf("shortlink {\nfrom file %s\n}\nroute /a* {\nuri path_regexp ^/[^/]* \"\"\n"+
		"shortlink_page {\nuser {header.Remote-User}\n}\n}", file))
	whole := regexp.MustCompile(`^void\(location\.href='([^'\\]|\\.)*'\+encodeURIComponent` +
		`\(location\.href\)\+'&note='\+encodeURIComponent\(document\.title\.slice\(0,160\)\)\)$`)
	for _, path := range []string{"/a'-alert(1)-'", "/a%27-alert(1)-%27", "/a%2527-alert(1)-%2527"} {
		got := s.Get(t, path+"/.links/", "Remote-User: ann", testcaddy.AsHTML)
		if script := bookmarklet(t, got.Body); !whole.MatchString(script) {
			t.Errorf("%s: the bookmark runs %s", path, script)
		}
	}

	s.Load(t, testcaddy.PageBlock(file, "write nobody"))
	got = s.Get(t, "/.links/", testcaddy.AsAnn, testcaddy.AsHTML)
	if strings.Contains(got.Body, "javascript:") {
		t.Error("a bookmark is offered where nobody can make a link:", got.Body)
	}
}

func TestAnEmptyServiceShowsHowToMakeTheFirstLink(t *testing.T) {
	s, file := servePage(t, `{}`, "")
	got := s.Get(t, "/.links/", testcaddy.AsAnn, testcaddy.AsHTML)
	got.Wants(t, 200, "There are no links yet", `href="./new">Make the first link</a>`,
		`href="./import">Import a table</a>`)
	for _, empty := range []string{"None", "Most used", "Last changed", "No redirects"} {
		if strings.Contains(got.Body, empty) {
			t.Errorf("an empty service says %q:\n%s", empty, got.Body)
		}
	}
	s.Load(t, testcaddy.PageBlock(file, "write nobody"))
	got = s.Get(t, "/.links/", testcaddy.AsAnn, testcaddy.AsHTML)
	got.Wants(t, 200, "There are no links yet", "this page only shows links (write nobody)")
	if strings.Contains(got.Body, "Make the first link") {
		t.Error("somebody who may not edit is invited to:", got.Body)
	}
}

func TestTheStartPageOfAServiceThatNobodyHasUsedYetListsItsLinks(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	got := s.Get(t, "/.links/", testcaddy.AsAnn, testcaddy.AsHTML)
	got.Wants(t, 200, `<table class="links" aria-label="Links by key">`, `href="./key/docs"`)
	lacks(t, got, "All links</a></p>") // these are all
	s.Get(t, "/.links/", testcaddy.AsAnn, testcaddy.AsJSON).Wants(t, 200, `"first":[{"key":"d",`)
	s.Get(t, "/.links/", testcaddy.AsAnn).Wants(t, 200, "\nd /docs\n")

	s.Get(t, "/d", testcaddy.AsHTML).Wants(t, 302)
	got = s.Get(t, "/.links/", testcaddy.AsAnn, testcaddy.AsHTML)
	got.Wants(t, 200, "Most used")
	lacks(t, got, "Links by key")
}

func TestTheStartPageOfAServiceThatNobodyHasUsedYetLeadsToAllOfManyLinks(t *testing.T) {
	var many []string
	for i := range 11 {
		many = append(many, fmt.Sprintf(`"k%d": "https://k.example/"`, i))
	}
	s, _ := servePage(t, "{"+strings.Join(many, ",")+"}", "")
	got := s.Get(t, "/.links/", testcaddy.AsAnn, testcaddy.AsHTML)
	got.Wants(t, 200, `<p><a href="./?q=">All links</a></p>`)
	if n := strings.Count(got.Body, `class="key"`); n != 10 {
		t.Errorf("%d links are listed", n)
	}
}

func TestWhatServesHasAPageOfItsOwn(t *testing.T) {
	s, file := servePage(t, someRules, "")
	digest := digestOnPage(t, s)
	home := s.Get(t, "/.links/", testcaddy.AsAnn, testcaddy.AsHTML)
	home.Wants(t, 200, `href="./serving">What serves</a>`)
	if strings.Contains(home.Body, digest) || strings.Contains(home.Body, file) {
		t.Error("the start page shows the digest or sources:", home.Body)
	}
	s.Get(t, "/.links/serving", testcaddy.AsAnn, testcaddy.AsHTML).
		Wants(t, 200, "<h1>What serves</h1>", digest, file, "edits go here", "<dd>5</dd>")
	s.Get(t, "/.links/serving", testcaddy.AsAnn, testcaddy.AsJSON).
		Wants(t, 200, `"digest":"`+digest+`"`, `"writable":true`, `"loaded":"20`)
	s.Get(t, "/.links/serving", testcaddy.AsAnn).
		Wants(t, 200, "5 rules, digest "+digest+"\n", "loaded at 20", "from "+file)
	s.Get(t, "/.links/serving").Wants(t, 401)
}

func TestTheLastLoadIsTheOneThatServesAndARejectedOneIsAFault(t *testing.T) {
	dir := t.TempDir()
	s := &testcaddy.Follower{Links: filepath.Join(dir, "links.json"),
		Log: filepath.Join(dir, "caddy.log")}
	testcaddy.Write(t, s.Links, someRules)
	s.Server = testcaddy.ServeWith(t, testcaddy.LogTo(s.Log), strings.Replace(
		testcaddy.PageBlock(s.Links, ""), "from file "+s.Links,
		"from file "+s.Links+" {\npoll 5ms\n}", 1))
	type serving struct {
		Loaded time.Time
		Status struct {
			LastLoad struct {
				Time          time.Time
				Result, Error string
			} `json:"last_load"`
		}
	}
	ask := func() (now serving) {
		got := s.Get(t, "/.links/serving", testcaddy.AsAnn, testcaddy.AsJSON)
		testcaddy.Must(t, json.Unmarshal([]byte(got.Body), &now))
		return now
	}
	good := ask()
	if good.Loaded.IsZero() || !good.Loaded.Equal(good.Status.LastLoad.Time) {
		t.Errorf("after a load: %+v", good)
	}
	testcaddy.Write(t, s.Links, `{"docs": "/docs"}`)
	s.Logged(t, 1, testcaddy.Rejected)
	bad := ask()
	if !bad.Loaded.Equal(good.Loaded) || !bad.Status.LastLoad.Time.After(good.Loaded) ||
		bad.Status.LastLoad.Result != "rejected" {
		t.Errorf("after a rejected load: %+v, before it: %+v", bad, good)
	}
	for _, page := range []string{"", "serving"} {
		s.Get(t, "/.links/"+page, testcaddy.AsAnn, testcaddy.AsHTML).
			Wants(t, 200, "The rules were rejected at", "older ones serve")
		s.Get(t, "/.links/"+page, testcaddy.AsAnn).Wants(t, 200, "rejected at ")
	}
	testcaddy.Write(t, s.Links, `{"docs": "https://docs.example"}`)
	s.Logged(t, 1, "rules swapped")
	if again := ask(); !again.Loaded.After(bad.Status.LastLoad.Time) {
		t.Errorf("after the next load: %+v", again)
	}
}

func TestTheStartPageNamesTheFirstBrokenRulesAndLeadsToTheOthers(t *testing.T) {
	loops := make([]string, 7)
	for i := range loops {
		loops[i] = fmt.Sprintf(`"loop%d": "/loop%d"`, i, i)
	}
	s, _ := servePage(t, "{"+strings.Join(loops, ",")+"}", "")
	home := s.Get(t, "/.links/", testcaddy.AsAnn, testcaddy.AsHTML)
	home.Wants(t, 200, "7 rules answered with an error", `<a href="./serving">More of them</a>`)
	all := s.Get(t, "/.links/serving", testcaddy.AsAnn, testcaddy.AsHTML)
	for page, want := range map[*testcaddy.Reply]int{&home: 5, &all: 7} {
		if n := strings.Count(page.Body, "<li><code><bdi>loop"); n != want {
			t.Errorf("%d of 7 rules are named, want %d:\n%s", n, want, page.Body)
		}
	}
	if strings.Contains(all.Body, "More of them") {
		t.Error("the page of all that is wrong leads to itself:", all.Body)
	}
}
