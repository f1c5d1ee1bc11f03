package source

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

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
			s := fileSource(t, "links.json", old)
			open := s.content.read
			s.content.read = func(ctx context.Context, use func(io.Reader) error) error {
				return open(ctx, func(r io.Reader) error {
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
