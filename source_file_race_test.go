package shortlink

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/resolver"
)

func TestAFileThatIsReplacedOrWrittenToWhileItIsReadIsNotTaken(t *testing.T) {
	const old, other = `{"a": "https://old.example"}`, `{"a": "https://new.example"}`
	for name, meanwhile := range map[string]func(path string) error{
		"replaced": func(path string) error {
			if err := os.WriteFile(path+".new", []byte(other), 0o600); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		},
		"written to": func(path string) error { return os.WriteFile(path, []byte(other+"\n"), 0o600) },
		"removed":    os.Remove,
		"left alone": nil,
	} {
		t.Run(name, func(t *testing.T) {
			s := &FileSource{Path: filepath.Join(t.TempDir(), "links.json")}
			if err := os.WriteFile(s.Path, []byte(old), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := s.Provision(caddy.Context{}); err != nil {
				t.Fatal(err)
			}
			open := s.content.read
			s.content.read = func(use func(io.Reader) error) error {
				return open(func(r io.Reader) error {
					err := use(r)
					if meanwhile == nil {
						return err
					}
					return meanwhile(s.Path)
				})
			}
			_, err := s.Read(t.Context(), func(resolver.Rule) {})
			switch {
			case meanwhile == nil && err != nil:
				t.Error(err)
			case meanwhile != nil && err == nil:
				t.Error("the rules are taken")
			case name == "replaced" && !strings.Contains(err.Error(), "it changed while it was read"):
				t.Error(err)
			}
		})
	}
}
