package shortlink_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// write writes a file as careful programs do: whole, and in the place of the old one at once.
func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// eventually asks until the answer is the wanted one.
func (s *server) eventually(t *testing.T, target, want string) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		got := s.get(t, target).location()
		if got == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: got %s, want %s", target, got, want)
		}
		time.Sleep(5 * time.Millisecond) // between two questions to another process's clock: its poll
	}
}

func TestAFileIsServedAndPickedUpWhenItChanges(t *testing.T) {
	links := filepath.Join(t.TempDir(), "links.json")
	write(t, links, `{"docs": "https://docs.example"}`)
	s := serve(t, `shortlink {
		from file `+links+` {
			poll 10ms
		}
	}
	respond next 299`)
	s.eventually(t, "/docs/a", "302 https://docs.example/a")
	write(t, links, `{"docs": "https://example.com/docs", "new": "/docs"}`)
	s.eventually(t, "/new/a", "302 https://example.com/docs/a")
	write(t, links, `{"docs": "nonsense"}`)
	write(t, links, `{"docs": "https://third.example"}`)
	s.eventually(t, "/docs", "302 https://third.example/")
	s.eventually(t, "/new", "299")
}
