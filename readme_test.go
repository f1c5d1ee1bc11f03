package shortlink_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

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
