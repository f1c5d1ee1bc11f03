package source_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// The secrets stand in the URL, by placeholder and as they are, and in a header.
func TestNoSecretIsInALogAnErrorTheStatusOrAMetric(t *testing.T) {
	for name, fault := range map[string]http.HandlerFunc{
		"none":        nil,
		"refused":     answer(401, "a-secret"),
		"a page":      answer(200, "a-secret", "Content-Type", "text/html"),
		"redirect":    answer(302, "", "Location", "http://elsewhere.example/?token=a-secret"),
		"no Location": answer(302, "", "Location", "https://%zz/?token=a-secret"),
		"far":         answer(302, "", "Location", "https://127.0.0.1:1/?token=a-secret"),
		"no rules":    answer(200, "[]", "Content-Type", "application/json"),
		"cut off": func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("LINKS_TOKEN", "a-secret")
			o := startOrigin(t, "/a-secret/links.json", oldRules)
			log := t.TempDir() + "/caddy.log"
			everything := "log all {\n output file " + log + "\n }" // DEBUG would have all of Caddy's configuration
			address := strings.Replace(o.URL, "https://", "https://ann:a-secret@", 1) +
				"/{env.LINKS_TOKEN}/links.json?one={env.LINKS_TOKEN}&two=a-secret&a-secret"
			block := urlBlock(address, "timeout 1m\n header Authorization \"Bearer {env.LINKS_TOKEN}\"")
			s := &testcaddy.Follower{Log: log}
			s.Server = testcaddy.Administer(t, everything, block)
			if fault != nil {
				o.fail(fault)
				s.Logged(t, 1, testcaddy.Rejected)
			}
			said := testcaddy.ReadFile(t, log)
			status, _ := s.Command("status")
			for _, path := range []string{"", "links", "links/resolve?url=/a"} {
				said += s.Ask(t, "GET", path, "").Body
			}
			for name, value := range s.Scrape(t) {
				said += name + value
			}
			said += status
			testcaddy.Must(t, caddy.Stop())
			if fault != nil {
				err := s.TryToLoad(t, strings.Replace(block, "name links", "name others", 1))
				said += err.Error()
			}
			if i := strings.Index(said, "a-secret"); i >= 0 {
				t.Errorf("it is told: %s", said[max(0, i-300):i+20])
			}
			shown := strings.Replace(o.URL, "https://", "https://***@", 1) +
				"/{env.LINKS_TOKEN}/links.json?one=***&two=***&***"
			if !strings.Contains(status, shown) {
				t.Errorf("status does not say %s: %s", shown, status)
			}
		})
	}
}
