package page_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
	"github.com/caddy-shortlink/shortlink/internal/testcaddy/freeport"
)

// The pictures in docs are made with -args -pictures DIR.
var (
	pictures = flag.String("pictures", "", "the folder in which to put pictures of all pages")
	only     = flag.String("only", "", "a regular expression for names of checks")
)

// password is ann's, and what basic_auth has of it.
const (
	password = "ann"
	hashed   = "$2a$04$Fv83JZ0e0RSV8xu16Uwepuo5.rtYemsvL9PAIu6ifsEd0w4wxj9NS"
)

func TestThePageInABrowser(t *testing.T) {
	chromium, modules := os.Getenv("SHORTLINK_CHROMIUM"), os.Getenv("SHORTLINK_PLAYWRIGHT")
	if chromium == "" || modules == "" {
		t.Skip("drives a browser: set SHORTLINK_CHROMIUM to the binary of Chromium, and " +
			"SHORTLINK_PLAYWRIGHT to a node_modules with playwright-core, axe-core, jsqr and pngjs")
	}
	port := serveForBrowser(t)
	settings, err := json.Marshal(map[string]any{
		"port": port, "password": password, "chromium": chromium, "modules": modules,
		"pictures": *pictures, "only": *only,
	})
	if err != nil {
		t.Fatal(err)
	}
	const program = "testdata/browser/browser.mjs"
	if _, err := os.Stat(program); err != nil { // the cache of results knows what was looked at
		t.Fatal(err)
	}
	node := exec.CommandContext(t.Context(), cmp.Or(os.Getenv("SHORTLINK_NODE"), "node"),
		program, string(settings))
	var complaints bytes.Buffer
	node.Stderr = &complaints
	output, err := node.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	n := tellChecks(t, output)
	if err := node.Wait(); err != nil || n == 0 {
		t.Errorf("%d checks: %v\n%s", n, err, &complaints)
	}
}

// tellChecks makes a subtest of each check that the script tells the outcome of.
func tellChecks(t *testing.T, output io.Reader) (n int) {
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var check struct{ Name, Error string }
		if err := json.Unmarshal(lines.Bytes(), &check); err != nil {
			t.Errorf("%v: %s", err, lines.Bytes())
			continue
		}
		n++
		t.Run(check.Name, func(t *testing.T) {
			if check.Error != "" {
				t.Error(check.Error)
			}
		})
	}
	return n
}

// serveForBrowser runs Caddy with the page at several sites, and returns the port.
func serveForBrowser(t *testing.T) (port int) {
	t.Helper()
	dir := t.TempDir()
	binary := filepath.Join(dir, "caddy")
	if output, err := exec.Command("go", "build", "-o", binary, "../cmd/caddy").
		CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	writeRules(t, dir)
	if *pictures != "" {
		writeHits(t, dir)
	}
	port = freePort(t)
	sites, err := os.ReadFile("testdata/browser/Caddyfile")
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "Caddyfile")
	replacer := strings.NewReplacer("PORT", fmt.Sprint(port), "DIR", dir, "HASHED", hashed)
	testcaddy.Write(t, config, replacer.Replace(string(sites)))
	caddy := exec.Command(binary, "run", "--config", config)
	var log strings.Builder
	stderr, err := caddy.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := caddy.Start(); err != nil {
		t.Fatal(err)
	}
	serving := make(chan bool, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			fmt.Fprintln(&log, lines.Text())
			if strings.Contains(lines.Text(), "serving initial configuration") {
				select {
				case serving <- true:
				default: // told already
				}
			}
		}
		close(serving)
	}()
	t.Cleanup(func() {
		err := caddy.Process.Signal(os.Interrupt)
		<-done
		if err = errors.Join(err, caddy.Wait()); err != nil || t.Failed() {
			t.Logf("Caddy: %v\n%s", err, &log)
		}
	})
	if !<-serving {
		t.Fatal("Caddy does not serve")
	}
	return port
}

// freePort returns a port that nobody listens on. Pictures show URLs without one.
func freePort(t *testing.T) int {
	t.Helper()
	if *pictures != "" {
		return 80
	}
	port, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// writeRules writes the rules of all sites: links as they are, hostile ones, and a million.
func writeRules(t *testing.T, dir string) {
	t.Helper()
	links, err := os.ReadFile("testdata/browser/links.json")
	if err != nil {
		t.Fatal(err)
	}
	testcaddy.Must(t, os.MkdirAll(filepath.Join(dir, "storage/shortlink"), 0o700))
	testcaddy.Write(t, filepath.Join(dir, "storage/shortlink/links.json"), string(links))
	testcaddy.Write(t, filepath.Join(dir, "storage/shortlink/none.json"), "{}")
	hostile := map[string]any{}
	for key, note := range map[string]string{
		"<script>alert(1)</script>":    "</p><script>alert(2)</script>",
		`"onfocus="alert(3)"x="`:       `'"><img src=x onerror=alert(4)>`,
		"rtl/\u202egnp.exe":            "a\u202eb\u2066c",
		strings.Repeat("long-", 4_000): strings.Repeat("w", 500),
	} {
		hostile[key] = map[string]string{"to": "https://x.example/" + key, "note": note}
	}
	content, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	testcaddy.Write(t, filepath.Join(dir, "hostile.json"), string(content))
	var million strings.Builder
	million.WriteString("key,to\n")
	for i := range 1_000_000 {
		fmt.Fprintf(&million, "k%07d,https://www.example.com/%d\n", i, i)
	}
	testcaddy.Write(t, filepath.Join(dir, "million.csv"), million.String())
}
