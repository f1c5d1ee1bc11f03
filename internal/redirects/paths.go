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

// paths is a set of paths: those with certain segments, and perhaps all below. What a line takes is
// one of them, or several that make it up together:
//
//	/blog/:x     blog/{x}
//	/blog/*      blog, and below
//	/blog-*      blog-, and below; blog-{splat}, and below
//	/*/blog      {+splat}/blog
type paths struct {
	segments []segment
	below    bool
	// splatAt says where in a path begins what spans segments: in a segment, behind splatCut bytes of
	// it. It is noSplat where nothing does.
	splatAt, splatCut int
	// bareSlash tells that it begins with the slash in front of a segment.
	bareSlash bool
	// compiled is the set as the resolver compares it, if that has been asked for.
	compiled *pattern.Pattern
}

const noSplat = -1

// segment is a segment of a set: text, or a variable with text around it.
type segment struct {
	before, after string // before is all of a segment without a variable
	name          string // of the variable in a key, "" for none
	capture       string // the variable of the line that it is, "" for none
	spans         bool   // it takes several segments
	// cutBefore and cutAfter are how much of the text around a variable is not captured.
	cutBefore, cutAfter int
}

func (s *segment) isText() bool { return s.name == "" }

// maxSegments is how many segments a template has at most.
const maxSegments = pattern.MaxSegments

// Check says why no rule can have a path, and whether requests have it elsewhere.
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
			return false, errors.New("no request gets to a line with \"//\" in its path; write \"/\"")
		}
	}
	switch {
	case slices.ContainsFunc(path, isDots):
		return false, errors.New("no request has this path, as browsers make \"/\" of \"\\\", " +
			"and leave out \".\" and \"..\"; write the path as they do")
	case isRoot:
		return true, errors.New("a key is not empty, so no rule is for \"/\"; use Caddy's redir")
	case len(path) >= maxSegments && captures > 0:
		return true, errors.New("a path with placeholders or \"*\" has less than 64 segments; " +
			"write a line for each path, or use Caddy's redir with a path_regexp matcher")
	}
	return true, nil
}

// pathsOf returns the sets that make up the path of a line.
func pathsOf(path []Segment, slashes Slashes) []paths {
	if n := len(path); n > 0 && path[n-1] == (Segment{}) && slashes != SlashesKept {
		path = path[:n-1]
	}
	set := paths{splatAt: noSplat}
	for i, s := range path {
		if s.Spans >= Rest {
			return set.withRest(canonical(s.Before), s.Spans, slashes == SlashesKept && s.Spans == Rest)
		}
		set.add(s)
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

// add adds a segment, and gives its variable a name that a key can have.
func (s *paths) add(of Segment) {
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
			made.capture = "" // the first one of a name counts
		}
	}
	s.segments = append(s.segments, made)
}

// withRest returns the sets of paths that go on with text, or none, and what is left.
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

// bracesEncoded writes braces that are no variable's.
var bracesEncoded = strings.NewReplacer("{", "%7B", "}", "%7D")

// keyBelow returns the key of a rule for what is below the paths of a set.
func (s *paths) keyBelow(name string) string {
	return strings.TrimPrefix(s.key()+"/{+"+name+"}", "/")
}

// isLiteral reports whether no segment has a variable.
func (s *paths) isLiteral() bool {
	return !slices.ContainsFunc(s.segments, func(s segment) bool { return !s.isText() })
}

// hasSpan reports whether a segment takes several of a path's.
func (s *paths) hasSpan() bool {
	return slices.ContainsFunc(s.segments, func(s segment) bool { return s.spans })
}

// belowName returns a name for the variable of what is below the paths of a set.
func (s *paths) belowName() string {
	if !s.hasName(Splat) {
		return Splat
	}
	return s.freeName("rest", 2)
}

// freeName returns a name that no variable of the set has, with a number from n on if need be.
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

// with returns a set with a segment more.
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

// isUnslashed reports whether a set is that of one path each, without a slash at its end.
func (s *paths) isUnslashed() bool {
	last := s.segments[len(s.segments)-1]
	return !s.below && (!last.isText() || last.before != "")
}

// canonical returns the form of text in which what requests cannot tell apart is equal (R3).
func canonical(text string) string {
	for i := range len(text) {
		if c := text[i]; c == '%' || c <= ' ' || c >= 0x7F || strings.IndexByte("\"<>`{}^", c) >= 0 {
			return resolver.CanonicalKey(bracesEncoded.Replace(text), false)
		}
	}
	return text
}
