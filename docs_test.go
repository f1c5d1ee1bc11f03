package shortlink_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
	_ "github.com/caddy-shortlink/shortlink/redis" // whose examples are in the docs
)

// Every fenced block of the README and of docs is an example that runs. Its info string says how:
//
//	caddyfile             a whole Caddyfile, served; the tables behind it say what it answers
//	caddyfile shortlink   lines of a shortlink block, loaded; with "adapt" only adapted
//	caddyfile grammar     the form of the directive, whose options have to be there
//	json handler          a handler in Caddy's JSON, loaded
//	json source           a source in Caddy's JSON, read by the module that it names
//	json FILE, csv FILE   a file beside the examples behind it
//	console               commands and what they print, to the letter
//	sh, dockerfile        what a test cannot run; commands of ours have the flags that are used
//	text diagram          a picture
//	go                    code of an Example function
type document struct {
	name  string
	parts []part
}

// part is a fenced block or a table.
type part struct {
	line int
	info []string   // of a block
	text string     // of a block
	rows [][]string // of a table, with its header
}

func readDocument(t *testing.T, name string) document {
	t.Helper()
	text, err := os.ReadFile(name)
	testcaddy.Must(t, err)
	doc := document{name: name}
	lines := strings.Split(string(text), "\n")
	for i := 0; i < len(lines); i++ {
		switch begin := i; {
		case strings.HasPrefix(lines[i], "```"):
			var block []string
			for i++; i < len(lines) && lines[i] != "```"; i++ {
				block = append(block, lines[i])
			}
			info := strings.Fields(strings.TrimPrefix(lines[begin], "```"))
			if len(info) == 0 {
				t.Fatalf("%s:%d: a block does not say what it is", name, begin+1)
			}
			doc.parts = append(doc.parts,
				part{line: begin + 1, info: info, text: strings.Join(block, "\n") + "\n"})
		case strings.HasPrefix(lines[i], "|"):
			var rows [][]string
			for ; i < len(lines) && strings.HasPrefix(lines[i], "|"); i++ {
				cells := strings.Split(strings.Trim(lines[i], "|"), " | ")
				rows = append(rows, cells)
			}
			i--
			doc.parts = append(doc.parts, part{line: begin + 1, rows: rows})
		}
	}
	return doc
}

func TestEveryExampleOfTheDocsRuns(t *testing.T) {
	names, err := filepath.Glob("docs/*.md")
	testcaddy.Must(t, err)
	for _, name := range append(names, "README.md", "CONTRIBUTING.md", "SECURITY.md") {
		doc := readDocument(t, name)
		t.Run(strings.TrimSuffix(filepath.Base(name), ".md"), func(t *testing.T) {
			example, err := os.ReadFile("Caddyfile.example")
			testcaddy.Must(t, err)
			goExamples := allGoExamples(t)
			t.Chdir(testcaddy.StorageDir(t))
			testcaddy.Must(t, os.WriteFile("Caddyfile.example", example, 0o600))
			r := &exampleRunner{goExamples: goExamples}
			t.Cleanup(func() { caddy.Stop() })
			for _, part := range doc.parts {
				r.run(t, fmt.Sprintf("%s:%d", name, part.line), part)
			}
			r.served(t)
		})
	}
}

// exampleRunner runs the examples of a page, one after the other.
type exampleRunner struct {
	goExamples string
	server     *testcaddy.Server // of the last Caddyfile
	from       string            // where that stands
	asked      int               // how many requests it has been sent
}

func (r *exampleRunner) run(t *testing.T, at string, p part) {
	t.Helper()
	if p.rows != nil {
		r.askAll(t, at, p.rows)
		return
	}
	switch kind := strings.Join(p.info, " "); {
	case kind == "caddyfile":
		r.served(t)
		r.from, r.asked = at, 0
		r.load(t, at, p.text)
		r.askForMistyped(t, at, p.text)
	case kind == "caddyfile shortlink":
		r.load(t, at,
			"http://localhost:8080 {\n\tshortlink {\n\t\t"+strings.ReplaceAll(p.text, "\n",
				"\n\t\t")+"\n\t}\n}\n")
		r.from = ""
	case kind == "caddyfile shortlink adapt":
		if _, err := testcaddy.Adapt("http://localhost {\nshortlink {\n" + p.text + "}\n}\n"); err != nil {
			t.Errorf("%s: %v", at, err)
		}
	case kind == "caddyfile grammar":
		checkGrammar(t, at, p.text)
	case kind == "json handler":
		loadHandler(t, at, p.text)
		r.from = ""
	case kind == "json source":
		checkSource(t, at, p.text)
	case kind == "console":
		replayed := replayConsole(t, at, p.text)
		if replayed != p.text {
			t.Errorf("%s: got\n%s\nwant\n%s", at, replayed, p.text)
		}
	case kind == "sh":
		checkShell(t, at, p.text)
	case kind == "dockerfile", kind == "text diagram":
	case p.info[0] == "go":
		checkGo(t, at, p.text, r.goExamples)
	case len(p.info) == 2 && filepath.IsLocal(p.info[1]):
		testcaddy.Must(t, os.MkdirAll(filepath.Dir(p.info[1]), 0o700))
		testcaddy.Must(t, os.MkdirAll(filepath.Dir(p.info[1]), 0o700))
		testcaddy.Must(t, os.WriteFile(p.info[1], []byte(p.text), 0o600))
	default:
		t.Errorf("%s: %q is no kind of example", at, kind)
	}
}

// served reports a Caddyfile that no table asks anything.
func (r *exampleRunner) served(t *testing.T) {
	t.Helper()
	if r.from != "" && r.asked == 0 {
		t.Errorf("%s: no table says what this answers", r.from)
	}
}

// siteAddresses are the addresses in front of a site's block.
var siteAddresses = regexp.MustCompile(`(?m)^([^\s({&][^{\n]*) \{$`)

// load serves a Caddyfile whose sites are moved to a port of the test's.
func (r *exampleRunner) load(t *testing.T, at, config string) {
	t.Helper()
	r.server = &testcaddy.Server{Addr: testcaddy.FreeAddress(t)}
	_, port, _ := net.SplitHostPort(r.server.Addr)
	moved := siteAddresses.ReplaceAllStringFunc(config, func(addresses string) string {
		var out []string
		for _, host := range hostsOf(addresses) {
			out = append(out, "http://"+host+":"+port)
		}
		return strings.Join(out, ", ") + " {"
	})
	loadExample(t, at, moved)
}

// loadExample serves a Caddyfile, with options of the test in front of its own.
func loadExample(t *testing.T, at, config string) {
	t.Helper()
	rest, hasOptions := strings.CutPrefix(config, "{\n")
	if !hasOptions {
		rest = "}\n" + config
	}
	adapted, err := testcaddy.Adapt("{\n\tadmin off\n\tpersist_config off\n\tskip_install_trust\n" +
		"\tstorage file_system " + testcaddy.StorageDir(t) +
		"\n\tdefault_bind 127.0.0.1\n\tlog default {\n\t\toutput discard\n\t}\n" + rest)
	if err == nil {
		err = caddy.Load(adapted, true)
	}
	if err != nil {
		t.Fatalf("%s: %v", at, err)
	}
}

// hostsOf returns the hosts of the addresses in front of a site's block.
func hostsOf(addresses string) (hosts []string) {
	for address := range strings.SplitSeq(strings.TrimSuffix(addresses, " {"), ", ") {
		if _, rest, hasScheme := strings.Cut(address, "://"); hasScheme {
			address = rest
		}
		host, _, _ := strings.Cut(address, ":")
		hosts = append(hosts, host)
	}
	return hosts
}

// askForMistyped asks each site of a Caddyfile for a link that nobody has made. Who copies the
// example should not serve a blank page for it.
func (r *exampleRunner) askForMistyped(t *testing.T, at, config string) {
	t.Helper()
	for _, addresses := range siteAddresses.FindAllString(config, -1) {
		for _, host := range hostsOf(addresses) {
			url := "http://" + strings.Replace(host, "*", "any", 1) + "/no/such/link"
			if got := r.ask(t, url); got.Status == http.StatusOK && got.Body == "" {
				t.Errorf("%s: %s is answered with a blank 200; add a last handler, such as "+
					`respond "no such link" 404`, at, url)
			}
		}
	}
}

// codeSpans are the words in backquotes.
var codeSpans = regexp.MustCompile("`([^`]*)`")

// askAll sends the requests of a table, if it is one of requests.
func (r *exampleRunner) askAll(t *testing.T, at string, rows [][]string) {
	t.Helper()
	heading := strings.TrimSpace(rows[0][0])
	if len(rows[0]) < 2 || heading != "request" && heading != "page" ||
		strings.Contains(rows[0][1], "answer") != (heading == "request") ||
		!strings.HasPrefix(codeOf(rows[2][0]), "/") && !strings.HasPrefix(codeOf(rows[2][0]), "http") {
		return
	}
	for _, row := range rows[2:] {
		r.asked++
		asked := codeSpans.FindAllStringSubmatch(row[0], -1)
		var header []string
		for _, line := range asked[1:] {
			header = append(header, line[1])
		}
		got := r.ask(t, asked[0][1], header...)
		want, body := answerOf(row[1])
		if heading == "page" {
			want = "200 " + want
			link := strings.TrimSuffix(strings.TrimPrefix(got.Header.Get("Link"), "<http://localhost:8080"),
				`>; rel="shortlink"`)
			if actual := strings.TrimSpace("200 " + link); actual != strings.TrimSpace(want) {
				t.Errorf("%s: %s: got %q, want %q", at, row[0], actual, want)
			}
		} else if got.Location() != want || body != "" && strings.TrimSpace(got.Body) != body {
			t.Errorf("%s: %s: got %q with the body %q, want %q %s", at, row[0], got.Location(), got.Body,
				want, body)
		}
	}
}

func codeOf(cell string) string {
	if span := codeSpans.FindStringSubmatch(cell); span != nil {
		return span[1]
	}
	return ""
}

// answerOf returns what a cell says of an answer: status and Location, and a body.
func answerOf(cell string) (answer, body string) {
	spans := codeSpans.FindAllStringSubmatch(cell, 2)
	if spans == nil {
		return "", ""
	}
	if len(spans) > 1 && strings.Contains(cell, "` with the body `") {
		body = spans[1][1]
	}
	return spans[0][1], body
}

// ask sends a request: for a path, or for a URL of a host.
func (r *exampleRunner) ask(t *testing.T, target string, header ...string) testcaddy.Reply {
	t.Helper()
	_, port, _ := net.SplitHostPort(r.server.Addr)
	host := "localhost"
	if _, rest, _ := strings.Cut(target, "://"); !strings.HasPrefix(target, "/") {
		host, target, _ = strings.Cut(rest, "/")
		target = "/" + target
	}
	got := r.server.Raw(t, "GET",
		"GET "+target+" HTTP/1.1\r\nHost: "+host+":"+port+"\r\n"+testcaddy.HeaderLines(
			header)+"Connection: close\r\n\r\n")
	for _, values := range got.Header {
		for i := range values {
			values[i] = strings.ReplaceAll(
				strings.ReplaceAll(values[i], "localhost:"+port, "localhost:8080"), ":"+port, "")
		}
	}
	return got
}

// checkGrammar checks that the options of the grammar are those of the directive.
func checkGrammar(t *testing.T, at, text string) {
	t.Helper()
	directive, _, _ := strings.Cut(text, " ")
	_, err := testcaddy.Adapt("http://localhost {\n" + directive + " {\nno_such_option x y\n}\n}\n")
	if err == nil {
		t.Fatal("an unknown option is taken")
	}
	for option := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' }) {
		name, _, _ := strings.Cut(strings.TrimSpace(option), " ")
		if name != directive && name != "}" && name != "<key>" && name != "rule" &&
			!strings.Contains(err.Error(), name) {
			t.Errorf("%s: the directive names no option %s: %v", at, name, err)
		}
	}
}

func loadHandler(t *testing.T, at, text string) {
	t.Helper()
	config := map[string]any{
		"admin": map[string]any{"disabled": true},
		"apps": map[string]any{"http": map[string]any{"servers": map[string]any{"example": map[string]any{
			"listen": []string{testcaddy.FreeAddress(t)},
			"routes": []any{map[string]any{"handle": []json.RawMessage{json.RawMessage(text)}}},
		}}}},
	}
	encoded, err := json.Marshal(config)
	if err == nil {
		err = caddy.Load(encoded, true)
	}
	if err != nil {
		t.Errorf("%s: %v", at, err)
	}
}

// checkSource checks that a source's members are those of its module.
func checkSource(t *testing.T, at, text string) {
	t.Helper()
	var members map[string]json.RawMessage
	testcaddy.Must(t, json.Unmarshal([]byte(text), &members))
	var name string
	testcaddy.Must(t, json.Unmarshal(members["source"], &name))
	delete(members, "source")
	module, err := caddy.GetModule("http.shortlink.sources." + name)
	testcaddy.Must(t, err)
	rest, err := json.Marshal(members)
	testcaddy.Must(t, err)
	if err := caddy.StrictUnmarshalJSON(rest, module.New()); err != nil {
		t.Errorf("%s: %v", at, err)
	}
}

// replayConsole types the commands of a transcript again, and returns the transcript as it is now.
func replayConsole(t *testing.T, at, text string) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(text) {
		typed, is := strings.CutPrefix(line, "$ ")
		if !is {
			continue
		}
		command, is := strings.CutPrefix(strings.TrimSpace(typed), "caddy shortlink ")
		if !is {
			t.Errorf("%s: only commands of caddy shortlink can be run", at)
			continue
		}
		output, _ := testcaddy.Run(append([]string{"shortlink"}, strings.Fields(command)...), "")
		out.WriteString(line + output)
	}
	return out.String()
}

// checkShell checks that the commands of ours that a script uses have the flags that it gives them.
func checkShell(t *testing.T, at, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		const with = "--with " + modulePath
		const guest = with + "/(redis|page)"
		if regexp.MustCompile(guest).MatchString(line) &&
			!regexp.MustCompile(with+`[ @=]`).MatchString(line) {
			t.Errorf("%s: a build with a guest alone has no handler: %s", at, line)
		}
		_, command, is := strings.Cut(line, "caddy shortlink ")
		if !is || strings.HasPrefix(command, "#") {
			continue
		}
		command, _, _ = strings.Cut(command, " > ")
		words := strings.Fields(command)
		help, status := testcaddy.Run([]string{"shortlink", words[0], "--help"}, "")
		if status != 0 {
			t.Errorf("%s: there is no command %s", at, words[0])
		}
		for _, word := range words[1:] {
			if flag, _, _ := strings.Cut(word, "="); strings.HasPrefix(flag, "--") &&
				!strings.Contains(help, flag+" ") {
				t.Errorf("%s: %s has no flag %s", at, words[0], flag)
			}
		}
	}
}

// allGoExamples returns the text of the Example functions of the libraries, without its white
// space.
func allGoExamples(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, pattern := range []string{"*/example_test.go", "*_test.go"} {
		files, err := filepath.Glob(pattern)
		testcaddy.Must(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			testcaddy.Must(t, err)
			all.WriteString(strings.Join(strings.Fields(string(text)), " "))
		}
	}
	return all.String()
}

// checkGo checks that code is that of an Example function, which the compiler and go test check.
func checkGo(t *testing.T, at, text, examples string) {
	t.Helper()
	if strings.HasPrefix(text, "package main") {
		return // the program of docs/xcaddy.md, which cmd/caddy is
	}
	if !strings.Contains(examples, strings.Join(strings.Fields(text), " ")) {
		t.Errorf("%s: no Example function has this code", at)
	}
}

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	testcaddy.Must(t, err)
	return string(text)
}

// Whoever runs the example file has read the other one.
func TestTheFirstExampleOfTheREADMEAgreesWithTheExampleFile(t *testing.T) {
	text := readme(t)
	first := filepath.Join(t.TempDir(), "Caddyfile")
	testcaddy.Write(t, first, "http://localhost:8080 {\n"+blockOf(t, text)+"\n}\n")
	text, _, _ = strings.Cut(text, "\n## ")
	claim := regexp.MustCompile("(?m)^\\| `(/[^`]*)` \\| `302 (https:[^`]*)`")
	claims := claim.FindAllStringSubmatch(text, -1)
	if len(claims) != 2 {
		t.Fatalf("the README says where %d paths go", len(claims))
	}
	claims = append(claims, []string{"", "/handbook", "https://caddyserver.com/docs/"})
	for _, claim := range claims {
		for _, config := range []string{first, "Caddyfile.example"} {
			line := []string{"shortlink", "resolve", "--config", config, claim[1]}
			got, status := testcaddy.Run(line, "")
			if !strings.HasSuffix(got, " "+claim[2]+"\n") || status != 0 {
				t.Errorf("%s: %q, %d; want %s", config, got, status, claim[2])
			}
		}
	}
}

func TestThePreCommitHookChecksTheIndex(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	page, err := os.ReadFile("docs/operating.md")
	testcaddy.Must(t, err)
	_, hook, _ := strings.Cut(string(page), "```sh\n#!/bin/sh\n")
	hook, _, _ = strings.Cut(hook, "```")
	dir := t.TempDir()
	testcaddy.Write(t, dir+"/caddy", "#!/bin/sh\necho \"$@\"\ncat\n") // tells what it is asked
	testcaddy.Must(t, os.Chmod(dir+"/caddy", 0o700))
	testcaddy.Write(t, dir+"/links.json", `{"staged": "nonsense"}`)
	shell := func(script string) string {
		cmd := exec.Command("sh", "-e", "-c", script)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "HOME=" + dir}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	shell("git init -q . && git add links.json")
	testcaddy.Write(t, dir+"/links.json", `{"in the working tree": "nonsense"}`)
	asked, stdin, _ := strings.Cut(shell(hook), "\n")
	got, status := testcaddy.Run(strings.Fields(asked), stdin)
	if !strings.Contains(got, `key "staged"`) || status != 1 {
		t.Errorf("%s says %q, %d", asked, got, status)
	}
}

func readExample(t *testing.T) string {
	t.Helper()
	example, err := os.ReadFile("Caddyfile.example")
	if err != nil {
		t.Fatal(err)
	}
	return string(example)
}

func TestTheExampleIsFormatted(t *testing.T) {
	example := readExample(t)
	if formatted := string(caddyfile.Format([]byte(example))); formatted != example {
		t.Errorf("caddy fmt makes of it\n%s", formatted)
	}
}

func TestTheExampleServesWhatItsCommentsSay(t *testing.T) {
	s := &testcaddy.Server{Addr: testcaddy.FreeAddress(t)}
	const address = "http://localhost:8080 {"
	example := readExample(t)
	if strings.Count(example, address) != 1 {
		t.Fatalf("the example has not one site at %s", address)
	}
	_, port, _ := strings.Cut(s.Addr, ":")
	adapted, err := testcaddy.Adapt(
		"{\n admin off\n persist_config off\n log default {\n output discard\n }\n}\n" +
			strings.Replace(example, address, "http://localhost:"+port+" {", 1))
	if err != nil {
		t.Fatal(err)
	}
	if err := caddy.Load(adapted, true); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { caddy.Stop() })

	for target, want := range map[string]string{
		"/github":                              "302 https://github.com/",
		"/github/caddyserver?tab=repositories": "302 https://github.com/caddyserver?tab=repositories",
		"/source/issues":                       "302 https://github.com/caddyserver/caddy/issues",
		"/docs/caddyfile":                      "302 https://github.com/caddyserver/caddy/caddyfile",
		"/docs/draft":                          "302 https://github.com/EthanThatOneKid/go-protocol",
		"/handbook":                            "301 https://caddyserver.com/docs/",
		"/chat/":                               "302 https://caddy.community/",
		"/chat/c/help":                         "404",
		"/unknown":                             "404",
	} {
		got := s.Raw(t, "GET",
			"GET "+target+" HTTP/1.1\r\nHost: localhost:"+port+"\r\nConnection: close\r\n\r\n")
		if got.Location() != want {
			t.Errorf("%s: got %s, want %s", target, got.Location(), want)
		}
		if got.Status == 404 && !strings.HasPrefix(got.Body, "There is no such link.") {
			t.Errorf("%s: got %q, not the next handler's answer", target, got.Body)
		}
	}
}

// exampleOf returns the whole Caddyfile of a page that has a text.
func exampleOf(t *testing.T, page, text string) string {
	t.Helper()
	for _, part := range readDocument(t, page).parts {
		if strings.Join(part.info, " ") == "caddyfile" && strings.Contains(part.text, text) {
			return part.text
		}
	}
	t.Fatalf("%s has no Caddyfile with %s", page, text)
	return ""
}

// serveExample serves a Caddyfile of a page in a new folder, where there is a link.
func serveExample(t *testing.T, page, config string) *exampleRunner {
	t.Helper()
	t.Chdir(t.TempDir())
	testcaddy.Write(t, "links.json", `{"docs": "https://docs.example"}`)
	r := new(exampleRunner)
	r.load(t, page, config)
	return r
}

// gateway answers as oauth2-proxy does: whom a cookie names is signed in.
func gateway(w http.ResponseWriter, r *http.Request) {
	name := r.Header.Get("Cookie")
	switch {
	case r.URL.Path != "/oauth2/auth":
		fmt.Fprint(w, "sign in")
	case name == "":
		w.WriteHeader(http.StatusUnauthorized)
	default:
		if name != "nameless" {
			w.Header().Set("X-Auth-Request-Email", name+"@example.com")
		}
		w.WriteHeader(http.StatusAccepted)
	}
}

func TestTheExampleOfAGatewayBelievesNobodyElse(t *testing.T) {
	const page, address = "docs/go-links.md", "127.0.0.1:4180"
	provider := httptest.NewServer(http.HandlerFunc(gateway))
	t.Cleanup(provider.Close)
	config := exampleOf(t, page, "forward_auth")
	r := serveExample(t, page,
		strings.ReplaceAll(config, address, provider.Listener.Addr().String()))
	const site = "https://go.example.com"
	const forged = "X-Auth-Request-Email: eve@example.com"

	if got := r.ask(t, site+"/docs"); got.Location() != "302 https://docs.example/" {
		t.Errorf("a link needs a sign-in: %s", got.Location())
	}
	signIn := "302 /oauth2/sign_in?rd=https://go.example.com"
	for _, header := range [][]string{nil, {forged}} {
		got := r.ask(t, site+"/.links/new?key=a&to=b", header...)
		if want := signIn + "%2F.links%2Fnew%3Fkey%3Da%26to%3Db"; got.Location() != want {
			t.Errorf("with %q: got %s, want %s", header, got.Location(), want)
		}
	}
	r.ask(t, site+"/oauth2/sign_in").Wants(t, 200, "sign in")
	for _, header := range [][]string{{"Cookie: ann"}, {"Cookie: ann", forged}} {
		got := r.ask(t, site+"/.links/", append(header, testcaddy.AsHTML)...)
		got.Wants(t, 200, "ann@example.com")
	}
	r.ask(t, site+"/.links/", "Cookie: nameless", forged).Wants(t, 403)
}

func TestTheExampleOfReadersLetsOnlyEditorsEdit(t *testing.T) {
	const page = "docs/go-links.md"
	r := serveExample(t, page, exampleOf(t, page, "@readers"))
	post := func(key, user string) testcaddy.Reply {
		form := "key=" + key + "&to=https://new.example"
		request := httptest.NewRequest("POST", "/", nil)
		request.SetBasicAuth(user, "secret")
		header := testcaddy.HeaderLines([]string{
			"Host: localhost",
			"Authorization: " + request.Header.Get("Authorization"),
			"Content-Type: application/x-www-form-urlencoded",
			fmt.Sprint("Content-Length: ", len(form)),
			"Connection: close",
		})
		return r.server.Raw(t, "POST", "POST /.links/new HTTP/1.1\r\n"+header+"\r\n"+form)
	}
	post("a", "ann").Wants(t, 201)
	post("b", "bob").Wants(t, 403)
	if got := testcaddy.ReadFile(t, "links.json"); !strings.Contains(got, `"a"`) ||
		strings.Contains(got, `"b"`) {
		t.Errorf("the file holds %s", got)
	}
}
