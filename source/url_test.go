package source_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

var quiet = log.New(io.Discard, "", 0)

const (
	oldRules = `{"a": "https://old.example"}`
	newRules = `{"a": "https://new.example"}`
)

func TestRulesOfAURLServeAndAreFollowed(t *testing.T) {
	o := startOrigin(t, "/links.json", oldRules)
	s := followURL(t, o.URL+"/links.json", "")
	s.Leads(t, "/a/x", "302 https://old.example/x")
	o.awaitRequests(t, 5)
	if n := o.timesSent(); n != 1 {
		t.Errorf("the rules are sent %d times, want once", n)
	}
	o.put("/links.json", newRules)
	s.Eventually(t, "/a", "302 https://new.example/")
	if n := o.timesSent(); n != 2 {
		t.Errorf("the rules are sent %d times, want one more", n)
	}
	for _, r := range o.requests() {
		if got := r.UserAgent(); got != "caddy-shortlink/devel (handler links)" {
			t.Fatalf("the User-Agent is %q", got)
		}
	}
}

// hang answers when nobody waits any more.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// answer returns a handler that answers with a status, header fields and a body.
func answer(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, text)
	testcaddy.Must(t, err)
	testcaddy.Must(t, w.Close())
	return b.String()
}

func zstandard(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b)
	testcaddy.Must(t, err)
	_, err = io.WriteString(w, text)
	testcaddy.Must(t, err)
	testcaddy.Must(t, w.Close())
	return b.String()
}

// Each fault comes while requests are served, stays for several polls, and goes.
func TestWhatServesGoesOnThroughAnyFaultOfAServer(t *testing.T) {
	bomb := strings.Repeat(" ", 8<<20)
	for name, tt := range map[string]struct {
		fault http.HandlerFunc
		told  string
	}{
		"not found":      {http.NotFound, "it answers 404 Not Found; check the path"},
		"internal error": {answer(500, "oops"), "it answers 500 Internal Server Error"},
		"unauthorized":   {answer(401, ""), "it answers 401 Unauthorized; check header, or user and password"},
		"too many requests": {answer(429, "", "Retry-After", "0"),
			"it answers 429 Too Many Requests; set a longer poll"},
		"no content":    {answer(204, ""), "it answers 204 No Content"},
		"part":          {answer(206, newRules), "it answers 206 Partial Content"},
		"an empty body": {answer(200, "", "Content-Length", "0"), "it is empty"},
		"hanging":       {hang, "no answer within 2s for all of it; if the server needs longer, set timeout"},
		"slow drip": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, " ")
				_ = http.NewResponseController(w).Flush()
				time.Sleep(10 * time.Millisecond)
			}
		}, "no answer within 2s for all of it"},
		"endless": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, strings.Repeat(" ", 1<<16))
			}
		}, "it is longer than 1.0 MiB; set max_size if that is meant"},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, newRules[:10])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, "the response was cut off"},
		"longer than it is": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, newRules)
		}, "the response was cut off"},
		"a page": {answer(200, "<html>Sign in</html>", "Content-Type", "text/html; charset=utf-8"),
			"it answers with a page, of Content-Type text/html: write the URL of the raw file"},
		"a page to sign in": {func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/login" {
				http.Redirect(w, r, "/login", http.StatusFound)
				return
			}
			answer(200, "<html>Sign in</html>", "Content-Type", "text/html")(w, r)
		}, "; a redirect leads there: check header, and whether one has to sign in"},
		"another format": {answer(200, "key,destination\na,https://new.example\n", "Content-Type", "application/json"),
			"/links.json:1:1: "},
		"half of it": {answer(200, newRules[:10]), "/links.json:1:"},
		"nothing":    {answer(200, "", "Content-Type", "application/json"), "it is empty"},
		"a bomb of gzip": {answer(200, gzipped(t, bomb), "Content-Encoding", "gzip"),
			"it is longer than 1.0 MiB"},
		"a bomb of zstd": {answer(200, zstandard(t, bomb), "Content-Encoding", "zstd"),
			"it is longer than 1.0 MiB"},
		"half of gzip": {answer(200, gzipped(t, newRules)[:20], "Content-Encoding", "gzip"),
			"the response was cut off"},
		"no zstd": {answer(200, newRules, "Content-Encoding", "zstd"),
			"its Content-Encoding is zstd, and its content is not"},
		"more than gzip": {answer(200, gzipped(t, newRules)+newRules, "Content-Encoding", "gzip"),
			"its Content-Encoding is gzip, and its content is not"},
		"two codings": {answer(200, gzipped(t, newRules), "Content-Encoding", "gzip, br"),
			"its Content-Encoding is \"gzip, br\"; let it be"},
		"two codings in two lines": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Add("Content-Encoding", "gzip")
			w.Header().Add("Content-Encoding", "gzip")
			answer(200, gzipped(t, gzipped(t, newRules)))(w, r)
		}, "/links.json:1:1: "},
		"another character set": {answer(200, "\xff\xfe{\x00}\x00", "Content-Type",
			"application/json; charset=utf-16"), "/links.json:1:1: "},
		"a long header": {answer(200, newRules, "X-Long", strings.Repeat("a", 1<<20)),
			"its header is longer than 64 KiB"},
		"a long Location": {answer(302, "", "Location", "http://"+strings.Repeat("a", 50_000)),
			"redirects are followed to https only"},
		"redirects to and fro": {func(w http.ResponseWriter, r *http.Request) {
			next := map[string]string{"": "one", "one": "two", "two": "one"}[r.URL.RawQuery]
			http.Redirect(w, r, r.URL.Path+"?"+next, http.StatusFound)
		}, "it redirects more than 5 times"},
		"no gzip": {answer(200, newRules, "Content-Encoding", "gzip"),
			"its Content-Encoding is gzip, and its content is not"},
		"another coding": {answer(200, newRules, "Content-Encoding", "br"),
			"its Content-Encoding is \"br\"; let it be zstd, gzip or none"},
		"redirect loop": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}, "it redirects more than 5 times, at last to 127.0.0.1:"},
		"redirect to http": {answer(302, "", "Location", "http://127.0.0.1/links.json"),
			"it redirects to http://127.0.0.1, and redirects are followed to https only; " +
				"write the https URL of the file itself"},
		"redirect to a file": {answer(302, "", "Location", "file:///etc/passwd"),
			"it redirects without a valid Location; write the URL of the file itself"},
		"redirect nowhere": {answer(302, ""), "it redirects without a valid Location"},
		"rules that break a key": {answer(200, `{"a": "/b", "b": "/a"}`, "Content-Type", "application/json"),
			"/links.json: key \"a\": loop a -> b -> a"},
	} {
		t.Run(name, func(t *testing.T) {
			o := startOrigin(t, "/links.json", oldRules)
			timeout, polls := "1m", 4
			if strings.Contains(tt.told, "within 2s") {
				timeout, polls = "2s", 1
			}
			s := followURL(t, o.URL+"/links.json", "max_size 1MiB\n timeout "+timeout)
			end := underLoad(t, s.Server, "/a", "https://old.example/")
			o.fail(tt.fault)
			entry := s.Logged(t, 1, testcaddy.Rejected)
			if told := fmt.Sprint(entry["error"]); !strings.Contains(told, tt.told) || len(told) > 1000 ||
				!strings.Contains(told, o.URL+"/links.json") {
				t.Errorf("the log says %s", told)
			}
			o.awaitRequests(t, polls)
			if n := s.TimesLogged(t, testcaddy.Rejected); n != 1 {
				t.Errorf("it is rejected %d times:\n%s", n, testcaddy.ReadFile(t, s.Log))
			}
			end()
			o.put("/links.json", newRules)
			o.fail(nil)
			s.Eventually(t, "/a", "302 https://new.example/")
		})
	}
}
