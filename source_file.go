package shortlink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"aead.dev/minisign"
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

func init() {
	caddy.RegisterModule(new(FileSource))
}

// FileSource reads rules from a file, and again when the file changes: edited in place, replaced by
// another, or reached through a symbolic link that is led elsewhere. A file that cannot be read, is half
// written, or does not hold good rules changes nothing: the rules from before go on serving.
type FileSource struct {
	// The file's path. Placeholders such as `{env.HOME}` are replaced; a relative path is one from
	// Caddy's working directory.
	Path string `json:"path,omitempty"`

	// How the rules are written: `json`, `csv`, or `redirects` for the `_redirects` of Netlify and
	// Cloudflare Pages. Default: what the file's name tells (`*.json`, `*.csv`, `*.tsv`, `_redirects`),
	// else `json`.
	Format string `json:"format,omitempty"`

	// How often the file is looked at, as a duration; `off` for never. Default: `2s`.
	Poll string `json:"poll,omitempty"`

	// The path of a JSON file of expectations: an object from request path to destination, `pass` or
	// `error`. Rules that do not meet them never serve. Default: none.
	Expect string `json:"expect,omitempty"`

	// A public key of minisign. The file serves only with a signature by this key, in the file of the same name
	// with `.minisig` behind it. Default: no signature is asked for.
	Minisign string `json:"minisign,omitempty"`

	content content
	every   time.Duration
	path    string
	all     []string // the paths of the file and of what lies beside it
	// stood is the file as it was when it was last read.
	stood    atomic.Pointer[fs.FileInfo]
	expected Expectations
}

// CaddyModule returns the module's ID and constructor.
func (*FileSource) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.shortlink.sources.file",
		New: func() caddy.Module { return new(FileSource) },
	}
}

// Provision checks the options. The error lists all that is wrong with them.
func (s *FileSource) Provision(caddy.Context) error {
	replacer := caddy.NewReplacer()
	s.path = replacer.ReplaceKnown(s.Path, "")
	expect := replacer.ReplaceKnown(s.Expect, "")
	s.content.name = s.path
	s.content.read = s.open
	var inPath, inFormat, inPoll, inKey error
	if s.path == "" {
		inPath = errors.New("the path of the file is missing; write from file <path>")
	}
	s.content.format, inFormat = formatOf(s.Format, s.path)
	s.every, inPoll = ParsePoll(s.Poll, 2*time.Second)
	s.content.publicKey, inKey = parsePublicKey(s.Minisign)
	s.all = []string{s.path}
	if s.content.publicKey != nil {
		s.content.signature = s.beside(s.path + ".minisig")
	}
	if expect != "" {
		s.content.expectations = s.beside(expect)
	}
	return errors.Join(inPath, inFormat, inPoll, inKey)
}

// beside returns a function that reads a file that belongs to the rules.
func (s *FileSource) beside(path string) func() ([]byte, error) {
	s.all = append(s.all, path)
	return func() ([]byte, error) { return os.ReadFile(path) }
}

// parsePublicKey returns the key that is written, or nil for none.
func parsePublicKey(written string) (*minisign.PublicKey, error) {
	if written == "" {
		return nil, nil
	}
	key := new(minisign.PublicKey)
	if err := key.UnmarshalText([]byte(written)); err != nil {
		return nil, fmt.Errorf("minisign takes a public key, the second line of minisign.pub, not %q", written)
	}
	return key, nil
}

// String returns the file's path.
func (s *FileSource) String() string { return s.path }

// Read reads the file.
func (s *FileSource) Read(ctx context.Context, add func(resolver.Rule)) (version string, err error) {
	s.expected, version, err = s.content.rules(ctx, add)
	return version, err
}

// Expectations returns what the file of expectations held when the rules were read.
func (s *FileSource) Expectations() map[string]string { return s.expected }

// Outage tells since when the file cannot be read; see [Observed].
func (s *FileSource) Outage() *Outage { return s.content.reach.Outage() }

// Watch looks at the file again and again: at its metadata and, where these tell nothing, at what it holds.
func (s *FileSource) Watch(ctx context.Context, version string, changed func()) {
	s.content.seen.begin(version)
	watched := fileWatch{source: s}
	s.content.seen.poll(ctx, s.every, watched.look, changed)
}

// open passes the file to use. A file that changes meanwhile is an error.
func (s *FileSource) open(use func(io.Reader) error) error {
	before, err := os.Stat(s.path)
	if err != nil {
		return plainly(err)
	}
	if !before.Mode().IsRegular() { // a pipe is not even opened: that would wait for its other end
		return errors.New("it is no file, but a " + kindOfFile(before.Mode()))
	}
	if stood := s.stood.Load(); stood != nil && s.isBeingWritten([]fs.FileInfo{*stood}, []fs.FileInfo{before}) {
		return errors.New("it is being written; it is read a second after its last change")
	}
	file, err := os.Open(s.path)
	if err != nil {
		return plainly(err)
	}
	defer file.Close()
	if err := use(file); err != nil {
		return plainly(err)
	}
	after, err := os.Stat(s.path)
	if err != nil {
		return plainly(err)
	}
	if !isUntouched(before, after) {
		return errors.New("it changed while it was read")
	}
	s.stood.Store(&after)
	return nil
}

// isUntouched reports whether a file is the same, and nobody has written to it, as far as its metadata tell.
func isUntouched(before, after fs.FileInfo) bool {
	return os.SameFile(before, after) && before.Size() == after.Size() && before.ModTime().Equal(after.ModTime())
}

// plainly drops the path of an error, which the source's name says already.
func plainly(err error) error {
	if inPath, ok := errors.AsType[*fs.PathError](err); ok {
		return inPath.Err
	}
	return err
}

func kindOfFile(mode fs.FileMode) string {
	if mode.IsDir() {
		return "directory"
	}
	return "device or pipe"
}

// fileWatch is what a watch has seen of a file.
type fileWatch struct {
	source *FileSource
	// infos are the metadata of the file and of what lies beside it, nil for what is not there.
	infos []fs.FileInfo
	state string
}

// look returns the state of the file: the one before, where the metadata say that nothing has happened and no
// reading has seen another.
func (w *fileWatch) look(ctx context.Context) string {
	before, now := w.infos, make([]fs.FileInfo, len(w.source.all))
	for i, path := range w.source.all {
		now[i], _ = os.Stat(path)
	}
	if w.source.isBeingWritten(before, now) {
		return w.source.content.seen.last()
	}
	w.infos = now
	if w.state != w.source.content.seen.last() || !slices.EqualFunc(before, w.infos, sameMetadata) {
		w.state = w.source.content.state(ctx)
	}
	return w.state
}

// isBeingWritten reports whether the file was written to a moment ago, unless it is known to stand there as a whole. Of a
// format that has no end mark the first half can be taken for the whole, while the writer rests.
func (s *FileSource) isBeingWritten(before, now []fs.FileInfo) bool {
	if s.content.format == rulefile.JSON || now[0] == nil || time.Since(now[0].ModTime()).Abs() >= writerRests {
		return false
	}
	if before == nil || before[0] == nil {
		return true
	}
	return os.SameFile(before[0], now[0]) && !before[0].ModTime().Equal(now[0].ModTime())
}

// writerRests is how long a program that writes a file in its place is thought to rest at most before it goes on.
const writerRests = time.Second

// settleTime is how old the last change of a file has to be for its metadata to tell the next one: the clocks
// of file systems are coarse.
const settleTime = 3 * time.Second

// sameMetadata reports whether nothing has happened to a file between two looks.
func sameMetadata(before, now fs.FileInfo) bool {
	if before == nil || now == nil {
		return false // it can be missing for more than one reason
	}
	return isUntouched(before, now) && before.Mode() == now.Mode() && time.Since(now.ModTime()).Abs() > settleTime
}

// UnmarshalCaddyfile sets up the source from what follows "from":
//
//	file <path> {
//		format <json|csv|redirects>
//		poll <interval|off>
//		expect <path>
//		minisign <public_key>
//	}
func (s *FileSource) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	block := sourceBlock{
		argument: "path", value: &s.Path,
		options: map[string]*string{"format": &s.Format, "poll": &s.Poll, "expect": &s.Expect, "minisign": &s.Minisign},
	}
	return block.unmarshal(d)
}

// Interface guards
var (
	_ caddy.Provisioner     = (*FileSource)(nil)
	_ caddyfile.Unmarshaler = (*FileSource)(nil)
	_ Source                = (*FileSource)(nil)
	_ Expecting             = (*FileSource)(nil)
	_ Observed              = (*FileSource)(nil)
)
