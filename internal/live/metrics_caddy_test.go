package live_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.yaml.in/yaml/v3"

	"github.com/caddy-shortlink/shortlink/internal/hits"
	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

func TestTheMetricsTellWhatServesAndWhatBecomesOfRequests(t *testing.T) {
	dir := t.TempDir()
	links := filepath.Join(dir, "links.json")
	testcaddy.Write(t, links, `{"a": "https://a.example", "b": "https://b.example", "loop": "/loop"}`)
	s := testcaddy.Administer(t, "",
		"shortlink {\n from file "+links+" {\n poll 10ms\n }\n name links\n }\n shortlink {\n c "+
			"https://c.example\n }\n respond 299")
	for _, target := range []string{"/a", "/a", "/b", "/loop", "/nothing", "/c"} {
		s.Get(t, target)
	}
	testcaddy.Write(t, links, `{"a": `)
	source := `name="links",` + fmt.Sprintf("result=%%q,source=%q", links)
	rejected := "caddy_shortlink_reloads_total{" + fmt.Sprintf(source, "rejected") + "}"
	got := s.Scrape(t)
	for end := time.Now().Add(time.Minute); got[rejected] != "1" && time.Now().Before(end); {
		got = s.Scrape(t)
	}
	want := map[string]string{
		`caddy_shortlink_requests_total{name="links",outcome="redirect"}`:      "3",
		`caddy_shortlink_requests_total{name="links",outcome="pass"}`:          "2",
		`caddy_shortlink_requests_total{name="links",outcome="error"}`:         "1",
		`caddy_shortlink_requests_total{name="shortlink",outcome="redirect"}`:  "1",
		`caddy_shortlink_requests_total{name="shortlink",outcome="pass"}`:      "1",
		`caddy_shortlink_requests_total{name="shortlink",outcome="error"}`:     "0",
		`caddy_shortlink_rules{name="links"}`:                                  "3",
		`caddy_shortlink_rules{name="shortlink"}`:                              "1",
		"caddy_shortlink_reloads_total{" + fmt.Sprintf(source, "loaded") + "}": "1",
		rejected: "1",
	}
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s is %q, want %s", name, got[name], value)
		}
	}
	digest := strings.Trim(s.Ask(t, "GET", "links/rules", "").Header.Get("ETag"), `"`)
	if got[fmt.Sprintf(`caddy_shortlink_ruleset_info{digest=%q,name="links"}`, digest)] != "1" {
		t.Errorf("there is no digest %s in %v", digest, got)
	}
	if at := got[fmt.Sprintf(
		`caddy_shortlink_last_reload_success_timestamp_seconds{name="links",source=%q}`,
		links)]; !strings.HasPrefix(at, "1.") {
		t.Errorf("the last success was at %q", at)
	}
}

func TestHandlersOfOneNameAreAddedUp(t *testing.T) {
	s := testcaddy.Administer(t, "", "handle /x/* {\n shortlink {\n a https://a.example\n }\n }\n shortlink "+
		"{\n b https://b.example\n c https://c.example\n }\n respond 299")
	if got := s.Scrape(t)[`caddy_shortlink_rules{name="shortlink"}`]; got != "3" {
		t.Errorf("there are %s rules", got)
	}
}

func TestCountersGoOnOverReloadsWhileTheirHandlerLives(t *testing.T) {
	s := testcaddy.Administer(t, "", "shortlink {\n a https://a.example\n name links\n }\n shortlink {\n b "+
		"https://b.example\n name old\n }\n respond 299")
	s.Get(t, "/a")
	for i := range 5 {
		s.Load(t, fmt.Sprintf(
			"shortlink {\n a https://a.example\n name links\n status 30%d\n }\n respond 299", 1+i%3))
		s.Get(t, "/a")
	}
	got := s.Scrape(t)
	if n := got[`caddy_shortlink_requests_total{name="links",outcome="redirect"}`]; n != "6" {
		t.Errorf("%s redirects are counted", n)
	}
	for name := range got {
		if strings.Contains(name, `"old"`) {
			t.Errorf("%s is left", name)
		}
	}
}

func TestHitsAreListedAndKeptOverARestart(t *testing.T) {
	dir := t.TempDir()
	links := filepath.Join(dir, "links.json")
	testcaddy.Write(t, links,
		`{"a": "/b/x", "b": "https://b.example", "c": "https://c.example", "d": "https://d.example"}`)
	block := "shortlink {\n from file " + links + "\n name links\n }\n respond 299"
	s := &testcaddy.Server{Admin: testcaddy.FreeAddress(t), Storage: t.TempDir()}
	s.Load(t, block)
	for _, target := range []string{"/a", "/a/y", "/c", "/nothing"} {
		s.Get(t, target)
	}
	list := func() map[string]struct{ Count int } {
		var answer struct {
			Since string
			Hits  map[string]struct{ Count int }
		}
		testcaddy.Must(t, json.Unmarshal([]byte(s.Ask(t, "GET", "links/hits", "").Body), &answer))
		return answer.Hits
	}
	want := map[string]struct{ Count int }{"a": {2}, "b": {0}, "c": {1}, "d": {0}}
	if got := list(); !maps.Equal(got, want) {
		t.Errorf("the hits are %v", got)
	}
	testcaddy.Must(t, caddy.Stop())
	s.Load(t, block)
	defer caddy.Stop()
	s.Get(t, "/c")
	want["c"] = struct{ Count int }{2}
	for range 1000 { // what was stored is added as soon as it is read
		if maps.Equal(list(), want) {
			break
		}
	}
	if got := list(); !maps.Equal(got, want) {
		t.Errorf("after a restart the hits are %v", got)
	}
	text := regexp.MustCompile(
		`^counted since \S+\n +2  \S+Z  a\n +2  \S+Z  c\n2 rules have no hits; .*\n$`)
	if got, exit := s.Command("hits"); !text.MatchString(got) || exit != 0 {
		t.Errorf("got %q, %d", got, exit)
	}
	// b is needed by a.
	unused := regexp.MustCompile(
		`^Note: hits have been counted since \S+ only, which is a shorter time\ncounted since \S+\n +0  never                 d\n$`)
	if got, exit := s.Command("hits", "--unused", "90d"); !unused.MatchString(got) || exit != 0 {
		t.Errorf("got %q, %d", got, exit)
	}
	if got, exit := s.Command("hits", "--unused", "90"); !strings.Contains(got, "such as 90d") ||
		exit != 2 {
		t.Errorf("got %q, %d", got, exit)
	}
	if got, exit := s.Command("hits", "--format", "json"); !strings.Contains(got, `"a":{"count":2,"last":"`) || exit != 0 {
		t.Errorf("got %q, %d", got, exit)
	}
}

func TestHitsOfDaysAreToldAndKeptOverARestart(t *testing.T) {
	s := &testcaddy.Server{Admin: testcaddy.FreeAddress(t), Storage: t.TempDir()}
	const block = "shortlink {\n a https://a.example\n b https://b.example\n name links\n }"
	s.Load(t, block)
	for _, target := range []string{"/a", "/a/x", "/b"} {
		s.Get(t, target)
	}
	testcaddy.Must(t, caddy.Stop())
	s.Load(t, block)
	defer caddy.Stop()
	s.Get(t, "/b")
	today := time.Now().UTC().Format(time.DateOnly)
	wait := time.Now().Add(10 * time.Second)
	isRestored := func() bool {
		return strings.Contains(s.Ask(t, "GET", "links/hits", "").Body, `"count":2,"last"`)
	}
	for !isRestored() && time.Now().Before(wait) { // what was stored is added as soon as it is read
	}
	for _, tt := range []struct {
		args  []string
		query string
		count int
	}{
		{nil, "", 4},
		{[]string{"a"}, "&key=a", 2},
		{[]string{"b"}, "&key=b", 2},
	} {
		want := fmt.Sprintf("%s  %10d\ntotal       %10d\n", today, tt.count, tt.count)
		got, exit := s.Command(append([]string{"hits", "--days"}, tt.args...)...)
		if strings.Count(got, "\n") != 92 || !strings.HasPrefix(got, "counted since ") ||
			!strings.HasSuffix(got, want) || exit != 0 {
			t.Errorf("%s: got %q, %d", tt.args, got, exit)
		}
		want = fmt.Sprintf(`,{"date":"%s","count":%d}]}`+"\n", today, tt.count)
		answer := s.Ask(t, "GET", "links/hits?days=true"+tt.query, "").Body
		if !strings.HasPrefix(answer, `{"since":"20`) || !strings.HasSuffix(answer, want) {
			t.Errorf("%s: the answer is %q", tt.query, answer)
		}
		args := append([]string{"hits", "--format", "json", "--days"}, tt.args...)
		if got, exit := s.Command(args...); got != answer || exit != 0 {
			t.Errorf("%s: got %q, %d; want %q", args, got, exit, answer)
		}
	}
	s.Says(t, `Error: there is no rule for the key "c"`+"\n", 1, "hits", "--days", "c")
	all, err := live.AllRunning().Named("links").Hits().Summary(t.Context())
	if err != nil || !slices.Equal(all.MostUsed, []hits.Used{{Key: "a", N: 2}, {Key: "b", N: 2}}) {
		t.Errorf("used most are %v, %v", all, err)
	}
	for query, want := range map[string]string{
		"days=true&unused=90d": "days and unused cannot be asked for at once",
		"days=1":               `days takes true or false, not \"1\"`,
		"key=a":                "key is for the days of a rule; write days=true, too",
	} {
		a := s.Ask(t, "GET", "links/hits?"+query, "")
		if a.Status != 400 || !strings.Contains(a.Body, want) {
			t.Errorf("%s: %d %s", query, a.Status, a.Body)
		}
	}
}

func TestAnAccessLogTellsWhatBecameOfARequest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	s := testcaddy.Serve(t,
		"log {\n output file "+path+"\n }\n shortlink {\n a /b/x\n b https://b.example\n loop /loop\n "+
			"}\n respond 299")
	want := []string{
		`{"key":"a","destination":"https://b.example/x/y","hops":1,"outcome":"redirect"}`,
		`{"outcome":"pass"}`,
		`{"key":"loop","destination":"","hops":0,"outcome":"error"}`,
	}
	for _, target := range []string{"/a/y", "/nothing", "/loop"} {
		s.Get(t, target)
	}
	log := &testcaddy.Follower{Log: path}
	for i := range want {
		entry, err := json.Marshal(log.Logged(t, i+1, "handled request")["shortlink"])
		testcaddy.Must(t, err)
		var got, wanted any
		testcaddy.Must(t, json.Unmarshal(entry, &got))
		testcaddy.Must(t, json.Unmarshal([]byte(want[i]), &wanted))
		if fmt.Sprint(got) != fmt.Sprint(wanted) {
			t.Errorf("the log says %s, want %s", entry, want[i])
		}
	}
}

// Every metric and label in the expressions of dashboard and alerts is one that a Caddy exposes.
func TestDashboardAndAlertsAskForMetricsThatThereAre(t *testing.T) {
	var expressions []string
	for name, unmarshal := range map[string]func([]byte, any) error{
		"grafana.json": json.Unmarshal, "alerts.yml": yaml.Unmarshal,
	} {
		content, err := os.ReadFile("../../contrib/" + name)
		testcaddy.Must(t, err)
		var read any
		testcaddy.Must(t, unmarshal(content, &read))
		before := len(expressions)
		eachString(read, func(name, value string) {
			if name == "expr" || name == "query" {
				expressions = append(expressions, value)
			}
		})
		if len(expressions) < before+6 {
			t.Errorf("%s has only %d expressions", name, len(expressions)-before)
		}
	}
	s, _, _ := testcaddy.Editable(t, "links.json", "{}")
	s.Ask(t, "POST", "links/reload", "")
	labels := map[string][]string{}
	for series := range s.Scrape(t) {
		name, rest, _ := strings.Cut(series, "{")
		for _, pair := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(rest, -1) {
			labels[name] = append(labels[name], pair[1])
		}
	}
	asked := map[string]bool{}
	for _, expression := range expressions {
		for _, match := range regexp.MustCompile(
			`(caddy_\w+)(?:\{([^}]*)\}|, ?(\w+)\))?`).FindAllStringSubmatch(expression, -1) {
			name := match[1]
			asked[name] = true
			if labels[name] == nil {
				t.Errorf("%s asks for %s, which there is not", expression, name)
			}
			for _, label := range regexp.MustCompile(`(\w+) ?=`).FindAllStringSubmatch(match[2], -1) {
				if !slices.Contains(labels[name], label[1]) {
					t.Errorf("%s asks for the label %s", expression, label[1])
				}
			}
			if match[3] != "" && !slices.Contains(labels[name], match[3]) {
				t.Errorf("%s asks for the values of the label %s", expression, match[3])
			}
		}
		metric := regexp.MustCompile(`caddy_\w+`).FindString(expression)
		for _, by := range regexp.MustCompile(`by \(([^)]*)\)`).FindAllStringSubmatch(expression, -1) {
			for label := range strings.SplitSeq(by[1], ",") {
				if label = strings.TrimSpace(label); label != "instance" && // which Prometheus adds
					!slices.Contains(labels[metric], label) {
					t.Errorf("%s sums by %s", expression, label)
				}
			}
		}
	}
	for name := range labels {
		if !asked[name] {
			t.Errorf("nothing shows %s", name)
		}
	}
}

// eachString calls do with the strings in a JSON value and the names of the members that hold them.
func eachString(value any, do func(name, value string)) {
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			eachString(element, do)
		}
	case map[string]any:
		for name, member := range value {
			if text, ok := member.(string); ok {
				do(name, text)
			}
			eachString(member, do)
		}
	}
}
