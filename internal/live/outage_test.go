package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

// statusUntil repeats the command status until what it says matches, with an exit status.
func statusUntil(t *testing.T, s *testcaddy.Server, want string, status int) {
	t.Helper()
	pattern := regexp.MustCompile("^" + want + "$")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		got, exit := s.Command("status")
		if pattern.MatchString(got) {
			if exit != status {
				t.Errorf("the exit status of %q is %d", got, exit)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("status says %q", got)
		}
	}
}

func TestAnOutageOfASourceIsSeenAndItsEndToo(t *testing.T) {
	const time = `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S+`
	file := filepath.Join(t.TempDir(), "links.json")
	const rules = `{"a": "https://a.example"}`
	for name, tt := range map[string]struct {
		block, source, reason string
		end, begin            func(t *testing.T)
	}{
		"of a file": {
			"from file " + file + " {\n poll 5ms\n }", file, "no such file or directory",
			func(t *testing.T) { testcaddy.Must(t, os.Remove(file)) },
			func(t *testing.T) { testcaddy.Write(t, file, rules) },
		},
		"of a storage": {
			"from storage links.json {\n storage test_memory\n poll 5ms\n }",
			"storage links.json", "the network is cut",
			func(t *testing.T) {
				testcaddy.StoreEntries(map[string]string{"links.json": rules}, func(int) bool { return true })
			},
			func(t *testing.T) { testcaddy.StoreEntries(map[string]string{"links.json": rules}, nil) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			tt.begin(t)
			s := testcaddy.Administer(t, "", "shortlink {\n name links\n "+tt.block+"\n }")
			up := fmt.Sprintf(`caddy_shortlink_source_up{name="links",source=%q}`, tt.source)
			if got := s.Scrape(t)[up]; got != "1" {
				t.Errorf("the gauge is %q", got)
			}
			tt.end(t)
			statusUntil(t, s, `(?s)links: 1 rule, .*  from `+tt.source+` \(writable; edits go here\)\n`+
				`    cannot be reached since `+time+`, serving the rules of `+time+`: `+tt.reason+`\n`+
				`  rejected at .*`, 1)
			if got := s.Scrape(t)[up]; got != "0" {
				t.Errorf("the gauge is %q", got)
			}
			if got := s.Put(t, "b", `"https://b.example"`); got.Status != 503 ||
				!strings.Contains(got.Body, tt.reason) {
				t.Errorf("an edit is answered with %d %s", got.Status, got.Body)
			}
			if got := s.Get(t, "/a").Location(); got != "302 https://a.example/" {
				t.Errorf("got %s", got)
			}
			tt.begin(t)
			statusUntil(t, s, `(?s)links: 1 rule, .*  from `+tt.source+` \(writable; edits go here\)\n  loaded at .*`, 0)
			if got := s.Scrape(t)[up]; got != "1" {
				t.Errorf("the gauge is %q", got)
			}
		})
	}
}

func TestStatusSaysThatNoRulesServeOfASourceThatCaddyHasStartedWithout(t *testing.T) {
	file := filepath.Join(t.TempDir(), "links.json")
	s := testcaddy.Administer(t, "", "shortlink {\n name links\n from file "+file+
		" {\n poll 5ms\n start without\n }\n }")
	statusUntil(t, s, `(?s).*cannot be reached since \S+, serving without its rules: .*no such file.*`, 1)
	if got := s.Ask(t, "GET", "links", ""); !strings.Contains(got.Body, `"without_rules":true`) {
		t.Errorf("the admin endpoint says %s", got.Body)
	}
	testcaddy.Write(t, file, `{"a": "https://a.example"}`)
	statusUntil(t, s, `(?s)links: 1 rule, .*\n  loaded at .*`, 0)
	testcaddy.Must(t, os.Remove(file))
	statusUntil(t, s, `(?s).*cannot be reached since .*, serving the rules of .*`, 1)
}

func TestAFileThatIsBackAfterAReloadWithoutItIsLoaded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "links.json")
	block := "shortlink {\n name links\n from file " + file + " {\n poll 5ms\n }\n status %d\n }"
	testcaddy.Write(t, file, `{"a": "https://a.example"}`)
	s := testcaddy.Administer(t, "", fmt.Sprintf(block, 302))
	testcaddy.Must(t, os.Remove(file))
	s.Load(t, fmt.Sprintf(block, 307))
	statusUntil(t, s, `(?s).*cannot be reached since .*, serving the rules of .*  rejected at .*`, 1)
	if got := s.Get(t, "/a").Location(); got != "307 https://a.example/" {
		t.Errorf("got %s", got)
	}
	testcaddy.Write(t, file, `{"a": "https://a.example"}`)
	statusUntil(t, s, `(?s)links: 1 rule, .* \(writable; edits go here\)\n  loaded at .*`, 0)
}

// CopySource is a source that can never be read, and has a stored copy of its rules.
type CopySource struct{ reach source.Reachability }

var stored = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

func init() { caddy.RegisterModule(new(CopySource)) }

func (*CopySource) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.shortlink.sources.test_copy",
		New: func() caddy.Module { return new(CopySource) },
	}
}

func (*CopySource) UnmarshalCaddyfile(*caddyfile.Dispenser) error { return nil }

func (*CopySource) String() string { return "copy" }

func (s *CopySource) Read(_ context.Context, add func(resolver.Rule)) (string, error) {
	s.reach.UseCopy(errors.New("nobody answers"), stored)
	add(resolver.Rule{Key: "a", Value: "https://a.example"})
	return "version", nil
}

func (*CopySource) Watch(ctx context.Context, _ string, _ func()) { <-ctx.Done() }

func (s *CopySource) Reach() *source.Reachability { return &s.reach }

func TestAStoredCopyIsSaidToServe(t *testing.T) {
	s := testcaddy.Administer(t, "", "shortlink {\n name links\n from test_copy\n }")
	var status struct {
		Sources []struct {
			Outage struct {
				Error      string
				RulesOf    time.Time `json:"rules_of"`
				StoredCopy bool      `json:"stored_copy"`
			}
		}
	}
	testcaddy.Must(t, json.Unmarshal([]byte(s.Ask(t, "GET", "links", "").Body), &status))
	outage := status.Sources[0].Outage
	if outage.Error != "nobody answers" || !outage.RulesOf.Equal(stored) || !outage.StoredCopy {
		t.Errorf("the outage is %+v", outage)
	}
	const loaded = `caddy_shortlink_last_reload_success_timestamp_seconds{name="links",source="copy"}`
	if got := s.Scrape(t)[loaded]; got != "1.7953416e+09" {
		t.Errorf("the rules are of %s", got)
	}
	statusUntil(t, s,
		`(?s).*serving a stored copy of the rules, of `+stored.Local().Format(
			time.RFC3339)+`: nobody answers\n.*`, 1)
}

func TestCheckAndResolveSayThatTheyReadAStoredCopy(t *testing.T) {
	config := filepath.Join(t.TempDir(), "Caddyfile")
	testcaddy.Write(t, config, "http://go.example {\n shortlink {\n from test_copy\n }\n}\n")
	const note = "it cannot be reached, and a stored copy of its rules of 2026-11-22T10:00:00Z was " +
		"read: nobody answers"
	got, exit := testcaddy.Run([]string{"shortlink", "check", "--config", config}, "")
	if !strings.Contains(got, "warning: stored copy (1)\n  copy: "+note+"\n") || exit != 0 {
		t.Errorf("check says %q, %d", got, exit)
	}
	got, exit = testcaddy.Run([]string{"shortlink", "resolve", "/a", "--config", config}, "")
	if !strings.HasPrefix(got, "Note: source copy: "+note+"\n") || exit != 0 {
		t.Errorf("resolve says %q, %d", got, exit)
	}
}

func TestAnOutageLastsSinceItsFirstMomentOverReloads(t *testing.T) {
	file := filepath.Join(t.TempDir(), "links.json")
	block := func(more string) string {
		return "shortlink {\n name links\n from file " + file + " {\n poll 5ms\n }\n " + more + "\n }"
	}
	const rules, unreachable = `{"a": "https://a.example"}`, `(?s).*cannot be reached.*rejected at .*`
	testcaddy.Write(t, file, rules)
	s := testcaddy.Administer(t, "", block(""))
	since := func() (outage, failing time.Time) {
		t.Helper()
		var status struct {
			Sources []struct{ Outage *struct{ Since time.Time } }
			Load    struct {
				Since time.Time `json:"failing_since"`
			} `json:"last_load"`
		}
		testcaddy.Must(t, json.Unmarshal([]byte(s.Ask(t, "GET", "links", "").Body), &status))
		if status.Sources[0].Outage == nil {
			t.Fatal("no outage is told")
		}
		return status.Sources[0].Outage.Since, status.Load.Since
	}
	testcaddy.Must(t, os.Remove(file))
	statusUntil(t, s, unreachable, 1)
	outage, failing := since()
	for _, more := range []string{"status 307", "status 307", "status 308", "inline /x"} {
		s.Load(t, block(more))
		if now, stillFailing := since(); !now.Equal(outage) || !stillFailing.Equal(failing) {
			t.Errorf("%s: an outage since %s is one since %s, and rejections since %s are some since %s",
				more, outage, now, failing, stillFailing)
		}
	}
	testcaddy.Write(t, file, rules)
	statusUntil(t, s, `(?s)links: 2 rules, .* \(writable; edits go here\)\n  loaded at .*`, 0)
	testcaddy.Must(t, os.Remove(file))
	statusUntil(t, s, unreachable, 1)
	if now, _ := since(); !now.After(outage) {
		t.Errorf("the second outage is one since %s, too", now)
	}
}
