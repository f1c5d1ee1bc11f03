//go:build unix

package source_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"aead.dev/minisign"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// Whoever opens a pipe waits for its other end.
func pipe(path string) error { return syscall.Mkfifo(path, 0o600) }

// A device may have no end.
func device(path string) error { return os.Symlink("/dev/zero", path) }

func huge(path string) error {
	return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 256<<20+1))
}

func TestWhatCannotBeReadBesideAFileIsRejectedAtOnce(t *testing.T) {
	public, private, err := minisign.GenerateKey(nil)
	testcaddy.Must(t, err)
	const storage = "storage file_system <dir>"
	minisig := "minisign " + public.String()
	for name, tt := range map[string]struct {
		file, options string
		make          func(path string) error
	}{
		"the rules are a pipe":         {"links.json", "", pipe},
		"expectations are a pipe":      {"expect.json", "expect expect.json", pipe},
		"expectations are a device":    {"expect.json", "expect expect.json", device},
		"expectations are huge":        {"expect.json", "expect expect.json", huge},
		"a signature is a pipe":        {"links.json.minisig", minisig, pipe},
		"an entry is a pipe":           {"links.json", storage, pipe},
		"an entry is huge":             {"links.json", storage, huge},
		"the entry of expectations is": {"expect.json", "expect expect.json\n " + storage, pipe},
		"the entry of a signature is":  {"links.json.minisig", minisig + "\n " + storage, pipe},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			put := func(rules string) {
				testcaddy.Write(t, filepath.Join(dir, "expect.json"), "{}")
				testcaddy.Write(t, filepath.Join(dir, "links.json.minisig"), testcaddy.Signature(t, rules, private))
				testcaddy.Write(t, filepath.Join(dir, "links.json"), rules)
			}
			put(`{"a": "https://old.example"}`)
			from := "from file " + dir + "/links.json"
			if strings.Contains(tt.options, "storage") {
				from = "from storage links.json"
			}
			options := strings.ReplaceAll(tt.options, "<dir>", dir)
			options = strings.Replace(options, "expect expect", "expect "+dirOf(from)+"expect", 1)
			block := from + " {\n poll 5ms\n " + options + "\n }\n }"
			s := &testcaddy.Follower{Log: filepath.Join(t.TempDir(), "caddy.log")}
			s.Server = testcaddy.ServeWith(t, testcaddy.LogTo(s.Log), "shortlink {\n name pipes\n "+block)
			path := filepath.Join(dir, tt.file)
			testcaddy.Must(t, errors.Join(tt.make(path+".made"), os.Rename(path+".made", path)))
			entry := s.Logged(t, 1, testcaddy.Rejected)
			const kind, length = "it is a device or pipe, not a file", "it is longer than 256 MiB"
			said := entry["error"].(string)
			if !strings.Contains(said, kind) && !strings.Contains(said, length) {
				t.Errorf("the log says %s", said)
			}
			s.Load(t, "shortlink {\n name pipes\n status 301\n "+block)
			s.Eventually(t, "/a", "301 https://old.example/")
			put(`{"a": "https://new.example"}`)
			s.Eventually(t, "/a", "301 https://new.example/")
		})
	}
}

// dirOf returns what the path of a file beside a source's begins with.
func dirOf(from string) string {
	path, isFile := strings.CutPrefix(from, "from file ")
	if !isFile {
		return ""
	}
	return filepath.Dir(path) + "/"
}
