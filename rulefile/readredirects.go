package rulefile

import (
	"hash/maphash"
	"io"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// ReadRedirects reads rules from a _redirects file, as Netlify and Cloudflare Pages have
// it: a line for each, with the words
//
//	from [query...] to [status[!]] [condition...]
//
// A path is an exact rule, which like there matches with and without a slash at its end. A path that ends in "/*" is a rule for all below it, if
// "/:splat" ends the destination's path; it matches the path itself, too. Where ":splat" stands elsewhere in the
// destination, or not at all, the line makes two rules, for the path itself and for all below it. A placeholder is a variable of
// a template, and so is a "*" at the end of the last segment:
//
//	/paper         https://example.com/paper.pdf 302    paper            https://example.com/paper.pdf   302 exact
//	/docs/*        https://docs.example.com/:splat      docs             https://docs.example.com        301
//	/news/*        /blog                                news             /blog                           301 exact
//	                                                    news/{+splat}    /blog                           301
//	/:year/:post   /blog/:post?y=:year                  {year}/{post}    /blog/{post}?y={year}           301 exact
//	/api-*         /reference/:splat                    api-{splat}      /reference/{+splat}             301
//
// A line without a status means 301, as at Netlify; at Cloudflare it means 302. The "!" changes nothing, as rules answer
// before files do. Everything else has no equivalent, and each such line is an error that says why:
// a host in front of the path, queries and conditions, other statuses (rewrites, error pages), every path, two placeholders in
// one segment, and a path that leads to itself.
//
// A key has one rule, where a _redirects file can have two lines, for a path and for all below it. Where the path's line
// is the first, the two become one rule, in the second's place, if status and destination are the same but for a slash at its end:
//
//	/docs    https://docs.example.com/
//	/docs/*  https://docs.example.com/:splat      docs   https://docs.example.com/      301
//
// Otherwise the second is an error. So is a line that no request gets to, as there the first line that matches
// wins: one for a path that an earlier line has, or below one that an earlier line takes whole. Here the
// longest key wins, and the line would begin to mean something. For the same reason a line is an error some of whose paths match one with
// placeholders in front of it, where the rule that it makes would win here.
//
// Lines are compared in time that is linear in their number, as long as the texts around their
// placeholders have a few hundred different lengths and places at most; the reading ends at a line
// with which that gets out of hand.
//
// The rules are passed to add when all have been read; their positions are source, and the line and column
// of the path. The error is of type [Errors] and lists every line that is no rule, or it
// is the reader's own.
func ReadRedirects(r io.Reader, source string, add func(resolver.Rule)) error {
	file := newRedirectsFile()
	err := file.read(newLineReader(r, source))
	file.each(add)
	return file.errs.with(err)
}

// redirectsFile is what has been read of a file.
type redirectsFile struct {
	// rules are the rules in the order of their lines; one that became part of a later one has
	// no key any more.
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

// refuseBetter reports a rule some of whose paths match an earlier one, too, if it would win here
// and cannot there: one of the two is a template.
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
