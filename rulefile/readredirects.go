package rulefile

import (
	"hash/maphash"
	"io"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// readRedirects reads rules from a _redirects file. They are passed to add when all have been read.
func readRedirects(r io.Reader, source string, add func(resolver.Rule)) error {
	file := newRedirectsFile()
	err := file.read(newLineReader(r, source))
	file.each(add)
	return file.errs.withEnd(err)
}

// redirectsFile is what has been read of a file.
type redirectsFile struct {
	// rules are the rules in the order of their lines. One that became part of a later one has no key
	// any more.
	rules []resolver.Rule
	byKey map[string]int // index in rules, by canonical key
	seed  maphash.Seed
	wide  map[uint64]bool // the hashes of the keys that take all below their paths
	// index finds the lines that a line precedes here, and not there.
	index *resolver.PatternIndex
	errs  Errors
}

func newRedirectsFile() *redirectsFile {
	seed := maphash.MakeSeed()
	return &redirectsFile{
		byKey: make(map[string]int),
		seed:  seed,
		wide:  make(map[uint64]bool),
		index: resolver.NewPatternIndex(),
	}
}

// read takes in all lines. The error is io.EOF, or what ended the reading before.
func (f *redirectsFile) read(lines *lineReader) error {
	for {
		if _, err := f.next(lines); err != nil {
			return err
		}
	}
}

// next takes in a line, and returns it. The error is as for read.
func (f *redirectsFile) next(lines *lineReader) (string, error) {
	text, err := lines.next()
	if err != nil {
		return "", err
	}
	if err := f.errs.tooMany(lines.position(1)); err != nil {
		return "", err
	}
	line := string(text)
	f.add(line, lines.position(0))
	if f.index.IsSpent() {
		return "", &Error{lines.position(1), tooManyForms}
	}
	return line, nil
}

// tooManyForms is what is wrong with a file whose lines cannot be compared in reasonable time.
const tooManyForms = "the lines up to this one have placeholders in so many different places of " +
	"their segments that comparing them takes too long; move some of them into another file, and " +
	"reading ends here"

// add takes in a line.
func (f *redirectsFile) add(text string, at resolver.Position) {
	rules, err := newRedirectLine(text, at).rules()
	if err != nil {
		f.errs = append(f.errs, err)
		return
	}
	for i, rule := range rules {
		keyed := newKeyedRule(rule)
		_, twice := f.byKey[keyed.pattern.Key()]
		if isPartOf := i < len(rules)-1; isPartOf && twice {
			continue // an earlier line has the path itself, and this one all below it
		}
		if !f.addRule(keyed) {
			return
		}
	}
}

// addRule takes in a rule, and reports whether requests get to it.
func (f *redirectsFile) addRule(added *keyedRule) bool {
	rule, key := added.rule, added.pattern.Key()
	first, twice := f.byKey[key]
	switch taker, taken := f.takerOf(key); {
	case taken:
		f.errs.add(rule.Position, "no request gets to this line, as that at %s comes first and "+
			"takes all below its path; put this line in front of it, or remove one of the two",
			f.rules[taker].Position)
	case twice && !rule.Exact && f.rules[first].Exact:
		f.widen(first, added)
		return true
	case twice:
		f.errs.add(rule.Position, "no request gets to this line, as that at %s comes first and "+
			"has the same path; remove one of the two", f.rules[first].Position)
	case f.refuseBetter(added):
	default:
		f.append(added)
		return true
	}
	return false
}

// refuseBetter reports a rule that precedes an earlier one here, and could not there. One of the
// two is a template, and some paths match both.
func (f *redirectsFile) refuseBetter(added *keyedRule) (refused bool) {
	first, path, refused := f.index.First(&added.pattern)
	if refused {
		f.errs.add(added.rule.Position, "a request for %s gets to the line at %s, which comes first, "+
			"where a rule of this line would be the better match; put this line in front of that "+
			"one, or remove one of the two", path, f.rules[first].Position)
	}
	return refused
}

func (f *redirectsFile) append(added *keyedRule) {
	key := added.pattern.Key()
	f.index.Add(&added.pattern, len(f.rules))
	f.byKey[key] = len(f.rules)
	f.rules = append(f.rules, added.rule)
	if !added.rule.Exact {
		f.wide[maphash.String(f.seed, key)] = true
	}
}

// takerOf returns the rule that takes all below a path where the key lies: that with the longest
// key.
func (f *redirectsFile) takerOf(key string) (i int, taken bool) {
	longest := 0
	for length, hash := range hashesAbove(key, f.seed) {
		if f.wide[hash] {
			longest = length
		}
	}
	if longest == 0 {
		return 0, false
	}
	i, taken = f.byKey[key[:longest]]
	return i, taken
}

// widen makes one rule of an exact one, the i-th, and of that for all below its path.
func (f *redirectsFile) widen(i int, added *keyedRule) {
	path, below := f.rules[i], &added.rule
	isSame := path.Value == below.Value || path.Value == withSlash(below.Value)
	if path.Status != below.Status || !isSame {
		f.errs.add(below.Position, "/%s leads elsewhere already, at %s, and a key has one rule: "+
			"let the path and all below it lead to the same place, or remove one of the two lines",
			below.Key, path.Position)
		return
	}
	f.rules[i] = resolver.Rule{Position: path.Position}
	below.Value = path.Value
	f.append(added)
}

// each passes the rules to add.
func (f *redirectsFile) each(add func(resolver.Rule)) {
	for _, rule := range f.rules {
		if rule.Key != "" {
			add(rule)
		}
	}
}

// keyedRule is a rule with its key taken apart.
type keyedRule struct {
	pattern resolver.Pattern
	rule    resolver.Rule
}

func newKeyedRule(rule resolver.Rule) *keyedRule {
	return &keyedRule{resolver.PatternOf(rule), rule}
}
