package migrate_test

import (
	"io"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
)

// endless is an infinite text.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return copy(p, strings.Repeat("x", len(p))), nil }

func TestAFileThatIsDecodedAsAWholeHasALimit(t *testing.T) {
	_, err := links.ReadText(endless{})
	if err == nil || !strings.HasPrefix(err.Error(), "links:1:1: the file is larger than 64 MiB") {
		t.Errorf("got %v", err)
	}
	text, err := links.ReadText(io.LimitReader(endless{}, 64<<20))
	if err != nil || len(text) != 64<<20 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

func TestWhatNoPathHoldsIsNoText(t *testing.T) {
	for text, want := range map[string]string{
		"a\x01": "it holds control characters; remove them", "é": "",
		"\xff": "it is not Unicode text: save the file as UTF-8",
	} {
		got := ""
		if err := migrate.CheckText("it", text); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}
