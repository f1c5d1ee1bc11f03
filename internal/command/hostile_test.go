package command_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// isSafe checks that an output holds nothing that a terminal obeys, or that turns text around.
func isSafe(t *testing.T, output string, args []string) {
	t.Helper()
	for _, r := range output {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			t.Errorf("%q prints %q: %q", args, r, output)
			return
		}
	}
}

func TestNoCommandPrintsWhatATerminalObeys(t *testing.T) {
	const hostile = "\x1b[2J\u009b31m\u202e\x07\r\x7f\x9b"
	dir := filepath.Join(t.TempDir(), "evil\x1b[2J\u009b\u202e\nname")
	testcaddy.Must(t, os.Mkdir(dir, 0o700))
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		testcaddy.Must(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	good := file("good.json", `{"a\u202e": "/b\u2066?q=\u202e#\u202e", "b\u2066": "https://b.example/\u202e",
		"t/{x}": "/b/{x}\u2067"}`)
	other := file("other.json",
		`{"a\u202e": "/c\u2066?q=\u202e#\u202e", "loop\u202e": "/loop\u202e/x"}`)
	bad := file("bad.json", `{"a\u001b": "/\u009b", "\u009b": 5,
		"b": {"to": "x\u001b", "\u001b\u202e": 1}}`)
	csv := file("bad.csv", "key,to,"+hostile+"\na"+hostile+",/b"+hostile+"\nc\u009b,/d,\u202e\n")
	redirects := file("_redirects", "/"+hostile+" /b\n/c\u009b /d\u202e\n/e f"+hostile+"=1 /g\n"+
		"/h /i "+hostile+"\n/j /k\n")
	site := func(lines string) string { return "http://localhost {\n shortlink {\n" + lines + " }\n}" }
	caddyfile := file("Caddyfile", site("a\u202e https://b.example/\u202e\n"))
	broken := file("Caddyfile.bad", site("a\u009b\x1b https:/b.example/\u202e\n\x1b\nstatus \x1b\n"))
	for _, args := range [][]string{
		{"resolve", "--rules", good, "--explain", "/a%E2%80%AE/x" + hostile, "/t/y" + hostile},
		{"resolve", "--rules", good, "--explain", "https://\x1b" + hostile, "/nothing"},
		{"resolve", "--rules", good, "--explain", "--format", "json", "/a%E2%80%AE" + hostile},
		{"resolve", "--rules", good, "--explain", "-"},
		{"resolve", "--config", caddyfile, "--explain", "/a%E2%80%AE"},
		{"reverse", "--rules", good, "/b", "https://b.example/\u202e", "/nothing" + hostile},
		{"reverse", "--rules", good, "--below", "https://b.example/" + hostile, "--format", "json"},
		{"reverse", "--rules", good, hostile},
		{"check", "--rules", good}, {"check", "--rules", good, "--format", "json"},
		{"check", "--rules", other}, {"check", "--rules", bad},
		{"check", "--rules", bad, "--format", "json"},
		{"check", "--rules", csv}, {"check", "--rules", redirects},
		{"check", "--config", caddyfile},
		{"check", "--config", broken}, {"check", "--config", broken, "--format", "json"},
		{"check", "--rules", good, "--host", hostile},
		{"check", "--rules", filepath.Join(dir, "missing"+hostile)},
		{"diff", good, other}, {"diff", good, other, "--format", "json"}, {"diff", good, bad},
		{"diff", caddyfile, good},
		{"convert", "--to", "csv", good}, {"convert", "--to", "json", good},
		{"convert", "--to", "redirects", good}, {"convert", "--to", "json", bad},
		{"convert", "--to", "json", csv}, {"convert", "--to", "csv", redirects},
		{"convert", "--to", "json", redirects}, {"convert", "--to", hostile, redirects},
		{"check", "--" + hostile}, {"--" + hostile}, {hostile}, {"hits", "--unused", hostile},
		{"status", "--address", "localhost:1", hostile}, {"status", "--address", hostile},
	} {
		stdin := "/a" + hostile + "\n" + hostile + "\n/b\n"
		output, _ := testcaddy.Run(append([]string{"shortlink"}, args...), stdin)
		isSafe(t, output, args)
		if !strings.Contains(output, "\n") {
			t.Errorf("%q prints %q", args, output)
		}
	}
}

func TestNoCommandForARunningCaddyPrintsWhatATerminalObeys(t *testing.T) {
	s, _, _ := testcaddy.Editable(t, "links.json",
		`{"a\u202e": "/b\u2066?q=\u202e#\u202e", "b": "https://b.example/\u202e"}`)
	for _, args := range [][]string{
		{"list"}, {"list", "--format", "json"}, {"hits"}, {"hits", "--format", "json"},
		{"status"}, {"reload"},
		{"add", "c\u202e", "https://c.example/\u202e"},
		{"add", "c\u202e", "https://d.example/\u202e"},
		{"add", "c\u202e", "https://e.example/\u202e", "--format", "json"},
		{"add", "d", "\x1b\u009b"}, {"add", "\x1b\u009b", "https://e.example/"},
		{"remove", "c\u202e"}, {"remove", "c\u202e\x1b"},
		{"list", "--name", "\x1b\u009b"}, {"add", "https://f.example/\u202e"},
	} {
		output, _ := s.Command(args...)
		isSafe(t, output, args)
	}
}

// A name with a line end would let what stands behind it pass for a line of the output.
func TestNamesOfFilesAreOnTheLineOfWhatIsSaidOfThem(t *testing.T) {
	const forged = "x\nforged"
	dir := filepath.Join(t.TempDir(), forged)
	testcaddy.Must(t, os.Mkdir(dir, 0o700))
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		testcaddy.Must(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	site := func(lines string) string { return "http://localhost {\n shortlink {\n" + lines + " }\n}" }
	missing := filepath.Join(dir, forged+".json")
	good, bad := file("good.json", `{"a": "/b", "b*": "/b"}`), file("bad.json", `{"a": "b"}`)
	caddyfile := file("Caddyfile", site("a /b\n b* /c\n"))
	broken := file("Caddyfile.bad", site("a b/\n status 1\n"))
	noCaddyfile := file("Caddyfile.none", "{{{\n")
	forgedLine := regexp.MustCompile(`(?m)^\s*forged`)
	quoted := `"` + missing + `"`
	fromFile := file("Caddyfile.from", site("from file "+quoted+"\n"))
	twice := file("Caddyfile.twice", site("a /b\n")+"\n"+site("a /c\n"))
	for _, args := range [][]string{
		{"check", "--rules", missing}, {"check", "--config", missing}, {"check", missing},
		{"check", "--rules", good}, {"check", "--rules", bad}, {"check", "--rules", caddyfile},
		{"check", "--config", caddyfile}, {"check", "--config", broken},
		{"check", "--config", noCaddyfile}, {"check", "--config", fromFile},
		{"check", "--config", caddyfile, "--adapter", forged},
		{"check", "--config", noCaddyfile, "--adapter", "caddyfile"},
		{"check", "--config", twice}, {"resolve", "--config", twice, "/a"},
		{"check", "--rules", good, "--host", forged}, {"check", "--" + forged}, {forged},
		{"resolve", "--rules", missing, "/a"}, {"resolve", "--rules", bad, "/a"},
		{"resolve", "--rules", good, "--explain", "/a"},
		{"resolve", "--config", caddyfile, "--explain", "/a"},
		{"reverse", "--rules", missing, "/a"}, {"reverse", "--config", missing, "/a"},
		{"diff", missing, good}, {"diff", good, bad}, {"diff", good, caddyfile},
		{"diff", noCaddyfile, good}, {"convert", "--to", "csv", missing},
		{"convert", "--to", "csv", bad}, {"convert", "--to", "csv", "--from", "json", dir + "/" + forged},
		{"list", "--config", missing}, {"status", "--config", noCaddyfile},
		{"status", "--address", forged},
	} {
		output, _ := testcaddy.Run(append([]string{"shortlink"}, args...), "")
		if !strings.Contains(output, "\n") || forgedLine.MatchString(output) {
			t.Errorf("%q prints %s", args, output)
		}
	}
}
