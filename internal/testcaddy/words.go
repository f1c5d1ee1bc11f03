package testcaddy

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-shortlink/shortlink"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// WordSource is an example of a third party's source. It serves the words of a dictionary in the
// same process. In the Caddyfile it is "from example_words <destination>". Each word is a key that
// leads below the destination.
type WordSource struct {
	Destination string `json:"destination"`
}

// dictionary holds the words; another source might use a database.
var dictionary = struct {
	sync.Mutex
	words   []string
	version int
	changed chan struct{} // closed at the next version
}{changed: make(chan struct{})}

// WriteWords changes the dictionary.
func WriteWords(words ...string) {
	dictionary.Lock()
	defer dictionary.Unlock()
	dictionary.words = words
	dictionary.version++
	close(dictionary.changed)
	dictionary.changed = make(chan struct{})
}

func init() {
	caddy.RegisterModule(new(WordSource))
}

// CaddyModule returns the module's ID, in the namespace of sources, and its constructor.
func (*WordSource) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.shortlink.sources.example_words", New: func() caddy.Module {
		return new(WordSource)
	}}
}

// UnmarshalCaddyfile reads what follows "from".
func (s *WordSource) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the source's name
	if !d.AllArgs(&s.Destination) {
		return d.Err("example_words takes a destination")
	}
	return nil
}

// String returns the source's name.
func (s *WordSource) String() string { return "example_words" }

// Read adds a rule for each word. The version is the dictionary's.
func (s *WordSource) Read(_ context.Context, add func(resolver.Rule)) (version string, err error) {
	dictionary.Lock()
	defer dictionary.Unlock()
	for i, word := range dictionary.words {
		add(resolver.Rule{
			Key:      word,
			Value:    strings.TrimSuffix(s.Destination, "/") + "/" + word,
			Position: resolver.Position{Source: s.String(), Line: i + 1},
		})
	}
	return fmt.Sprint(dictionary.version), nil
}

// Watch calls changed for each new version.
func (s *WordSource) Watch(ctx context.Context, version string, changed func()) {
	for {
		dictionary.Lock()
		now, next := fmt.Sprint(dictionary.version), dictionary.changed
		dictionary.Unlock()
		if now != version {
			version = now
			changed()
		}
		select {
		case <-ctx.Done():
			return
		case <-next:
		}
	}
}

// Interface guards
var (
	_ shortlink.Source      = (*WordSource)(nil)
	_ caddyfile.Unmarshaler = (*WordSource)(nil)
)
