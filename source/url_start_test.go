package source_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

func TestAStoredCopyStandsInWhileTheURLCannotBeFetchedAtAStart(t *testing.T) {
	for name, fault := range map[string]http.HandlerFunc{
		"an error": answer(503, ""), "a page": answer(200, "Sign in", "Content-Type", "text/html"),
		"no answer": hang,
	} {
		t.Run(name, func(t *testing.T) {
			o := startOrigin(t, "/links.json", oldRules)
			s := &testcaddy.Follower{Log: t.TempDir() + "/caddy.log"}
			s.Server = &testcaddy.Server{Storage: testcaddy.StorageDir(t), Options: testcaddy.LogTo(s.Log)}
			t.Cleanup(func() { testcaddy.Must(t, caddy.Stop()) })
			block := urlBlock(o.URL+"/links.json", "timeout 2s")
			s.Load(t, block)
			testcaddy.Must(t, caddy.Stop()) // which stores the copy
			o.fail(fault)
			s.Load(t, block)
			s.Leads(t, "/a", "302 https://old.example/")
			s.Logged(t, 1, "a source cannot be read; serving the stored copy of its rules")
			o.put("/links.json", newRules)
			o.fail(nil)
			s.Eventually(t, "/a", "302 https://new.example/")
		})
	}
}

func TestAStartWithoutACopySaysWhatIsWrong(t *testing.T) {
	o := startOrigin(t)
	s := &testcaddy.Server{Addr: testcaddy.FreeAddress(t)}
	err := s.TryToLoad(t, urlBlock(o.URL+"/links.json", ""))
	want := "source " + o.URL + "/links.json: " + hostOf(t, o.URL) + ": it answers 404 Not Found"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v", err)
	}
}

func TestAReloadOfTheAdminEndpointFetchesTheRulesAtOnce(t *testing.T) {
	o := startOrigin(t, "/links.json", oldRules)
	s := testcaddy.Administer(t, "",
		"shortlink {\n name links\n from test_url "+o.URL+"/links.json {\n poll 1h\n }\n }")
	o.put("/links.json", newRules)
	if got := s.Ask(t, "POST", "links/reload", ""); got.Status != 200 {
		t.Errorf("a reload is answered with %d %s", got.Status, got.Body)
	}
	s.Leads(t, "/a", "302 https://new.example/")
}

func TestAnETagThatLiesIsFoundOutByTheTextOrAReload(t *testing.T) {
	var text atomic.Pointer[string]
	var isNew atomic.Bool
	var n atomic.Int64
	put := func(rules string) { text.Store(&rules) }
	put(oldRules)
	o := startOrigin(t)
	o.fail(func(w http.ResponseWriter, r *http.Request) {
		tag := `"the same"`
		if isNew.Load() {
			tag = fmt.Sprintf(`"%d"`, n.Add(1))
		}
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = fmt.Fprint(w, *text.Load())
	})
	s := &testcaddy.Follower{Log: t.TempDir() + "/caddy.log"}
	s.Server = testcaddy.Administer(t, testcaddy.LogTo(s.Log), urlBlock(o.URL+"/links.json",
		"timeout 1m"))
	put(newRules) // under the old ETag
	o.awaitRequests(t, 3)
	s.Leads(t, "/a", "302 https://old.example/")
	s.Ask(t, "POST", "links/reload", "")
	s.Leads(t, "/a", "302 https://new.example/")

	isNew.Store(true) // for each response, of the same text
	swaps := s.TimesLogged(t, "rules swapped")
	o.awaitRequests(t, 5)
	if again := s.TimesLogged(t, "rules swapped"); again != swaps {
		t.Errorf("there are %d swaps of the same rules", again-swaps)
	}
	if s.TimesLogged(t, testcaddy.Rejected) > 0 {
		t.Error("something is rejected")
	}
}

func TestAnAnswer304ToARequestWithoutAConditionIsAnError(t *testing.T) {
	o := startOrigin(t)
	o.fail(answer(304, ""))
	s := &testcaddy.Server{Addr: testcaddy.FreeAddress(t)}
	err := s.TryToLoad(t, urlBlock(o.URL+"/links.json", ""))
	if err == nil || !strings.Contains(err.Error(), "it answers 304 Not Modified") {
		t.Errorf("the error is %v", err)
	}
}

func TestTheTimeOfAChangeIsAskedForWhereThereIsNoETag(t *testing.T) {
	changed := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Format(http.TimeFormat)
	o := startOrigin(t)
	o.fail(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Last-Modified", changed)
		if r.Header.Get("If-Modified-Since") == changed {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = fmt.Fprint(w, oldRules)
	})
	followURL(t, o.URL+"/links.json", "")
	o.awaitRequests(t, 2)
	if got := o.requests()[1].Header.Get("If-Modified-Since"); got != changed {
		t.Errorf("the second request says %q", got)
	}
}

func TestRulesComeInAnyFormatAndCoding(t *testing.T) {
	const table, lines = "key,destination\na,https://a.example\n", "/a https://a.example\n"
	for name, tt := range map[string]struct {
		path, options string
		answer        http.HandlerFunc
	}{
		"by the type":            {"/links", "", answer(200, table, "Content-Type", "text/csv; charset=utf-8")},
		"by the type of JSON":    {"/links.csv", "", answer(200, rulesOf("a", "https://a.example"), "Content-Type", "application/vnd.x+json")},
		"by the path":            {"/_redirects?raw=1", "dialect cloudflare", answer(200, lines, "Content-Type", "text/plain")},
		"by format":              {"/links.json", "format csv", answer(200, table, "Content-Type", "application/json")},
		"by nothing":             {"/", "", answer(200, rulesOf("a", "https://a.example"), "Content-Type", "application/octet-stream")},
		"compressed by gzip":     {"/links.csv", "", answer(200, gzipped(t, table), "Content-Type", "text/plain", "Content-Encoding", "gzip")},
		"compressed by zstd":     {"/links.csv", "", answer(200, zstandard(t, table), "Content-Type", "text/plain", "Content-Encoding", "zstd")},
		"a page that has format": {"/", "format csv", answer(200, table, "Content-Type", "text/html")},
	} {
		t.Run(name, func(t *testing.T) {
			o := startOrigin(t)
			o.fail(tt.answer)
			s := followURL(t, o.URL+tt.path, tt.options)
			s.Leads(t, "/a", "302 https://a.example/")
			if got := o.requests()[0].Header.Get("Accept-Encoding"); got != "zstd,gzip" {
				t.Errorf("the request accepts %q", got)
			}
		})
	}
}

func TestRulesThatFailTheExpectationsOfAnotherURLDoNotServe(t *testing.T) {
	o := startOrigin(t, "/links.json", oldRules, "/expect.json", `{"/a": "https://old.example"}`)
	s := followURL(t, o.URL+"/links.json", "timeout 1m\n expect "+o.URL+"/expect.json")
	o.put("/links.json", newRules)
	s.Logged(t, 1, "/expect.json:1:2: expect /a https://old.example: it is https://new.example/")
	s.Leads(t, "/a", "302 https://old.example/")
	o.put("/expect.json", `{"/a": "https://new.example"}`)
	s.Eventually(t, "/a", "302 https://new.example/")
}

func TestAnOutageOfAURLIsSeenAndItsEndToo(t *testing.T) {
	o := startOrigin(t, "/links.json", oldRules)
	s := testcaddy.Administer(t, "", urlBlock(o.URL+"/links.json", "timeout 1m"))
	up := fmt.Sprintf(`caddy_shortlink_source_up{name="links",source="%s/links.json"}`, o.URL)
	await := func(gauge, said string) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
			status, _ := s.Command("status")
			if s.Scrape(t)[up] == gauge && strings.Contains(status, said) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("the gauge is %s, and status says %s", s.Scrape(t)[up], status)
			}
		}
	}
	await("1", o.URL+"/links.json\n")
	o.fail(answer(503, ""))
	await("0", "it answers 503 Service Unavailable")
	o.fail(nil)
	await("1", o.URL+"/links.json\n")
}

func TestACommandReadsTheRulesOfAURLOrTheStoredCopyOfThem(t *testing.T) {
	o := startOrigin(t, "/links.json", "{\n\"a\": \"https://old.example\",\n\"b\": \"/b/c\"\n}")
	s := &testcaddy.Server{Storage: testcaddy.StorageDir(t)}
	block := urlBlock(o.URL+"/links.json", "timeout 1m")
	config := t.TempDir() + "/Caddyfile"
	testcaddy.Write(t, config, "{\n storage file_system "+s.Storage+"\n}\nhttp://go.example {\n "+block+"\n}\n")
	said, status := testcaddy.Run([]string{"shortlink", "check", "--config", config}, "")
	if want := o.URL + "/links.json:3:1: "; status != 1 || !strings.Contains(said, want) {
		t.Errorf("check says %q, %d, and not %s", said, status, want)
	}
	if got := o.requests()[0].UserAgent(); got != "caddy-shortlink/devel (command)" {
		t.Errorf("the User-Agent of check is %q", got)
	}
	o.put("/links.json", oldRules)
	s.Load(t, block)
	testcaddy.Must(t, caddy.Stop())
	o.fail(answer(503, ""))
	said, status = testcaddy.Run([]string{"shortlink", "check", "--config", config}, "")
	if status != 0 || !strings.Contains(said, "it cannot be reached, and a stored copy of its rules") {
		t.Errorf("check says %q, %d", said, status)
	}
	said, status = testcaddy.Run([]string{"shortlink", "resolve", "--config", config, "http://go.example/a"}, "")
	if status != 0 || !strings.Contains(said, "https://old.example/") {
		t.Errorf("resolve says %q, %d", said, status)
	}
}
