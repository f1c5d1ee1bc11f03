package live_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

func TestTheLogSaysOfInlineRulesWhichHandlerAndKeyItMeans(t *testing.T) {
	for name, handler := range map[string]string{"": "shortlink", "name go": "go"} {
		s := &testcaddy.Follower{Log: filepath.Join(t.TempDir(), "caddy.log")}
		s.Server = testcaddy.ServeWith(t, testcaddy.LogTo(s.Log),
			"shortlink {\n docs/:id https://docs.example\n loop /loop/again\n "+name+"\n}")
		for key, text := range map[string]string{
			"docs/:id": "stands for itself", "loop": "redirects to itself forever",
		} {
			entry := s.Logged(t, 1, text)
			if entry["handler"] != handler || entry["key"] != key ||
				entry["hint"] != "caddy shortlink check --config says the line" {
				t.Errorf("the entry is %v, want handler %s, key %s", entry, handler, key)
			}
		}
	}
}

func TestAHandlerWithoutRulesAndSourcesIsAWarning(t *testing.T) {
	const want = "the handler has no rules and no source, so all requests pass; write a rule "
	dir := t.TempDir()
	config := filepath.Join(dir, "Caddyfile")
	testcaddy.Write(t, filepath.Join(dir, "links.json"), "{}")
	for block, isEmpty := range map[string]bool{
		"shortlink": true, "shortlink {\n cache 1h\n}": true,
		"shortlink {\n a gone\n}":                           false,
		"shortlink {\n from file " + dir + "/links.json\n}": false,
	} {
		testcaddy.Write(t, config, "http://localhost {\n"+block+"\n}\n")
		got, _ := testcaddy.Run([]string{"shortlink", "check", "--config", config}, "")
		if strings.Contains(got, "warning: no rules (1)\n  "+config+":2: "+want) != isEmpty {
			t.Errorf("of %s check says\n%s", block, got)
		}
		s := &testcaddy.Follower{Log: filepath.Join(t.TempDir(), "caddy.log")}
		s.Server = testcaddy.ServeWith(t, testcaddy.LogTo(s.Log), block)
		s.Get(t, "/") // all there is to say has been said
		log := testcaddy.ReadFile(t, s.Log)
		if strings.Contains(log, want) != isEmpty ||
			strings.Contains(log, `"handler":"shortlink"`) != isEmpty {
			t.Errorf("of %s the log says\n%s", block, log)
		}
	}
}
