package rulefile

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver/pattern"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// What stands in a path for any segments, and in a destination for those that it matched.
const (
	star  = "/*"
	splat = ":splat"
)

// redirectPath is the path of a line taken apart: which requests it takes, as one set of paths or
// several that make it up together.
//
//	/blog/:x     blog/{x}
//	/blog/*      blog, and below
//	/blog-*      blog, and below; blog-{splat}, and below
//	/*/blog      {+splat}/blog
type redirectPath struct {
	sets []pathSet
	// captured are what stands in the destination for parts of the path, without colons.
	captured []string
	hasStar  bool
}

// pathSet is a set of paths: those with certain segments, and perhaps those below.
type pathSet struct {
	segments []setSegment
	below    bool
	// splatAt says where in a path begins what a "*" matches: in a segment, behind so many bytes of
	// it. It is noSplat where the line has no "*". Before splatTo it ends, if that is not 0.
	splatAt, splatCut, splatTo int
	// bareSlash tells that what a "*" matches begins with the slash in front of a segment.
	bareSlash bool
}

const noSplat = -1

// setSegment is a segment of a set: text, or a variable with text around it.
type setSegment struct {
	before, after string // before is all of a segment without a variable
	name          string // of the variable, "" for none
	capture       string // what it is in a destination, without the colon
	spans         bool   // it takes several segments
	// cutBefore and cutAfter are how much of the text around a variable is not captured.
	cutBefore, cutAfter int
}

func (s *setSegment) isText() bool { return s.name == "" }

// maxSegments is how many segments a template has at most.
const maxSegments = pattern.MaxSegments

// newRedirectPath takes the path of a line apart, or says why no rule can have it.
func newRedirectPath(path string, dialect Dialect) (p redirectPath, kind refusalKind, err error) {
	b := pathBuilder{dialect: dialect}
	trimmed := strings.TrimPrefix(path, "/")
	text, hasSlash := strings.CutSuffix(trimmed, "/")
	for rest, more := text, text != ""; more; {
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		if why := b.add(segment, !more); why != nil {
			return p, b.kind, why
		}
	}
	if b.sets == nil {
		isSpan := func(s setSegment) bool { return s.spans }
		at := slices.IndexFunc(b.segments, isSpan)
		if hasSlash && dialect == Cloudflare {
			b.segments = append(b.segments, setSegment{})
		}
		b.close(pathSet{segments: b.segments, splatAt: at})
		if at >= 0 && dialect != Cloudflare { // the "*" takes nothing, too
			b.close(pathSet{segments: slices.Delete(slices.Clone(b.segments), at, at+1), splatAt: noSplat})
		}
	}
	p = b.redirectPath
	if why := b.check(path); why != nil {
		return p, b.kind, why
	}
	return p, 0, nil
}

// pathBuilder takes the segments of a path.
type pathBuilder struct {
	redirectPath
	dialect  Dialect
	segments []setSegment
	names    int  // of variables, to tell them apart
	isTwice  bool // a placeholder begins with the name of one in front of it
	kind     refusalKind
}

// placeholder is what Cloudflare takes for one; Netlify's are whole segments.
var (
	placeholder        = regexp.MustCompile(`:[A-Za-z]\w*`)
	placeholderAtStart = regexp.MustCompile(`^:[A-Za-z]\w*`)
)

// add adds a segment, perhaps the last one.
func (b *pathBuilder) add(segment string, isLast bool) error {
	at := strings.IndexByte(segment, '*')
	if b.dialect == foreign {
		return b.addCaptures(segment, isLast)
	}
	switch isPlaceholder := b.dialect != Cloudflare && len(segment) > 1 && segment[0] == ':'; {
	case isPlaceholder:
		b.appendSegment(setSegment{capture: segment[1:]})
		return nil
	case at >= 0 && b.hasStar:
		return b.refuse(unsupported, "a path has one \"*\", as nothing would settle which of two "+
			"takes what; "+insteadOfLine)
	case at >= 0:
		return b.addStar(segment[:at], segment[at+1:], isLast)
	case b.dialect == Cloudflare:
		return b.addPlaceholders(segment)
	}
	b.appendSegment(setSegment{before: segment})
	return nil
}

const insteadOfLine = "write a line for each path, or use Caddy's redir with a path_regexp matcher"

func (b *pathBuilder) refuse(kind refusalKind, why string) error {
	b.kind = kind
	return errors.New(why)
}

// addPlaceholders adds a segment of Cloudflare's, which has placeholders anywhere.
func (b *pathBuilder) addPlaceholders(segment string) error {
	found := placeholder.FindAllStringIndex(segment, 2)
	switch {
	case len(found) > 1:
		return b.refuse(unsupported, "a segment has one placeholder, as nothing would settle which "+
			"of two takes what; "+insteadOfLine)
	case found == nil:
		b.appendSegment(setSegment{before: segment})
		return nil
	}
	from, to := found[0][0], found[0][1]
	before, after := canonical(segment[:from]), canonical(segment[to:])
	b.appendSegment(setSegment{
		before: before, after: after, capture: segment[from+1 : to],
		cutBefore: len(before), cutAfter: len(after),
	})
	return nil
}

// appendSegment adds a segment and gives its variable a name.
func (b *pathBuilder) appendSegment(s setSegment) {
	switch {
	case s.capture == "":
	case len(b.segments) >= maxSegments && b.captured != nil:
		s.name = s.capture // no rule can have as many
	default:
		isPrefix := func(c string) bool { return strings.HasPrefix(s.capture, c) }
		b.isTwice = b.isTwice || slices.ContainsFunc(b.captured, isPrefix)
		s.name = b.nameOf(s.capture)
		if slices.Contains(b.captured, s.capture) {
			s.capture = "" // the first one of a name counts
		} else {
			b.captured = append(b.captured, s.capture)
		}
	}
	b.segments = append(b.segments, s)
}

// nameOf returns the name of the variable that a placeholder becomes.
func (b *pathBuilder) nameOf(capture string) string {
	name := notInName.ReplaceAllString(capture, "_")
	isTaken := func(s setSegment) bool { return s.name == name }
	for slices.ContainsFunc(b.segments, isTaken) {
		b.names++
		name += strconv.Itoa(b.names)
	}
	return name
}

var notInName = regexp.MustCompile(`\W`)

const splatName = "splat"

// addStar adds the segment that has the "*", with what stands in front of it and behind.
func (b *pathBuilder) addStar(before, after string, isLast bool) error {
	b.hasStar = true
	above := slices.Clip(b.segments)
	switch {
	case after != "":
		if b.dialect != Cloudflare {
			return b.refuse(neverReached, "no request gets to this line, as a \"*\" stands at the end of "+
				"a segment; "+insteadOfLine)
		}
		return b.refuse(unsupported, "a \"*\" stands at the end of a segment; "+insteadOfLine)
	case before == "" && isLast:
		b.captured = append(b.captured, splatName)
		if b.dialect == Cloudflare && len(above) > 0 {
			b.closeCloudflare(above, false)
			return nil
		}
		b.close(pathSet{segments: above, below: true, splatAt: len(above)})
		return nil
	case before == "":
		b.appendSegment(setSegment{capture: splatName, spans: true})
		return nil
	case !isLast:
		return b.refuse(unsupported, "a \"*\" behind text stands at the end of a path; "+insteadOfLine)
	case b.dialect == Cloudflare && placeholder.MatchString(before):
		return b.refuse(unsupported, "a segment has a placeholder or a \"*\", as nothing would settle "+
			"which of two takes what; "+insteadOfLine)
	}
	b.captured = append(b.captured, splatName)
	before = canonical(before)
	itself := append(above, setSegment{before: before})
	within := append(above, setSegment{before: before, name: b.nameOf(splatName)})
	switch b.dialect {
	case Cloudflare:
		b.close(pathSet{segments: itself, splatAt: noSplat})
		b.closeCloudflare(itself, true)
	case foreign:
		b.close(pathSet{segments: itself, splatAt: noSplat})
		below := append(slices.Clip(itself), setSegment{name: b.nameOf(splatName)})
		b.close(pathSet{segments: below, below: true, splatAt: len(itself), bareSlash: true})
	default:
		b.close(pathSet{segments: itself, below: true, splatAt: len(itself)})
	}
	b.close(pathSet{segments: within, below: true, splatAt: len(above), splatCut: len(before)})
	return nil
}

// closeCloudflare adds what a "*" takes below a path: not the path itself, but that with a slash.
func (b *pathBuilder) closeCloudflare(path []setSegment, bareSlash bool) {
	path = slices.Clip(path)
	slash := pathSet{segments: append(path, setSegment{}), splatAt: noSplat}
	below := pathSet{segments: append(path, setSegment{name: b.nameOf(splatName)}), below: true,
		splatAt: len(path), bareSlash: bareSlash}
	if bareSlash {
		slash.splatAt, slash.bareSlash = len(path), true
	}
	b.close(slash)
	b.close(below)
}

func (b *pathBuilder) close(set pathSet) { b.sets = append(b.sets, set) }

// check says why no rule can have a path.
func (b *pathBuilder) check(path string) error {
	isDots := func(s setSegment) bool { return s.isText() && weburl.IsDotSegment(s.before) }
	segments := b.segments
	switch {
	case strings.Contains(path, `\`) || slices.ContainsFunc(segments, isDots):
		return b.refuse(neverReached, "no request has this path, as browsers make \"/\" of \"\\\", "+
			"and leave out \".\" and \"..\"; write the path as they do")
	case b.dialect != Cloudflare && strings.Contains(path, "//"):
		return b.refuse(neverReached, "no request gets to a line with \"//\" in its path; write \"/\"")
	case strings.Trim(path, "/") == "" && !b.hasStar:
		return b.refuse(unsupported, "a key is not empty, so no rule is for \"/\"; use Caddy's redir")
	case b.dialect == Cloudflare && b.isTwice:
		return b.refuse(neverReached,
			"no request gets to this line, as the name of a placeholder begins "+
				"with that of one in front of it; give it another name")
	case len(segments) >= maxSegments && len(b.captured) > 0:
		return b.refuse(unsupported, "a path with placeholders or \"*\" has less than 64 segments; "+
			insteadOfLine)
	}
	return nil
}
