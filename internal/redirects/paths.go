package redirects

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/pattern"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// paths is a set of paths: those with certain segments, and perhaps all below. A line matches one
// set or the union of several:
//
//	/blog/:x     blog/{x}
//	/blog/*      blog, and below
//	/blog-*      blog-, and below; blog-{splat}, and below
//	/*/blog      {+splat}/blog
type paths struct {
	segments []segment
	below    bool
	// splatAt is the segment in which the variable that spans segments begins, after splatCut bytes
	// of it; noSplat without one.
	splatAt, splatCut int
	// bareSlash says that the variable begins with the slash before a segment.
	bareSlash bool
	// compiled is the set as the resolver's pattern, computed on demand.
	compiled *pattern.Pattern
}

const noSplat = -1

// segment is a segment of a set: text, or a variable with text around it.
type segment struct {
	before, after string // before is the whole segment without a variable
	name          string // of the variable in a key, "" for none
	capture       string // the line's variable that it is, or ""
	spans         bool   // it matches several segments
	// cutBefore and cutAfter are how much of the text around a variable is not captured.
	cutBefore, cutAfter int
}

func (s *segment) isText() bool { return s.name == "" }

// maxSegments is the maximum number of segments of a template.
const maxSegments = pattern.MaxSegments

// Check returns why no rule can have a path, and whether requests with it exist elsewhere.
func Check(path []Segment, slashes Slashes) (isReached bool, err error) {
	isDots := func(s Segment) bool {
		return strings.Contains(s.Before+s.After, `\`) || s.IsText() && weburl.IsDotSegment(s.Before)
	}
	captures, isRoot := 0, true
	for i, s := range path {
		if !s.IsText() {
			captures++
		}
		isRoot = isRoot && s == Segment{}
		if s == (Segment{}) && i < len(path)-1 && slashes != SlashesKept {
			return false, errors.New("no request reaches a line with \"//\" in its path; write \"/\"")
		}
	}
	switch {
	case slices.ContainsFunc(path, isDots):
		return false, errors.New("no request has this path: browsers replace \"\\\" with \"/\", " +
			"and remove \".\" and \"..\"; write the path as they do")
	case isRoot:
		return true, ErrRoot
	case len(path) >= maxSegments && captures > 0:
		return true, errors.New("a path with placeholders or \"*\" has less than 64 segments; " +
			"write a line for each path, or use Caddy's redir with a path_regexp matcher")
	}
	return true, nil
}

// pathsOf returns the sets for the path of a line.
func pathsOf(path []Segment, slashes Slashes) []paths {
	if n := len(path); n > 0 && path[n-1] == (Segment{}) && slashes != SlashesKept {
		path = path[:n-1]
	}
	set := paths{splatAt: noSplat}
	for i, s := range path {
		if s.Spans >= Rest {
			return set.withRest(canonical(s.Before), s.Spans, slashes == SlashesKept && s.Spans == Rest)
		}
		set.addSegment(s)
		if s.Spans != One {
			set.splatAt = i
		}
	}
	if at := set.splatAt; at >= 0 && path[at].Spans == Any {
		without := slices.Delete(slices.Clone(set.segments), at, at+1)
		return []paths{set, {segments: without, splatAt: noSplat}}
	}
	return []paths{set}
}

// addSegment adds a segment, and gives its variable a name that keys can have.
func (s *paths) addSegment(of Segment) {
	made := segment{before: of.Before}
	if !of.IsText() {
		made = segment{before: canonical(of.Before), after: canonical(of.After), capture: of.Variable}
		made.cutBefore, made.cutAfter = len(made.before), len(made.after)
		made.spans = of.Spans == Several || of.Spans == Any
		name := []byte(of.Variable)
		for i, c := range name {
			if c != '_' && !(c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z') {
				name[i] = '_'
			}
		}
		made.name = s.freeName(string(name), 1)
		isSame := func(other segment) bool { return other.capture == of.Variable }
		if slices.ContainsFunc(s.segments, isSame) {
			made.capture = "" // the first one with a name counts
		}
	}
	s.segments = append(s.segments, made)
}

// withRest returns the sets of paths that continue with text, or nothing, and the rest.
func (s *paths) withRest(before string, spans Span, keepsSlash bool) (sets []paths) {
	above, name := slices.Clip(s.segments), s.freeName(Splat, 1)
	within := paths{segments: append(above, segment{before: before, name: name}), below: true,
		splatAt: len(above), splatCut: len(before)}
	switch {
	case before == "" && keepsSlash && len(above) > 0:
		return []paths{{segments: append(above, segment{}), splatAt: noSplat}, within}
	case before == "" && spans == Some:
		return []paths{within}
	case before == "":
		return []paths{{segments: above, below: true, splatAt: len(above)}}
	}
	itself := slices.Clip(append(above, segment{before: before}))
	if spans == Rest {
		sets = append(sets, paths{segments: itself, splatAt: noSplat})
	}
	if keepsSlash {
		slashed := append(itself, segment{})
		sets = append(sets, paths{segments: slashed, splatAt: len(itself), bareSlash: true})
	}
	below := paths{segments: itself, below: true, splatAt: len(itself)}
	if spans != Loose {
		below.segments, below.bareSlash = append(itself, segment{name: name}), true
	}
	return append(sets, below, within)
}

// key returns the key of a rule for the paths of a set, without those below.
func (s *paths) key() string {
	var b strings.Builder
	for i := range s.segments {
		if i > 0 {
			b.WriteByte('/')
		}
		segment := &s.segments[i]
		b.WriteString(bracesEncoded.Replace(segment.before))
		if segment.isText() {
			continue
		}
		b.WriteByte('{')
		if segment.spans {
			b.WriteByte('+')
		}
		b.WriteString(segment.name + "}" + bracesEncoded.Replace(segment.after))
	}
	return b.String()
}

// bracesEncoded encodes braces that do not belong to variables.
var bracesEncoded = strings.NewReplacer("{", "%7B", "}", "%7D")

// keyBelow returns the key of a rule for paths below those of a set.
func (s *paths) keyBelow(name string) string {
	return strings.TrimPrefix(s.key()+"/{+"+name+"}", "/")
}

// isLiteral reports whether no segment has a variable.
func (s *paths) isLiteral() bool {
	return !slices.ContainsFunc(s.segments, func(s segment) bool { return !s.isText() })
}

// hasSpan reports whether a variable spans segments.
func (s *paths) hasSpan() bool {
	return slices.ContainsFunc(s.segments, func(s segment) bool { return s.spans })
}

// belowName returns a name for the variable of paths below a set.
func (s *paths) belowName() string {
	if !s.hasName(Splat) {
		return Splat
	}
	return s.freeName("rest", 2)
}

// freeName returns a name that no variable of the set has, with a number from n on if necessary.
func (s *paths) freeName(name string, n int) string {
	for base := name; s.hasName(name); n++ {
		name = base + strconv.Itoa(n)
	}
	return name
}

func (s *paths) hasName(name string) bool {
	return slices.ContainsFunc(s.segments, func(s segment) bool { return s.name == name })
}

// itself returns the paths of a set without those below.
func (s *paths) itself() paths {
	itself := *s
	itself.below, itself.compiled = false, nil
	return itself
}

// with returns a set with one more segment.
func (s *paths) with(last segment) paths {
	longer := *s
	longer.compiled = nil
	longer.segments = append(slices.Clip(s.segments), last)
	return longer
}

// slashed returns the paths of a set with a slash at their end.
func (s *paths) slashed() paths { return s.with(segment{}) }

// isSlashed reports whether the paths of a set have a slash at their end.
func (s *paths) isSlashed() bool {
	n := len(s.segments)
	return n > 0 && s.segments[n-1] == segment{}
}

// isUnslashed reports whether each path of a set is a single path without a slash at its end.
func (s *paths) isUnslashed() bool {
	last := s.segments[len(s.segments)-1]
	return !s.below && (!last.isText() || last.before != "")
}

// canonical returns the canonical form of text, which is equal for requests that cannot be told
// apart (R3).
func canonical(text string) string {
	for i := range len(text) {
		if c := text[i]; c == '%' || c <= ' ' || c >= 0x7F || strings.IndexByte("\"<>`{}^", c) >= 0 {
			return resolver.CanonicalKey(bracesEncoded.Replace(text), false)
		}
	}
	return text
}
