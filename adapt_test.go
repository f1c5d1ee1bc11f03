package shortlink_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"

	_ "github.com/caddyserver/caddy/v2/modules/standard"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

var update = flag.Bool("update", false, "write what is into testdata/adapt")

// Each file holds a Caddyfile and, below a line of dashes, what becomes of it: JSON, or
// the whole error. There <here> is the directory of the Caddyfile.
func TestACaddyfileBecomesWhatIsWrittenBelowIt(t *testing.T) {
	files, err := filepath.Glob("testdata/adapt/*.caddyfiletest")
	if err != nil || len(files) == 0 {
		t.Fatal("no files in testdata/adapt", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".caddyfiletest"), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			const separator = "----------\n"
			caddyfile, want, found := strings.Cut(string(content), separator)
			if !found {
				t.Fatal("there is no line of dashes")
			}
			got := adaptOrError(t, caddyfile)
			if *update {
				if err := os.WriteFile(file, []byte(caddyfile+separator+got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// adaptOrError returns the configuration, which Caddy has to accept, or the error.
func adaptOrError(t *testing.T, caddyfile string) string {
	t.Helper()
	adapted, err := testcaddy.Adapt(caddyfile)
	if err != nil {
		return err.Error() + "\n"
	}
	var config caddy.Config
	if err := json.Unmarshal(adapted, &config); err != nil {
		t.Fatal(err)
	}
	config.Logging = &caddy.Logging{Logs: map[string]*caddy.CustomLog{
		"default": {BaseLog: caddy.BaseLog{WriterRaw: json.RawMessage(`{"output": "discard"}`)}},
	}}
	if err := caddy.Validate(&config); err != nil {
		t.Errorf("Caddy refuses what the Caddyfile became: %v", err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, adapted, "", "\t"); err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	here = strings.Trim(strconv.Quote(here), `"`)
	return strings.ReplaceAll(indented.String(), here, "<here>") + "\n"
}

func TestAKeyThatStandsInTheCaddyfileAndInAnImportedFileIsAnError(t *testing.T) {
	dir := t.TempDir()
	imported := filepath.Join(dir, "more.caddy")
	if err := os.WriteFile(imported, []byte("github https://example.com\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := testcaddy.Adapt(
		"http://localhost:8080 {\n\tshortlink {\n\t\tgithub https://github.com\n\t\timport " + imported +
			"\n\t}\n}\n")
	if err == nil {
		t.Fatal("no error")
	}
	for _, place := range []string{imported + ":1", "Caddyfile:3"} {
		if !strings.Contains(err.Error(), place) {
			t.Errorf("the error does not name %s: %v", place, err)
		}
	}
}

// As those of import are; and a reload adapts it in another process, whose working directory is
// not Caddy's.
func TestRelativePathsAreRelativeToTheCaddyfile(t *testing.T) {
	dir := t.TempDir()
	testcaddy.Must(t, os.Mkdir(filepath.Join(dir, "more"), 0o700))
	for path, content := range map[string]string{
		"links.json":         `{"a": "https://a.example"}`,
		"expect.json":        `{"/a": "https://a.example", "/b": "https://b.example"}`,
		"more/sources.caddy": "from file links.json\n",
		"more/links.json":    `{"b": "https://b.example"}`,
	} {
		testcaddy.Write(t, filepath.Join(dir, path), content)
	}
	const caddyfile = `http://localhost {
	shortlink {
		from file links.json {
			expect expect.json
		}
		import more/sources.caddy
	}
}
`
	filename := map[string]any{"filename": filepath.Join(dir, "Caddyfile")}
	adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(caddyfile), filename)
	testcaddy.Must(t, err)
	_, handler, _ := strings.Cut(string(adapted), `"handler":"shortlink",`)
	handler, _, _ = strings.Cut(handler, `}]}`)
	if _, err := testcaddy.Provision(t, "{"+handler+"}]}"); err != nil {
		t.Errorf("%s: %v", adapted, err)
	}
}

func TestRelativePathsInJSONAreRelativeToTheWorkingDirectory(t *testing.T) {
	dir := t.TempDir()
	testcaddy.Write(t, filepath.Join(dir, "links.json"), `{"a": "https://a.example"}`)
	t.Chdir(dir)
	const config = `{"sources": [{"source": "file", "path": "links.json"}]}`
	if _, err := testcaddy.Provision(t, config); err != nil {
		t.Error(err)
	}
}

func TestAPlaceholderIsReportedByTheShorthandThatStandsThere(t *testing.T) {
	const why = " is not replaced here, because rules are compiled when they are loaded"
	for written, want := range map[string]string{
		"{path.0}":            "the placeholder {path.0} (in full {http.request.uri.path.0})" + why,
		"{path}":              "the placeholder {path} (in full {http.request.uri.path})" + why,
		"{labels.1}":          "the placeholder {labels.1} (in full {http.request.host.labels.1})" + why,
		"{env.HOME}":          "the placeholder {env.HOME}" + why,
		"{http.request.x.y}":  "the placeholder {http.request.x.y}" + why,
		"{http.shortlink.no}": "the placeholder {http.shortlink.no}" + why,
	} {
		_, err := testcaddy.Adapt("go.example {\n shortlink {\n a https://a.example/" + written + "\n }\n}")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", written, err)
		}
	}
}

// Caddy's lexer puts U+FFFD in the place of such bytes, so they cannot be told from it.
func TestACaddyfileThatIsNotUTF8IsRefusedWithItsLine(t *testing.T) {
	for _, line := range []string{
		"a\xe4b https://a.example", "a https://a.example/\xe4", "rule a\uFFFDb https://a.example",
		"expect /\xe4 https://a.example", "a/{\xe4} https://a.example/{\xe4}", "name \xe4",
	} {
		t.Run(line, func(t *testing.T) {
			_, err := testcaddy.Adapt("http://localhost {\n\tshortlink {\n\t\tb /c\n\t\t" + line + "\n\t}\n}\n")
			const want = "Caddyfile:4: this line is not Unicode text: save the file as UTF-8"
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

func TestAShorthandIsAVariableAlsoByItsFullName(t *testing.T) {
	var adapted [2][]byte
	for i, name := range []string{"uri", "http.request.uri"} {
		rule := "a/{" + name + "} https://a.example/{" + name + "}"
		var err error
		if adapted[i], err = testcaddy.Adapt("http://localhost {\n\tshortlink {\n\t\t" + rule + "\n\t}\n}\n"); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(adapted[0], adapted[1]) {
		t.Errorf("got %s, want %s", adapted[1], adapted[0])
	}
}
