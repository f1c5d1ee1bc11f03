package source

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"aead.dev/minisign"
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-shortlink/shortlink/internal/printable"
)

func init() {
	caddy.RegisterModule(new(File))
}

// File reads rules from a file, and again when the file changes: it is edited in place, replaced,
// or reached through a symbolic link that changes. A file that cannot be read, is half written, or
// has invalid rules changes nothing: the old rules go on serving.
type File struct {
	// The file's path. Placeholders such as `{env.HOME}` are replaced.
	Path string `json:"path,omitempty"`

	// The directory that relative paths of this source are relative to. A Caddyfile sets it to its
	// own directory, as for `import`. Default: Caddy's working directory.
	RelativeTo string `json:"relative_to,omitempty"`

	ContentOptions

	name string   // the path as written, placeholders replaced
	path string   // the absolute path
	all  []string // the paths of the file and of its siblings
	// stood is the state of the file when it was last read.
	stood atomic.Pointer[fileState]
	calls *boundedCalls
}

// CaddyModule returns the module's ID and constructor.
func (*File) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.shortlink.sources.file",
		New: func() caddy.Module { return new(File) },
	}
}

// Provision checks the options. The error lists all that is wrong with them.
func (s *File) Provision(caddy.Context) error {
	replacer := caddy.NewReplacer()
	s.name = replacer.ReplaceKnown(s.Path, "")
	expect := replacer.ReplaceKnown(s.Expect, "")
	s.content.name = printable.Text(s.name)
	s.content.read = s.open
	s.calls = newBoundedCalls(answerLimit)
	var inPath error
	if s.name == "" {
		inPath = errors.New("the path of the file is missing; write from file <path>")
	}
	s.path = s.absolute(s.name)
	inOptions := s.provision(s.path, 2*time.Second)
	s.all = []string{s.path}
	if s.content.publicKey != nil {
		s.content.signature = s.beside(s.path + ".minisig")
	}
	if expect != "" {
		s.content.expectations, s.content.expectName = s.beside(s.absolute(expect)), expect
	}
	return errors.Join(inPath, inOptions)
}

// absolute returns a path as an absolute one.
func (s *File) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	path = filepath.Join(s.RelativeTo, path)
	if absolute, err := filepath.Abs(path); err == nil {
		return absolute
	}
	return path
}

// beside returns a function that reads a file that belongs to the rules.
func (s *File) beside(path string) func(context.Context) ([]byte, error) {
	s.all = append(s.all, path)
	return func(ctx context.Context) ([]byte, error) {
		content, err := readRegular(ctx, s.calls, path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", printable.Text(path), err)
		}
		return content, nil
	}
}

// parsePublicKey parses a public key; an empty text is none.
func parsePublicKey(written string) (*minisign.PublicKey, error) {
	if written == "" {
		return nil, nil
	}
	key := new(minisign.PublicKey)
	if err := key.UnmarshalText([]byte(written)); err != nil {
		return nil, fmt.Errorf("minisign takes a public key, the second line of minisign.pub, not %q",
			written)
	}
	return key, nil
}

// String returns the file's path as it is written, on one line.
func (s *File) String() string { return s.content.name }

// Size returns the file's size; see [Measured].
func (s *File) Size(ctx context.Context) int64 {
	state, err := s.stat(ctx, s.path)
	if err != nil {
		return 0
	}
	return state.Size()
}

// Done returns how much of the file has been read; see [Measured].
func (s *File) Done() int64 { return s.content.done() }

// Watch polls the file: its metadata and, if these do not tell, its content.
func (s *File) Watch(ctx context.Context, version string, changed func()) {
	s.content.seen.begin(version)
	go s.removeLeftovers(ctx)
	watched := fileWatch{source: s}
	s.content.seen.poll(ctx, s.every, watched.look, changed)
}

// fileWatch is the state of watching a file.
type fileWatch struct {
	source *File
	// seen are the metadata of the file and its siblings, nil for a missing one.
	seen  []*fileState
	state string
}

// look returns the state of the file. It is the one before if the metadata have not changed and no
// reading has seen another state, and also if the file changed meanwhile: the next look tells.
func (w *fileWatch) look(ctx context.Context) string {
	now, err := callBounded(ctx, w.source.calls, w.source.statAll)
	if err != nil {
		w.seen = nil
		w.source.content.note(ctx, err)
		return stateOf("", err)
	}
	before := w.seen
	if before == nil {
		before = make([]*fileState, len(now))
	}
	if w.source.isBeingWritten(before[0], now[0]) {
		return w.source.content.seen.last()
	}
	w.seen = now
	if w.state != w.source.content.seen.last() || !slices.EqualFunc(before, now, sameMetadata) {
		w.state = w.source.content.state(ctx)
	}
	if w.state == changedWhileRead.Error() {
		return w.source.content.seen.last()
	}
	return w.state
}

// statAll returns the metadata of the file and of its siblings.
func (s *File) statAll(context.Context) ([]*fileState, error) {
	all := make([]*fileState, len(s.all))
	for i, path := range s.all {
		all[i], _ = stateOfFile(path)
	}
	return all, nil
}

// settleTime is how old the last change of a file must be before its metadata can tell the next
// one: the clocks of file systems are coarse.
const settleTime = 3 * time.Second

// sameMetadata reports whether a file has not changed between two looks.
func sameMetadata(before, now *fileState) bool {
	if before == nil || now == nil {
		return false // it can be missing for several reasons
	}
	return isUntouched(before, now) && before.Mode() == now.Mode() &&
		time.Since(now.ModTime()).Abs() > settleTime && time.Since(now.changed).Abs() > settleTime
}

// UnmarshalCaddyfile sets up the source from what follows "from":
//
//	file <path> {
//		format <json|csv|redirects>
//		poll <interval|off>
//		expect <path>
//		minisign <public_key>
//		start <refuse|without>
//		allow_empty
//		dialect <netlify|cloudflare>
//		unsupported <error|skip>
//		host <name>...
//	}
func (s *File) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	block := Block{Argument: "one path", Value: &s.Path, Check: checkPath, Options: s.block(&s.Path)}
	if err := block.Unmarshal(d); err != nil {
		return err
	}
	if !isRelative(s.Path) && !isRelative(s.Expect) {
		return nil
	}
	// A reload adapts the Caddyfile in another process, whose working directory is not Caddy's.
	directory, err := filepath.Abs(filepath.Dir(d.File()))
	s.RelativeTo = directory
	return err
}

// checkPath returns an error for a URL.
func checkPath(path string) error {
	if strings.HasPrefix(path, "https://") || strings.HasPrefix(path, "http://") {
		return fmt.Errorf("it takes a path, not a URL; write from url %s", path)
	}
	return nil
}

// isRelative reports whether a path is relative as it is written. One that begins with a
// placeholder hardly is.
func isRelative(path string) bool {
	return path != "" && !filepath.IsAbs(path) && !strings.HasPrefix(path, "{")
}

// Interface guards
var (
	_ caddy.Provisioner     = (*File)(nil)
	_ caddyfile.Unmarshaler = (*File)(nil)
	_ Source                = (*File)(nil)
	_ Annotated             = (*File)(nil)
	_ Measured              = (*File)(nil)
	_ Emptiable             = (*File)(nil)
	_ Observed              = (*File)(nil)
)
