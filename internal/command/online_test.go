package command_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

func TestRulesAreAddedListedAndRemovedByCommand(t *testing.T) {
	s, path, _ := testcaddy.Editable(t, "links.json", "{}")
	s.Says(t, "docs https://docs.example\n", 0, "add", "docs", "https://docs.example")
	s.Says(t, "docs/v 2 https://v2.example 301 exact unlisted\n", 0, "add", "docs/v 2",
		"https://v2.example", "--status", "301", "--exact", "--unlisted")
	s.Says(t, "moved https://new.example 301\n", 0,
		"add", "moved", "https://new.example", "--status", "permanent")
	const gone = "Note: this rule was removed: "
	s.Says(t, gone+"moved https://new.example 301\n", 0, "remove", "moved")
	s.Says(t, "find https://find.example/?q=a ignore\n", 0,
		"add", "find", "https://find.example/?q=a", "--query", "ignore")
	if got := s.Get(t, "/find?q=b").Location(); got != "302 https://find.example/?q=a" {
		t.Errorf("got %s", got)
	}
	s.Says(t, "find https://find.example/?q=a ignore\n", 0, "list", "find")
	s.Says(t, gone+"find https://find.example/?q=a ignore\n", 0, "remove", "find")
	s.Says(t, `{"created":false,"key":"docs","value":"https://new.example",`+
		`"was":"https://docs.example"}`+"\n", 0, "add", "docs", "https://new.example", "--format", "json")
	if got := s.Get(t, "/docs/v%202").Location(); got != "301 https://v2.example/" {
		t.Errorf("got %s", got)
	}
	s.Says(t, "docs https://new.example\ndocs/v%202 https://v2.example 301 exact unlisted\nhome "+
		"https://home.example\n", 0, "list")
	s.Says(t, "home https://home.example\n", 0, "list", "home/")
	s.Says(t, "{\n\t\"home\": \"https://home.example\"\n}\n", 0, "list", "home", "--format", "json")
	s.Says(t, gone+"docs https://new.example\nNote: this also changes 1 other link:\n"+
		"  docs/v%202/…: was 302 https://new.example/v%202/…, now pass\n"+
		gone+"docs/v 2 https://v2.example 301 exact unlisted\n", 0, "remove", "docs", "docs/v 2")
	s.Says(t, "home https://home.example\n", 0, "list")
	content, err := os.ReadFile(path)
	testcaddy.Must(t, err)
	if string(content) != "{}" {
		t.Errorf("the file holds %q", content)
	}
}

func TestHitsAreWrittenAsATableAndBesideRules(t *testing.T) {
	s, _, _ := testcaddy.Editable(t, "links.json", `{"docs": "https://docs.example", "a,b": "/docs 2",
		"docs/%64": {"to": "https://d.example", "status": 301}}`)
	for _, path := range []string{"/docs", "/docs/d", "/docs/d/e", "/docs/x"} {
		s.Get(t, path)
	}
	minutes := regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:00Z`)
	for _, tt := range []struct{ line, want string }{
		{"hits --format csv", "key,count,last\n\"a,b\",0,\ndocs,2,TIME\ndocs/%64,2,TIME\nhome,0,\n"},
		{"hits --format csv --unused 1d", "key,count,last\n\"a,b\",0,\nhome,0,\n"},
		{"list --hits", "" +
			"         0  never                 a,b /docs 2\n" +
			"         2  TIME  docs https://docs.example\n" +
			"         2  TIME  docs/%64 https://d.example 301\n" +
			"         0  never                 home https://home.example\n"},
		{"list docs/d --hits", "         2  TIME  docs/%64 https://d.example 301\n"},
		{"list docs --hits --format json", "{\n" +
			"\t\"docs\": {\"rule\":\"https://docs.example\",\"count\":2,\"last\":\"TIME\"},\n" +
			"\t\"docs/%64\": {\"rule\":{\"to\":\"https://d.example\",\"status\":301}," +
			"\"count\":2,\"last\":\"TIME\"}\n}\n"},
		{"list nothing --hits --format json", "{\n}\n"},
	} {
		got, _ := s.Command(strings.Fields(tt.line)...)
		if _, rest, isNoted := strings.Cut(got, "which is a shorter time\n"); isNoted {
			got = rest
		}
		if got = minutes.ReplaceAllString(got, "TIME"); got != tt.want {
			t.Errorf("%s says\n%s\nwant\n%s", tt.line, got, tt.want)
		}
	}
	days, _ := s.Command("hits", "--days", "--format", "csv")
	if rows := strings.Split(days, "\n"); len(rows) != 92 || rows[0] != "date,count" ||
		!strings.HasSuffix(rows[90], ",4") {
		t.Errorf("the days are\n%s", days)
	}
}

func TestHitsListsTheMostUsedRulesFirstAndCountsTheOthers(t *testing.T) {
	s, _, _ := testcaddy.Editable(t, "links.json", `{"a": "https://a.example", "b": "https://b.example",
		"c": "https://c.example", "d": "https://d.example", "e": "https://e.example"}`)
	for _, path := range []string{"/d", "/b", "/d", "/e", "/d", "/b"} {
		s.Get(t, path)
	}
	const d, b, e = "         3  TIME  d\n", "         2  TIME  b\n", "         1  TIME  e\n"
	const others = "3 rules have no hits; --unused 90d lists rules not used for 90 days\n"
	minutes := regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	for _, tt := range []struct{ line, want string }{
		{"hits", "counted since TIME\n" + d + b + e + others},
		{"hits --top 3", "counted since TIME\n" + d + b + e + others},
		{"hits --top 1", "counted since TIME\n" + d + "and 2 more\n" + others},
		{"hits --unused 2m --top 2", "counted since TIME\n" +
			"         0  never                 a\n         0  never                 c\n" +
			"and 1 more\n"},
	} {
		got, exit := s.Command(strings.Fields(tt.line)...)
		if _, rest, isNoted := strings.Cut(got, "which is a shorter time\n"); isNoted {
			got = rest
		}
		if got = minutes.ReplaceAllString(got, "TIME"); got != tt.want || exit != 0 {
			t.Errorf("%s says, with status %d,\n%s\nwant\n%s", tt.line, exit, got, tt.want)
		}
	}
}

func TestListSaysThatNoRuleIsForAKeyOrBelowIt(t *testing.T) {
	s, _, _ := testcaddy.Editable(t, "links.json", `{"docs": "https://docs.example"}`)
	const want = `Error: there is no rule for the key "doc" or below it; write whole segments, or ` +
		"list alone for all rules\n"
	s.Says(t, want, 1, "list", "doc/")
	s.Says(t, want, 1, "list", "doc", "--hits")
	s.Says(t, "{\n}\n", 0, "list", "doc", "--hits", "--format", "json")
	s.Says(t, "docs https://docs.example\n", 0, "list", "docs")
}

func TestStatusMarksTheSourceThatEditsGoTo(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first.json"), filepath.Join(dir, "second.json")
	testcaddy.Write(t, first, "{}")
	testcaddy.Write(t, second, "{}")
	s := testcaddy.Administer(t, "", "shortlink {\n from file "+first+"\n from file "+second+"\n }")
	got, exit := s.Command("status")
	want := "  from " + first + " (writable; edits go here)\n  from " + second + " (writable)\n"
	if !strings.Contains(got, want) || exit != 0 {
		t.Errorf("got %q, %d; want %q", got, exit, want)
	}
	shared := "shortlink {\n from file " + first + "\n name go\n }\n"
	s = testcaddy.Administer(t, "", "handle /a/* {\n"+shared+"}\n"+shared+"shortlink {\n x /y\n name go\n }")
	if got, _ := s.Command("status"); strings.Contains(got, "edits go here") ||
		!strings.Contains(got, "(writable)") {
		t.Errorf("handlers of one name cannot be edited, and it says %q", got)
	}
}

func TestAddNamesTheRuleThatItReplaces(t *testing.T) {
	s, _, _ := testcaddy.Editable(t, "links.json",
		`{"a": {"to": "https://café.example/日本😀", "status": 301}}`)
	s.Says(t, replacedNote+"a https://café.example/日本😀 301\na https://a.example\n",
		0, "add", "a", "https://a.example")
	s.Says(t, "a https://a.example\n", 0, "add", "a", "https://a.example")
	s.Says(t, "b https://a.example\n", 0, "add", "--new", "b", "https://a.example")
	s.Says(t, `Error: there is a rule for the key "b"; to replace it, leave --new out`+"\n",
		1, "add", "--new", "b", "https://b.example")
	s.Says(t, `{"created":false,"key":"a","value":"/b","was":"https://a.example"}`+"\n",
		0, "add", "a", "/b", "--format", "json")
}

func TestAddKeepsTheNoteThatARuleHas(t *testing.T) {
	s, path, _ := testcaddy.Editable(t, "links.json", "{}")
	s.Says(t, "docs https://docs.example # for the fair\n", 0,
		"add", "docs", "https://docs.example", "--note", "for the fair")
	s.Says(t, replacedNote+"%64ocs https://docs.example # for the fair\n"+
		"%64ocs /home 301 # for the fair\n", 0, "add", "%64ocs", "/home", "--status", "301")
	s.Says(t, "docs /home 301 # for the fair\n", 0, "list", "docs")
	s.Says(t, replacedNote+"docs /home 301 # for the fair\ndocs /home\n", 0,
		"add", "docs", "/home", "--note", "")
	const url = "https://short.example/a/very/long/path"
	made, _ := s.Command("add", url, "--note", "é: why")
	key, _, _ := strings.Cut(made, " ")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, key + " " + url + " # é: why\n"},
		{[]string{"--exact"}, key + " " + url + " exact # é: why\n"},
		{[]string{"--note", ""}, key + " " + url + "\n"},
	} {
		got, _ := s.Command(append([]string{"add", url}, tt.args...)...)
		if !strings.HasSuffix(got, tt.want) {
			t.Errorf("%q says %q, want %q", tt.args, got, tt.want)
		}
	}
	const tooLong = `key "a": note: it has 501 bytes, and may have 500; shorten it`
	s.Says(t, "Error: "+path+": "+tooLong+"\n", 1,
		"add", "a", "/b", "--note", strings.Repeat("n", 501))
}

func TestAddWritesWhenARuleBeginsAndEnds(t *testing.T) {
	s, path, _ := testcaddy.Editable(t, "links.json", `{"docs": {"to": "/a", "until": "2999-01-01",
		"note": "why"}}`)
	s.Says(t, "fair /b 301 since 2999-03-01T17:00:00Z until 2999-06-01\n", 0, "add", "fair", "/b",
		"--status", "301", "--since", "2999-03-01T18:00:00+01:00", "--until", "2999-06-01")
	s.Says(t, "fair /b 301 since 2999-03-01T17:00:00Z until 2999-06-01\n", 0, "list", "fair")
	if got := testcaddy.ReadFile(t, path); !strings.Contains(got,
		`"fair": {"to":"/b","status":301,"since":"2999-03-01T17:00:00Z","until":"2999-06-01"}`) {
		t.Errorf("the file has %s", got)
	}
	s.Says(t, replacedNote+"docs /a until 2999-01-01 # why\ndocs https://c.example # why\n",
		0, "add", "docs", "https://c.example")
	s.Says(t, "Error: until is 2026-01-01, which is not after since, 2026-01-01; write a later "+
		"until, or an earlier since\n", 2, "add", "a", "/b", "--since", "2026-01-01", "--until", "2026-01-01")
	limited := []string{"add", "https://e.example", "--until", "2999-05-01"}
	first, _ := s.Command(limited...)
	s.Says(t, first, 0, limited...)
	if always, _ := s.Command("add", "https://e.example"); strings.Contains(always, "until") ||
		strings.Fields(always)[0] == strings.Fields(first)[0] {
		t.Errorf("beside %s, a link for always is %s", first, always)
	}
	status, _ := s.Command("status")
	if !strings.Contains(status, "a window begins or ends next at 2999-03-01T17:00:00Z") {
		t.Errorf("the status is %s", status)
	}
}

func TestAddKeepsANoteThatComesBetween(t *testing.T) {
	s, _, _ := testcaddy.Editable(t, "links.json", `{"docs": "https://old.example"}`)
	const others = 12
	edits := 0
	admin := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = "http", s.Admin, s.Admin
		r.Out.Header.Del("Origin") // which names the proxy
		if r.In.Method == http.MethodPut && edits < others {
			edits++
			s.Put(t, "docs", fmt.Sprintf(`{"to": "https://old.example", "note": "of edit %d"}`, edits))
		}
	}}
	between := httptest.NewServer(admin)
	defer between.Close()
	got, exit := testcaddy.Run([]string{"shortlink", "add", "docs", "https://docs.example",
		"--address", between.Listener.Addr().String()}, "")
	want := replacedNote + "docs https://old.example # of edit 12\n" +
		"docs https://docs.example # of edit 12\n"
	if got != want || exit != 0 {
		t.Errorf("it says %q, %d; want %q", got, exit, want)
	}
	s.Says(t, "docs https://docs.example # of edit 12\n", 0, "list", "docs")
}

func TestAddMendsARuleThatIsRejected(t *testing.T) {
	s, path, _ := testcaddy.Editable(t, "links.json", `{"docs": "https://old.example"}`)
	testcaddy.Write(t, path, `{"docs": "nowhere"}`)
	s.Says(t, replacedNote+"docs nowhere\ndocs https://docs.example\n", 0,
		"add", "docs", "https://docs.example")
}

func TestWhatARunningCaddyRefusesIsSaid(t *testing.T) {
	s, _, _ := testcaddy.Editable(t, "links.json", "{}")
	digest := strings.Trim(s.Ask(t, "GET", "links/rules", "").Header.Get("ETag"), `"`)
	for name, tt := range map[string]struct {
		args   []string
		want   string
		status int
	}{
		"a bad destination": {[]string{"add", "docs", "docs.example"},
			`the destination "docs.example" is neither`, 1},
		"a rule that is not":    {[]string{"remove", "docs"}, `there is no rule for the key "docs"`, 1},
		"a rule that is inline": {[]string{"remove", "home"}, "change Caddy's configuration", 1},
		"a digest that is old": {[]string{"add", "docs", "https://docs.example", "--if-match", "abc"},
			"the rules have changed: their digest is " + digest, 1},
		"a query mode that is none": {[]string{"add", "a", "https://a.example", "--query", "drop"},
			`--query takes merge, preserve or ignore, not "drop"`, 2},
		"no URL": {[]string{"add"}, "add takes a key and a URL", 2},
		"no key": {[]string{"remove"}, "there is no key", 2},
		"a key of dots": {[]string{"remove", "a/%2e%2e/docs"}, "cannot be named in a request",
			2},
		"a key of empty segments": {[]string{"add", "a//b", "https://a.example"},
			"cannot be named in a request", 2},
		"another handler": {[]string{"list", "--name", "other"},
			`there is no shortlink handler "other"; there are: links`, 1},
		"two prefixes": {[]string{"list", "a", "b"}, "list takes one prefix at most", 2},
		"one digest for two keys": {[]string{"remove", "a", "b", "--if-match", "x"},
			"--if-match is for one key", 2},
	} {
		t.Run(name, func(t *testing.T) {
			if got, exit := s.Command(tt.args...); !strings.Contains(got, tt.want) || exit != tt.status {
				t.Errorf("got %q, %d; want %q, %d", got, exit, tt.want, tt.status)
			}
		})
	}
	nobody := &testcaddy.Server{Admin: testcaddy.FreeAddress(t)}
	if got, exit := nobody.Command("list"); exit != 1 || !strings.Contains(got, "connection refused") {
		t.Errorf("where nobody is: %q, %d", got, exit)
	}
}

func TestWhatIsWrittenWronglyIsRefusedBeforeCaddyIsAsked(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"add --name links /docs https://docs.example",
			`key "/docs": the key begins with "/"; write docs`},
		{"list --name links /docs", `key "/docs": the key begins with "/"; write docs`},
		{"add --name links q\x1bx https://k.example", `key "q\x1bx": the key contains a control character; ` +
			"remove it, or write it percent-encoded"},
		{"add --name links r\x9bx https://k.example",
			`the key "r\x9bx" is not UTF-8; write its bytes ` +
				"percent-encoded, such as %9B"},
		{"add --name links k https://k.example/\xff",
			`the destination "https://k.example/\xff" is not UTF-8; write its bytes ` +
				"percent-encoded, such as %9B"},
		{"add docs https://docs.example --status 200", "--status takes 301, 302, 303, 307, 308, " +
			`permanent or temporary, not "200"`},
		{"add docs https://docs.example --status 410", "--status takes 301, 302, 303, 307, 308, " +
			`permanent or temporary, not "410"; write gone as the destination`},
		{"add https://docs.example docs",
			"key and destination are exchanged; write: caddy shortlink add docs https://docs.example"},
		{"add https://docs.example/v2 /docs --exact", "key and destination are exchanged; write: " +
			"caddy shortlink add docs https://docs.example/v2"},
		{"hits --unused 3x", "--unused takes a duration of at least a minute, such as 90d, " +
			`not "3x"`},
		{"hits --days --unused 3d",
			"--days lists days and --unused lists rules; write one of them"},
		{"hits --days a b", "hits --days takes one key at most"},
		{"hits --days --top 3", "--days lists days and --top lists rules; write one of them"},
		{"hits --top 3 --format csv",
			"--top is for text; with --format csv or json all rules are listed by key"},
		{"hits --top -1", `--top takes a number from 0, not "-1"; see caddy shortlink hits --help`},
		{"status --address https://localhost:2019", "--address takes an address that speaks " +
			`plain HTTP, such as localhost:2019, not "https://localhost:2019"`},
	} {
		line := tt.line
		if !strings.Contains(line, "--address") {
			line += " --address localhost:1"
		}
		got, exit := testcaddy.Run(strings.Fields("shortlink "+line), "")
		if want := "Error: " + tt.want + "\n"; got != want || exit != 2 {
			t.Errorf("%s: got %q, %d; want %q", tt.line, got, exit, want)
		}
	}
}

func TestNobodyIsToldOfAKeyThatWasMadeOfABadURL(t *testing.T) {
	path := filepath.Join(t.TempDir(), "links.json")
	testcaddy.Write(t, path, "{}")
	s := testcaddy.Administer(t, "", "shortlink {\n allow_hosts a.example\n from file "+path+"\n }")
	for _, tt := range []struct{ url, want string }{
		{"docs.example", `the destination "docs.example" is neither a URL that begins with http:// or ` +
			"https:// nor a path that begins with /; write https://docs.example or /docs.example"},
		{"https://b.example", `the host "b.example" is not one of allow_hosts; add it there, or ` +
			"change the destination"},
	} {
		s.Says(t, "Error: "+path+": "+tt.want+"\n", 1, "add", tt.url)
	}
}

const replacedNote = "Note: this rule was replaced: "

func TestAKeyIsMadeOfAURLShortAndStable(t *testing.T) {
	s, _, _ := testcaddy.Editable(t, "links.json", "{}")
	made := regexp.MustCompile(`^([0-9a-hjkmnp-tv-z]+) (\S+)\n$`)
	keys := map[string]string{}
	for _, url := range []string{"https://example.com/a", "https://example.com/b",
		"https://example.com/c"} {
		got, exit := s.Command("add", url)
		words := made.FindStringSubmatch(got)
		if words == nil || exit != 0 {
			t.Fatalf("got %q, %d", got, exit)
		}
		for other, key := range keys {
			if key == words[1] {
				t.Errorf("%s and %s have the key %s", url, other, key)
			}
		}
		keys[url] = words[1]
	}
	s.Says(t, keys["https://example.com/a"]+" https://example.com/a\n", 0, "add",
		"https://EXAMPLE.com/./a")
	a := keys["https://example.com/a"] + " "
	s.Says(t, replacedNote+a+"https://example.com/a\n"+a+"https://EXAMPLE.com/./a 301\n", 0,
		"add", "https://EXAMPLE.com/./a", "--status", "301")
	s.Says(t, keys["https://example.com/a"]+" https://EXAMPLE.com/./a 301\n", 0, "add",
		"https://example.com/a")
	key := keys["https://example.com/b"]
	s.Says(t, replacedNote+key+" https://example.com/b\n"+key+" https://other.example\n", 0,
		"add", key, "https://other.example")
	got, _ := s.Command("add", "https://example.com/b")
	longer := made.FindStringSubmatch(got)[1]
	if len(longer) <= len(key) || !strings.HasPrefix(longer, key) {
		t.Errorf("where %s is taken, the key is %s", key, longer)
	}
	s.Says(t, "Note: this rule was removed: "+key+" https://other.example\n", 0, "remove", key)
	s.Says(t, longer+" https://example.com/b\n", 0, "add", "https://example.com/b")
	if got, exit := s.Command("add", "https://example.com/d", "--length", "17"); exit != 2 ||
		!strings.Contains(got, "--length must be at most 16") {
		t.Errorf("got %q, %d", got, exit)
	}
	if got, _ := s.Command("add", "https://example.com/d", "--length", "5"); !regexp.MustCompile(`^\S{5} `).MatchString(got) {
		t.Errorf("got %q", got)
	}
}

func TestTheStatusOfHandlersAndAReloadAreSaid(t *testing.T) {
	dir := t.TempDir()
	links := filepath.Join(dir, "links.json")
	testcaddy.Write(t, links, `{"a": "https://old.example"}`)
	s := testcaddy.Administer(t, "",
		"shortlink {\n from file "+links+" {\n poll off\n }\n name links\n }\n shortlink {\n b "+
			"https://b.example\n }")
	status := regexp.MustCompile(`^links: 1 rule, digest [0-9a-f]{64}\n  from ` +
		regexp.QuoteMeta(links) +
		` \(writable; edits go here\)\n  loaded at \S+\nshortlink: 1 rule, digest [0-9a-f]{64}\n  loaded at \S+\n$`)
	if got, exit := s.Command("status"); !status.MatchString(got) || exit != 0 {
		t.Errorf("got %q, %d", got, exit)
	}
	if got, exit := s.Command("list"); exit != 2 ||
		!strings.Contains(got, "write --name with one of: links, shortlink") {
		t.Errorf("got %q, %d", got, exit)
	}
	testcaddy.Write(t, links, `{"a": "https://new.example", "b": "https://b.example"}`)
	if got, exit := s.Command("reload", "--name", "links"); !strings.Contains(got, "links: 2 rules") ||
		exit != 0 {
		t.Errorf("got %q, %d", got, exit)
	}
	testcaddy.Write(t, links, `{`)
	if got, exit := s.Command("reload", "--name", "links"); !strings.Contains(got, "it ends too early") || exit != 1 {
		t.Errorf("got %q, %d", got, exit)
	}
	if got, exit := s.Command("status", "--name", "links"); !strings.Contains(got, "rejected at ") ||
		!strings.Contains(got, "failing since ") || exit != 1 {
		t.Errorf("got %q, %d", got, exit)
	}
	if got, exit := s.Command("status", "--name", "shortlink", "--format", "json"); !strings.Contains(got, `"result":"loaded"`) || exit != 0 {
		t.Errorf("got %q, %d", got, exit)
	}
}

func TestAHandlerWithoutANameHasOneNameRunningOrNot(t *testing.T) {
	const block = `
	handle_path /one/* {
		shortlink {
			docs https://one.example/?a=1&b=2
			b https://b.example
			expect /docs/x https://one.example/x?a=1&b=2
		}
	}
	handle_path /two/* {
		shortlink {
			docs https://two.example/
			cache 1h
		}
	}
	shortlink {
		docs https://three.example/
		from file {env.LINKS} {
			format csv
		}
	}`
	links := filepath.Join(t.TempDir(), "links")
	testcaddy.Write(t, links, "a,https://a.example\n")
	t.Setenv("LINKS", links)
	s := testcaddy.Administer(t, "", block)
	config := filepath.Join(t.TempDir(), "Caddyfile")
	testcaddy.Write(t, config, "http://localhost {"+block+"\n}\n")
	for _, name := range []string{"shortlink", "shortlink-2", "shortlink-3"} {
		running, _ := s.Command("list", "docs", "--name", name)
		_, destination, _ := strings.Cut(running, " ")
		resolve := []string{"shortlink", "resolve", "--config", config, "--name", name, "/docs"}
		if got, exit := testcaddy.Run(resolve, ""); exit != 0 || got != "/docs -> 302 "+destination {
			t.Errorf("running, %s has %q; otherwise %q, %d", name, running, got, exit)
		}
	}
}

func TestHandlersThatShareANameAreToldApartBySite(t *testing.T) {
	s := testcaddy.Administer(t, "", `handle /a/* {
		shortlink {
			a https://a.example
		}
	}
	shortlink {
		b https://b.example
	}`)
	name := `shortlink(-2)? \(:` + s.Addr[strings.LastIndex(s.Addr, ":")+1:] + `\)`
	for command, want := range map[string]string{
		"list":   "write --name with one of: " + name + ", " + name + "\n",
		"status": name + ": 1 rule, digest ",
	} {
		got, _ := s.Command(command)
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s says %q, and not %s", command, got, want)
		}
	}
}

func TestTheAddressOfTheEndpointIsFoundInTheConfiguration(t *testing.T) {
	s, _, _ := testcaddy.Editable(t, "links.json", "{}")
	elsewhere := filepath.Join(t.TempDir(), "site.caddyfile")
	t.Chdir(t.TempDir())
	for _, config := range []string{elsewhere, "Caddyfile"} {
		testcaddy.Write(t, config, "{\n\tadmin "+s.Admin+"\n}\n")
	}
	byAddress := "--address http://" + s.Admin + "/"
	for _, flags := range []string{"", "--config " + elsewhere, byAddress} {
		got, exit := testcaddy.Run(strings.Fields("shortlink list "+flags), "")
		if got != "home https://home.example\n" || exit != 0 {
			t.Errorf("%q: got %q, %d", flags, got, exit)
		}
	}
}

func TestWhereNobodyAnswersTheAddressFlagIsNamed(t *testing.T) {
	t.Chdir(t.TempDir())
	nowhere := testcaddy.FreeAddress(t)
	for name, tt := range map[string]struct {
		caddyfile, flags string
		want             string
		status           int
	}{
		"at the Caddyfile's address": {"{\n\tadmin " + nowhere + "\n}\n", "",
			"refused; is Caddy running? if its admin endpoint is elsewhere, write --address\n", 1},
		"at the user's address": {"", "--address " + nowhere, "connection refused\n", 1},
		"for a broken Caddyfile": {"{\n\tadmin\n", "",
			"Caddyfile, which may say where the admin endpoint is, cannot be read", 2},
	} {
		t.Run(name, func(t *testing.T) {
			testcaddy.Write(t, "Caddyfile", tt.caddyfile)
			got, exit := testcaddy.Run(strings.Fields("shortlink status "+tt.flags), "")
			if exit != tt.status || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, %d; want %q, %d", got, exit, tt.want, tt.status)
			}
		})
	}
}

func TestAddAndRemoveTellWhatElseChanges(t *testing.T) {
	s, path, _ := testcaddy.Editable(t, "links.json", `{
		"base": "https://base.example", "x": "/base", "y": "/base/deep#f", "top": "/"}`)
	const removed = "Note: this rule was removed: "
	s.Says(t, "Note: this rule was replaced: base https://base.example\n"+
		"Note: this also changes 2 other links:\n"+
		"  x: was 302 https://base.example/, now 302 https://new.example/\n"+
		"  y: was 302 https://base.example/deep#f, now 302 https://new.example/deep#f\n"+
		"base https://new.example\n", 0, "add", "base", "https://new.example")
	s.Says(t, "Warning: "+path+": key \"z\": no link answers /nobody; the site itself must\n"+
		"z /nobody\n", 0, "add", "z", "/nobody")
	s.Says(t, `{"created":false,"key":"z","value":"/nobody2","was":"/nobody"}`+"\n", 0,
		"add", "z", "/nobody2", "--format", "json")
	s.Says(t, removed+"base https://new.example\nNote: this also changes 2 other links:\n"+
		"  x: was 302 https://new.example/, now 302 /base\n"+
		"  y: was 302 https://new.example/deep#f, now 302 /base/deep#f\n"+
		"Warning: "+path+": key \"x\": no link answers /base; the site itself must\n"+
		"Warning: "+path+": key \"y\": no link answers /base/deep; the site itself must\n"+
		removed+"z /nobody2\n", 0, "remove", "base", "z")
}

func TestOfManyEffectsTheFirstAreTold(t *testing.T) {
	rules := []string{`"base": "https://base.example"`}
	for i := range 150 {
		rules = append(rules, fmt.Sprintf(`"k%03d": "/base/%d"`, i, i))
	}
	s, _, _ := testcaddy.Editable(t, "links.json", "{"+strings.Join(rules, ",")+"}")
	got, _ := s.Command("add", "base", "https://new.example")
	for _, want := range []string{
		"this also changes 150 other links:\n  k000: was ", "\n  k099: was ", "\n  and 50 more\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}
