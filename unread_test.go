package shortlink_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

func TestAServerThatStartsWithoutASourceAnswers503InsteadOf404UntilItIsRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "links.json")
	s := testcaddy.Serve(t, `
	header /plain X-Before kept
	shortlink {
		docs https://docs.example
		hole pass
		expect /later https://later.example/
		from file `+file+` {
			poll 5ms
			start without
		}
	}
	respond /there "here" 200
	respond /hole "no such page" 404
	error /failing "no such page" 404
	respond "no such link" 404`)
	s.Leads(t, "/docs/a", "302 https://docs.example/a")
	for _, path := range []string{"/later", "/plain", "/failing"} {
		answer := s.Get(t, path)
		if answer.Status != 503 || answer.Header.Get("Retry-After") == "" || answer.Body != "" ||
			answer.Header.Get("Content-Type") != "" {
			t.Errorf("%s is answered with %d, %v and %q", path, answer.Status, answer.Header, answer.Body)
		}
	}
	if got := s.Get(t, "/plain").Header.Get("X-Before"); got != "kept" {
		t.Errorf("a header from in front of the rules is %q", got)
	}
	for path, want := range map[string]int{"/there": 200, "/hole": 404} {
		if got := s.Get(t, path); got.Status != want || got.Header.Get("Retry-After") != "" {
			t.Errorf("%s is answered with %d", path, got.Status)
		}
	}

	if err := os.WriteFile(file, []byte(`{"later": "https://later.example"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Eventually(t, "/later", "302 https://later.example/")
	if got := s.Get(t, "/unknown"); got.Status != 404 || got.Body != "no such link" {
		t.Errorf("afterwards an unknown path is answered with %d %q", got.Status, got.Body)
	}
}

func TestAStartThatIsRefusedForASourceNamesTheOptionForIt(t *testing.T) {
	s := testcaddy.Serve(t, "respond ok")
	missing := filepath.Join(t.TempDir(), "missing.json")
	err := s.TryToLoad(t, "shortlink {\n from file "+missing+"\n}")
	if err == nil || !strings.Contains(err.Error(), "to start without the rules of "+missing+
		", write start without into its block") {
		t.Errorf("the error is %v", err)
	}
	err = s.TryToLoad(t, "shortlink {\n from file "+missing+" {\n start later\n }\n}")
	if err == nil || !strings.Contains(err.Error(), `start takes refuse or without, not "later"`) {
		t.Errorf("the error is %v", err)
	}
}
