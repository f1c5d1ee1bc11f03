//go:build unix

package live

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/caddy-shortlink/shortlink/internal/refusal"
	"github.com/caddy-shortlink/shortlink/source"
)

func TestAnEditWaitsOnceForAFileThatSomebodyElseEdits(t *testing.T) {
	for name, isOfRules := range map[string]bool{"of any rules": false, "of known rules": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				from := fileOf(t, "links.json", `{"a": "https://one.example/"}`)
				rs, _ := serve(t, Config{Sources: []source.Source{from}})
				lock(t, from.Path)
				e := edit("a", two)
				if isOfRules {
					e.IfRules = func(string) error { return nil }
				}
				start := time.Now()
				_, err := rs.Apply(t.Context(), e)
				if took := time.Since(start); reasonOf(err) != refusal.Unavailable ||
					took > editTime+time.Second ||
					!strings.Contains(err.Error(), "source "+from.Path+": somebody else is editing it") {
					t.Errorf("after %s: %v", took, err)
				}
			})
		})
	}
}

// lock locks a file until the test ends, as another process does that edits it.
func lock(t *testing.T, path string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
}
