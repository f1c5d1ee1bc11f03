//go:build unix

package source

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"
)

// largeFile returns a source of a file of zeros, which takes no room on the disk.
func largeFile(t *testing.T, size int64) *File {
	s := fileSource(t, "links.json", "")
	must(t, os.Truncate(s.path, size))
	return s
}

// countRead counts what is read of a source, and calls at, if not nil, with the count.
func countRead(s *File, at func(read int64)) *int64 {
	count := new(int64)
	open := s.content.read
	s.content.read = func(ctx context.Context, use func(io.Reader) error) error {
		return open(ctx, func(r io.Reader) error {
			return use(readerFunc(func(p []byte) (int, error) {
				n, err := r.Read(p)
				if *count += int64(n); at != nil {
					at(*count)
				}
				return n, err
			}))
		})
	}
	return count
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestALargeFileThatIsReplacedIsGivenUpSoon(t *testing.T) {
	for name, replace := range map[string]func(path string) error{
		"by another": func(path string) error {
			return os.Rename(path+".new", path)
		},
		"in its place": func(path string) error { return os.Truncate(path, 300<<20) },
		"by none":      os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			s := largeFile(t, 256<<20)
			must(t, os.WriteFile(s.path+".new", []byte(`{"a": "/b"}`), 0o600))
			replaced := false
			read := countRead(s, func(int64) {
				if !replaced {
					replaced = true
					must(t, replace(s.path))
				}
			})
			state := s.content.state(t.Context())
			if *read > 2*lookEvery {
				t.Errorf("%d bytes are read", *read)
			}
			if name != "by none" && state != string(changedWhileRead) {
				t.Errorf("the state is %s", state)
			}
		})
	}
}

func TestRulesThatAreRefusedAreNotReadToTheirEnd(t *testing.T) {
	s := largeFile(t, 64<<20)
	read := countRead(s, nil)
	if _, err := s.Read(t.Context(), ignoreRule); err == nil {
		t.Fatal("zeros are taken for rules")
	}
	refused := s.content.seen.last()
	if state := s.content.state(t.Context()); state != refused {
		t.Errorf("the next poll sees %s, which is not %s", state, refused)
	}
	if *read > 4<<20 {
		t.Errorf("%d bytes are read", *read)
	}
}

func TestAnyChangeOfRefusedRulesThatCanHelpIsSeen(t *testing.T) {
	wrong := `{"a": 1} !` + strings.Repeat(" ", 1<<20)
	for name, tt := range map[string]struct{ before, after string }{
		"at its beginning": {wrong, `{"a": ""}  ` + wrong[11:]},
		"shorter":          {wrong, "{"},
		"at its end":       {`{"a": "/b"`, `{"a": "/b"}`},
		"behind a line":    {"{\"a\": 1}\n", `{"a": 1, "b": "/c"}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := fileSource(t, "links.json", tt.before)
			if _, err := s.Read(t.Context(), ignoreRule); err == nil {
				t.Fatal("it is no error")
			}
			refused := s.content.seen.last()
			must(t, os.WriteFile(s.path, []byte(tt.after), 0o600))
			if s.content.state(t.Context()) == refused {
				t.Error("the change is not seen")
			}
		})
	}
}

func TestAFileOfRulesHasALimit(t *testing.T) {
	s := largeFile(t, maxRules+1)
	const want = "it is longer than 4 GiB"
	if _, err := s.Read(t.Context(), ignoreRule); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if s.Reach().Outage() == nil {
		t.Error("the status does not tell of it")
	}
}
