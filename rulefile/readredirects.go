package rulefile

import (
	"hash/maphash"
	"io"
	"iter"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// readRedirects reads rules from a _redirects file. They are passed to add when all lines have been
// read, as what a line makes depends on those behind it, too.
func (o Reading) readRedirects(
	r io.Reader, source string, add func(resolver.Rule),
) ([]resolver.Warning, error) {
	f := newRedirectsFile(o)
	warnings, err := f.read(newLineReader(r, source), add)
	if o.observer != nil {
		o.observer.lines = len(f.lines)
	}
	return warnings, err
}

// read reads all lines, and passes the rules that they make to add.
func (f *redirectsFile) read(
	lines *lineReader, add func(resolver.Rule),
) ([]resolver.Warning, error) {
	end := f.readLines(lines)
	f.findMeetings()
	f.makeRules(add)
	return f.warned.all(), f.errs.withEnd(end)
}

// redirectsFile is a table of lines, of which the first that matches a path wins, on its way to
// rules, of which that with the longest key does.
type redirectsFile struct {
	parser lineParser
	skips  bool // lines without an equivalent
	source string
	// seen, if not nil, is told of each line that can be taken apart when it has been read.
	seen  func(redirectLine)
	lines []storedLine
	seed  maphash.Seed
	// exact and below are the first lines by the hash of a path without variables: those that have
	// the path itself, and those that have all below it.
	exact, below map[uint64]int
	dynamic      []int // the lines with variables in their paths
	following    []int // the lines that lead all below a path to another one of the site

	// keepsSlashes tells that there is a rule more where a slash at a path's end would be lost.
	keepsSlashes bool
	hasInternal  bool // a line leads to a path of the site

	order *lineOrder
	// unslashed are the rules of Cloudflare's paths without a slash at their end.
	unslashed []placedRule
	whole     int // the line that takes every path, -1 for none
	left      []leftOut
	// compared counts how often one of them has been compared with another line.
	compared int
	tails    map[uint64]chainTail
	warned   warnings
	errs     Errors
	// slashesCount is that of a [foreignTable].
	slashesCount bool
	// passesThere tells that the program passes on what a line redirects nowhere, too.
	passesThere bool
	// firstLater is the first line of a module that comes behind another one wherever its lines
	// stand, laterRemedy what to do if one of the other has its requests; "" for no such modules.
	firstLater  int
	laterRemedy string
}

// storedLine is a line that says something.
type storedLine struct {
	text   string
	number int32
	meets  meeting
}

const none = -1

func newRedirectsFile(o Reading) *redirectsFile {
	return &redirectsFile{
		parser: lineParser{dialect: o.Dialect, hosts: o.Hosts},
		skips:  o.SkipUnsupported,
		seed:   maphash.MakeSeed(),
		exact:  make(map[uint64]int),
		below:  make(map[uint64]int),
		tails:  make(map[uint64]chainTail),
		order:  newLineOrder(),
		whole:  none,
		warned: warnings{keep: o.observer != nil},
	}
}

// readLines takes in all lines. The error is io.EOF, or what ended the reading before.
func (f *redirectsFile) readLines(lines *lineReader) error {
	f.source = lines.source
	var text lineStore
	for {
		line, err := lines.next()
		if err != nil {
			return err
		}
		f.store(text.keep(line), lines.number)
	}
}

// lineStore keeps texts in large pieces.
type lineStore struct{ piece strings.Builder }

// keep returns a text as a string.
func (s *lineStore) keep(text []byte) string {
	const size = 1 << 18
	if s.piece.Cap()-s.piece.Len() < len(text) {
		s.piece = strings.Builder{}
		s.piece.Grow(max(size, len(text)))
	}
	start := s.piece.Len()
	s.piece.Write(text)
	return s.piece.String()[start:]
}

// store takes in a line, and what other lines have to know of it.
func (f *redirectsFile) store(text string, number int) {
	i := len(f.lines)
	f.lines = append(f.lines, storedLine{text: text, number: int32(number)})
	line, refused := f.parser.parse(text)
	if refused != nil {
		return
	}
	if f.seen != nil {
		f.seen(line)
	}
	f.hasInternal = f.hasInternal || line.answer == leads && line.to.text[0] == '/'
	if path, ok := f.plainPath(line.path); ok {
		f.register(f.exact, path, i)
		return
	}
	t, refused := translate(line, f.parser.dialect, resolver.Position{})
	if refused != nil {
		return
	}
	isDynamic, isBelow := false, false
	for j := range t.sets {
		set := &t.sets[j]
		isDynamic = isDynamic || !set.isLiteral()
		if isBelow = isBelow || set.below; !set.isLiteral() {
			continue
		}
		f.register(f.exact, set.key(), i)
		if set.below {
			f.register(f.below, set.key(), i)
		}
	}
	if isDynamic {
		f.dynamic = append(f.dynamic, i)
	}
	if isBelow && t.answer == leads && t.target.isInternal && t.target.endsInSplat() {
		f.following = append(f.following, i)
	}
}

// register takes down that a line has a path, if it is the first.
func (f *redirectsFile) register(lines map[uint64]int, path string, i int) {
	hash := f.hash(path)
	if _, there := lines[hash]; !there {
		lines[hash] = i
	}
}

func (f *redirectsFile) hash(path string) uint64 { return maphash.String(f.seed, canonical(path)) }

// plainPath returns the path of a line as a key, if nothing in it stands for anything else.
func (f *redirectsFile) plainPath(path string) (key string, ok bool) {
	key = path[1:]
	if f.parser.dialect != Cloudflare {
		key = strings.TrimSuffix(key, "/")
	}
	if key == "" || strings.ContainsAny(key, ":*\\{}\x01") || strings.HasSuffix(key, "/") ||
		strings.Contains(path, "//") || strings.Contains(path, "/.") {
		return "", false
	}
	return key, true
}

// above gives the hashes of a path without variables and of those above it: a, a/b, a/b/c.
func (f *redirectsFile) above(path string) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		path := canonical(path)
		for hash := range hashesAbove(path, f.seed) {
			if !yield(hash) {
				return
			}
		}
		yield(maphash.String(f.seed, path))
	}
}

// positionOf returns where a word of a line stands.
func (f *redirectsFile) positionOf(i int, w word) resolver.Position {
	if f.parser.hasReasons {
		w.column = 1 // of a line that does not stand there as it is
	}
	return resolver.Position{Source: f.source, Line: int(f.lines[i].number), Column: w.column}
}

// placeOf returns where a line stands.
func (f *redirectsFile) placeOf(i int) resolver.Position {
	if f.parser.dialect == foreign {
		line, _ := f.parser.parse(f.lines[i].text)
		return f.positionOf(i, line.from)
	}
	return f.positionOf(i, word{column: 1})
}

// translationOf takes a line apart that has been read.
func (f *redirectsFile) translationOf(i int) (t translation, refused *refusal) {
	line, refused := f.parser.parse(f.lines[i].text)
	if refused != nil {
		return translation{redirectLine: line}, refused
	}
	t, refused = translate(line, f.parser.dialect, f.positionOf(i, line.from))
	t.meets, t.keepsSlashes = f.lines[i].meets, f.keepsSlashes
	return t, refused
}
