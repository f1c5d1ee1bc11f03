package shortlink_test

import (
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
	"github.com/caddy-shortlink/shortlink/internal/vectors"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// golangRules returns golang.org's redirects from key to destination.
func golangRules(t *testing.T) map[string]string {
	t.Helper()
	rows, err := vectors.Read("testdata/rulesets/golang.json")
	testcaddy.Must(t, err)
	rules := map[string]string{}
	for _, row := range rows {
		var key, destination string
		testcaddy.Must(t, row.Scan(&key, &destination))
		rules[key] = destination
	}
	return rules
}

func TestEveryRedirectOfGolangOrgIsAnswered(t *testing.T) {
	rules := golangRules(t)
	var block strings.Builder
	for key, value := range rules {
		block.WriteString("rule \"" + key + "\" \"" + value + "\"\n")
	}
	s := testcaddy.Serve(t, "shortlink {\n"+block.String()+"}\nrespond next 299")

	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	defer client.CloseIdleConnections()
	for key := range rules {
		response, err := client.Get("http://" + s.Addr + "/" + key)
		if err != nil {
			t.Fatal(err)
		}
		want := "302 " + plainDestination(rules, key, "http://"+s.Addr)
		if got := testcaddy.ReadReply(t, response).Location(); got != want {
			t.Errorf("/%s: got %s, want %s", key, got, want)
		}
	}
}

func TestRealRulesAreWarnedOfForGoodReasonsAlone(t *testing.T) {
	var golang, babel []resolver.Rule
	for key, value := range golangRules(t) {
		golang = append(golang, resolver.Rule{Key: key, Value: value})
	}
	rows, err := vectors.Read("testdata/rulesets/babel.json")
	testcaddy.Must(t, err)
	var lines strings.Builder
	for _, row := range rows {
		var path, destination, status string
		testcaddy.Must(t, row.Scan(&path, &destination, &status))
		lines.WriteString(path + " " + destination + " " + status + "\n")
	}
	reading := rulefile.Reading{SkipUnsupported: true}
	told, err := reading.Read(strings.NewReader(lines.String()), rulefile.Redirects, "",
		func(rule resolver.Rule) { babel = append(babel, rule) })
	testcaddy.Must(t, err)
	for _, rules := range [][]resolver.Rule{golang, babel} {
		ruleset, err := resolver.Compile(rules, resolver.Options{})
		testcaddy.Must(t, err)
		list := lint.New(resolver.Options{})
		for _, rule := range rules {
			list.Add(0, rule)
		}
		if len(rules) == len(babel) {
			list.AddRead(0, told...)
		}
		list.Finish(ruleset)
		for _, w := range list.Warnings() {
			switch w.Kind {
			case lint.WarnMeetsKey, rulefile.WarnApproximated, rulefile.WarnNeverReached,
				rulefile.WarnLeftOut:
			default:
				t.Error(w)
			}
		}
	}
}

// plainDestination follows a key by hand, for rulesets without queries, fragments and
// characters that have to be escaped, in which no internal destination lies below a key.
func plainDestination(rules map[string]string, key, origin string) string {
	value := rules[key]
	for strings.HasPrefix(value, "/") {
		next, found := rules[value[1:]]
		if !found {
			return origin + value
		}
		value = next
	}
	if strings.Count(value, "/") == 2 { // a host alone
		value += "/"
	}
	return value
}

// The vanity hosts of Kubernetes are the yardstick of templates: what some hundred lines of regular
// expressions do there.
func TestTheVanityHostsOfKubernetesNeedNoRegularExpression(t *testing.T) {
	config, err := os.ReadFile("testdata/kubernetes/Caddyfile")
	testcaddy.Must(t, err)
	s := &testcaddy.Server{Addr: testcaddy.FreeAddress(t)}
	_, port, _ := net.SplitHostPort(s.Addr)
	hosts := regexp.MustCompile(`(?m)^(http://\S+) \{`)
	options := "{\n\tadmin off\n\tpersist_config off\n\tstorage file_system " + testcaddy.StorageDir(t) +
		"\n\tdefault_bind 127.0.0.1\n\tlog default {\n\t\toutput discard\n\t}\n}\n"
	adapted, err := testcaddy.Adapt(options + hosts.ReplaceAllString(string(config), "$1:"+port+" {"))
	testcaddy.Must(t, err)
	testcaddy.Must(t, caddy.Load(adapted, true))
	defer caddy.Stop()
	requests, err := os.ReadFile("testdata/kubernetes/requests.txt")
	testcaddy.Must(t, err)
	asked := 0
	for line := range strings.Lines(string(requests)) {
		target, want, _ := strings.Cut(strings.TrimSpace(line), " ")
		if target == "" || target == "#" {
			continue
		}
		host, path, _ := strings.Cut(target, "/")
		asked++
		got := s.Raw(t, "GET",
			"GET /"+path+" HTTP/1.1\r\nHost: "+host+":"+port+"\r\nConnection: close\r\n\r\n").Location()
		if want = strings.TrimSpace(want); got != want {
			t.Errorf("%s: got %s, want %s", target, got, want)
		}
	}
	if asked < 30 {
		t.Errorf("%d requests are sent", asked)
	}
}
