package shortlink_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink"
)

func TestTheLogSaysOfInlineRulesWhichHandlerAndKeyItMeans(t *testing.T) {
	for name, handler := range map[string]string{"": "shortlink", "name go": "go"} {
		s := &liveServer{log: filepath.Join(t.TempDir(), "caddy.log")}
		s.server = serveWith(t, logTo(s.log),
			"shortlink {\n docs/:id https://docs.example\n loop /loop/again\n "+name+"\n}")
		for key, text := range map[string]string{
			"docs/:id": "stands for itself", "loop": "the new path is looked up again",
		} {
			entry := s.logged(t, 1, text)
			if entry["handler"] != handler || entry["key"] != key ||
				entry["hint"] != "caddy shortlink check --config says the line" {
				t.Errorf("the entry is %v, want handler %s, key %s", entry, handler, key)
			}
		}
	}
}

func TestAHandlerWithoutRulesAndSourcesIsAWarning(t *testing.T) {
	const want = "the handler has no rules and no source of any, so all requests pass; write a rule "
	dir := t.TempDir()
	config := filepath.Join(dir, "Caddyfile")
	write(t, filepath.Join(dir, "links.json"), "{}")
	for block, isEmpty := range map[string]bool{
		"shortlink": true, "shortlink {\n cache 1h\n}": true,
		"shortlink {\n a gone\n}":                           false,
		"shortlink {\n from file " + dir + "/links.json\n}": false,
	} {
		write(t, config, "http://localhost {\n"+block+"\n}\n")
		got, _ := shortlink.Run([]string{"shortlink", "check", "--config", config}, "")
		if strings.Contains(got, "warning: no rules (1)\n  "+config+":2: "+want) != isEmpty {
			t.Errorf("of %s check says\n%s", block, got)
		}
		s := &liveServer{log: filepath.Join(t.TempDir(), "caddy.log")}
		s.server = serveWith(t, logTo(s.log), block)
		s.get(t, "/") // all there is to say has been said
		log := rulesOf(t, s.log)
		if strings.Contains(log, want) != isEmpty ||
			strings.Contains(log, `"handler":"shortlink"`) != isEmpty {
			t.Errorf("of %s the log says\n%s", block, log)
		}
	}
}
