package testcaddy

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Follower is a Caddy that follows Links, a file of rules, and writes entries about rules to Log.
type Follower struct {
	*Server
	Links, Log string
}

// Follow starts a Caddy that serves the rules in links.json. options are lines of the source's
// block, and more are lines of the handler's.
func Follow(t *testing.T, rules, options, more string) *Follower {
	t.Helper()
	dir := t.TempDir()
	s := &Follower{Links: filepath.Join(dir, "links.json"), Log: filepath.Join(dir, "caddy.log")}
	Write(t, s.Links, rules)
	s.Server = ServeWith(t, LogTo(s.Log), s.Block(options, more))
	return s
}

// LogTo returns the global option that writes log entries about rules and pages to a file.
func LogTo(path string) string {
	return "log links {\n output file " + path +
		"\n include http.handlers.shortlink http.handlers.shortlink_page\n }"
}

// Block returns the content of the site's block, with lines for the source's block and the
// handler's.
func (s *Follower) Block(options, more string) string {
	return fmt.Sprintf("shortlink {\n from file %s {\n poll 5ms\n %s\n }\n %s\n }\n respond next 299",
		s.Links, options, more)
}

// Logged waits until the log has n lines that contain text. It returns the last of them.
func (s *Follower) Logged(t *testing.T, n int, text string) map[string]any {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		content, _ := os.ReadFile(s.Log)
		var found []string
		for line := range strings.Lines(string(content)) {
			if strings.Contains(line, text) {
				found = append(found, line)
			}
		}
		if len(found) >= n {
			var entry map[string]any
			if err := json.Unmarshal([]byte(found[n-1]), &entry); err != nil {
				t.Fatal(err)
			}
			return entry
		}
		if time.Now().After(deadline) {
			t.Fatalf("the log has %d lines with %q, want %d:\n%s", len(found), text, n, content)
		}
	}
}

// Rejected is the log message for bad rules, after which the old rules go on serving.
const Rejected = "rules rejected"

// TimesLogged returns how often the log contains text.
func (s *Follower) TimesLogged(t *testing.T, text string) int {
	t.Helper()
	content, err := os.ReadFile(s.Log)
	Must(t, err)
	return strings.Count(string(content), text)
}
