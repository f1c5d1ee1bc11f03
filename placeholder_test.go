package shortlink_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

const tellPlaceholders = `"{http.shortlink.outcome} key={http.shortlink.key} hops={http.shortlink.hops} destination={http.shortlink.destination}"`

func TestLaterHandlersKnowTheOutcome(t *testing.T) {
	tests := map[string]struct{ block, target, want string }{
		"a request that passed": {
			"shortlink {\n a /b\n }\n respond " + tellPlaceholders,
			"/x", "pass key= hops=0 destination=",
		},
		"an error": {
			"shortlink {\n docs https://example.com\n }\n handle_errors {\n respond " + tellPlaceholders +
				"\n }",
			"/docs/..%2f", "error key=docs hops=0 destination=",
		},
		"a redirect, in a header of the response": {
			"header >X-Answer " + tellPlaceholders + "\n shortlink {\n a /b\n b https://example.com\n }",
			"/a/c", "redirect key=a hops=1 destination=https://example.com/c",
		},
		"of two handlers that both let it pass": {
			"route {\n shortlink {\n a /b\n }\n shortlink {\n c /d\n }\n respond " + tellPlaceholders +
				"\n }",
			"/x", "pass key= hops=0 destination=",
		},
		"of two handlers, the second of which redirects": {
			"header >X-Answer " + tellPlaceholders +
				"\n route {\n shortlink {\n a /b\n }\n shortlink {\n c https://example.com\n }\n }",
			"/c", "redirect key=c hops=0 destination=https://example.com/",
		},
		"of a handler that fails and one in handle_errors that lets it pass": {
			"shortlink {\n a https://example.com\n }\n handle_errors {\n shortlink {\n b /c\n }\n respond " +
				tellPlaceholders + "\n }",
			"/a/..%2f", "pass key= hops=0 destination=",
		},
		"of three handlers, which fail, let it pass and redirect": {
			"header >X-Answer " + tellPlaceholders + "\n shortlink {\n a /a\n }\n" +
				"handle_errors {\n header >X-Answer " + tellPlaceholders +
				"\n shortlink {\n b /c\n }\n route {\n shortlink {\n a https://example.com\n }\n }\n }",
			"/a", "redirect key=a hops=0 destination=https://example.com/",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := testcaddy.Serve(t, tt.block)
			got := s.Get(t, tt.target)
			answer := got.Body + got.Header.Get("X-Answer")
			if answer != tt.want {
				t.Errorf("got %q, want %q", answer, tt.want)
			}
		})
	}
}

func TestTheAccessLogCanTellTheOutcome(t *testing.T) {
	logFile := filepath.Join(t.TempDir(), "access.log")
	s := testcaddy.Serve(t, `log {
		output file `+logFile+`
	}
	log_append outcome {http.shortlink.outcome}
	log_append key {http.shortlink.key}
	log_append hops {http.shortlink.hops}
	shortlink {
		a /b
		b https://example.com
	}`)
	s.Get(t, "/a")
	s.Load(t, "respond bye") // closes the log
	content, err := os.ReadFile(logFile)
	if err != nil {
		t.Fatal(err)
	}
	var entry struct {
		Outcome, Key string
		Hops         int
	}
	if err := json.Unmarshal([]byte(strings.TrimSpace(string(content))), &entry); err != nil {
		t.Fatalf("%v: %s", err, content)
	}
	if entry.Outcome != "redirect" || entry.Key != "a" || entry.Hops != 1 {
		t.Errorf("the log says %s", content)
	}
}
