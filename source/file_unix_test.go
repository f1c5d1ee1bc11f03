//go:build unix

package source

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// editor is the environment variable that makes a test binary edit a file: it holds the file's
// path.
const editor = "SHORTLINK_TEST_EDITOR"

const editsOfEach = 40

func TestEditsOfSeveralProcessesAreAllKept(t *testing.T) {
	if path := os.Getenv(editor); path != "" {
		editAgainAndAgain(t, path)
		return
	}
	path := filepath.Join(t.TempDir(), "links.json")
	must(t, os.WriteFile(path, []byte("{}"), 0o600))
	var editors []*exec.Cmd
	for range 3 {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), editor+"="+path)
		cmd.Stderr = os.Stderr
		must(t, cmd.Start())
		editors = append(editors, cmd)
	}
	for _, cmd := range editors {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	content, err := os.ReadFile(path)
	must(t, err)
	if got := strings.Count(string(content), "https://"); got != len(editors)*editsOfEach {
		t.Errorf("%d rules are left of %d", got, len(editors)*editsOfEach)
	}
}

// editAgainAndAgain adds rules to a file, each as often as it takes.
func editAgainAndAgain(t *testing.T, path string) {
	s := &File{Path: path}
	must(t, s.Provision(caddy.Context{}))
	for i := range editsOfEach {
		key := fmt.Sprintf("%d-%d", os.Getpid(), i)
		rule := &resolver.Rule{Key: key, Value: "https://a.example"}
		for {
			version, err := s.Read(t.Context(), ignoreRule)
			if errors.Is(err, ErrBeingWritten) {
				continue
			}
			must(t, err)
			edit := editOf(rulefile.Change{Key: key, Rule: rule})
			if _, err = s.Edit(t.Context(), version, edit); err == nil {
				break
			}
			if !errors.Is(err, ErrChanged) && !errors.Is(err, ErrBeingWritten) {
				t.Fatal(err)
			}
		}
	}
}

// Whoever restores the time of a file does not restore when that was done.
func TestAChangeWithSizeAndTimeRestoredIsSeenInAnOldFile(t *testing.T) {
	s := fileSource(t, "links.json", `{"a": "https://one.example"}`)
	before, err := stateOfFile(s.path)
	must(t, err)
	must(t, os.WriteFile(s.path, []byte(`{"a": "https://two.example"}`), 0o600))
	must(t, os.Chtimes(s.path, before.ModTime(), before.ModTime()))
	after, err := stateOfFile(s.path)
	must(t, err)
	if !hasSameContent(before, after) {
		t.Fatal("size or time are others")
	}
	for deadline := time.Now().Add(time.Second); isUntouched(before, after); {
		if time.Now().After(deadline) {
			t.Fatal("the change is not seen")
		}
		must(t, os.Chtimes(s.path, before.ModTime(), before.ModTime())) // the clock may have stood still
		after, err = stateOfFile(s.path)
		must(t, err)
	}
}

// erring is a context that calls a function whenever it is asked for its error.
type erring struct {
	context.Context
	asked func()
}

func (e erring) Err() error {
	e.asked()
	return e.Context.Err()
}

func TestAnEditOfAFileThatALinkNoLongerLeadsToIsRefused(t *testing.T) {
	const content = `{"a": "https://a.example"}`
	for name, isWritten := range map[string]bool{"before it is read": false, "before it goes": true} {
		t.Run(name, func(t *testing.T) {
			directory := t.TempDir()
			path := filepath.Join(directory, "links.json")
			for _, name := range []string{"old.json", "new.json"} {
				must(t, os.WriteFile(filepath.Join(directory, name), []byte(content), 0o600))
			}
			must(t, os.Symlink("old.json", path))
			s := &File{Path: path}
			must(t, s.Provision(caddy.Context{}))
			version, err := s.Read(t.Context(), ignoreRule)
			must(t, err)
			deploy := sync.OnceFunc(func() {
				must(t, os.Symlink("new.json", path+".new"))
				must(t, os.Rename(path+".new", path))
			})
			s.content.expectations = func(context.Context) ([]byte, error) {
				if !isWritten {
					deploy()
				}
				return nil, nil
			}
			ctx := erring{t.Context(), func() {
				if copies, _ := filepath.Glob(directory + "/.old.json.edit-*"); len(copies) > 0 {
					deploy()
				}
			}}
			edit := editOf(rulefile.Change{Key: "b", Rule: &resolver.Rule{Key: "b", Value: "/a"}})
			_, err = s.Edit(ctx, version, edit)
			old, _ := os.ReadFile(filepath.Join(directory, "old.json"))
			if !errors.Is(err, ErrChanged) || string(old) != content {
				t.Errorf("got %v, and the old file holds %s", err, old)
			}
		})
	}
}
