package resolver

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// Pattern is the key of a rule taken apart: which paths it matches, and what it precedes. A key
// without variables is one, too. Make it with [PatternOf]:
//
//	post-{id}/a/{+rest}    post-{1}   a   {+2}
//	                       segments           the span
type Pattern struct {
	// key is the canonical key. Its variables are numbered from 1 on, as their names mean nothing
	// outside the rule.
	key      string
	segments []segmentPattern
	span     int      // the segment that takes several of a path's, -1 for none
	names    []string // of the variables, by slot
	exact    bool
}

// PatternOf takes the key of a rule apart. A key that no rule can have stands for itself, as one
// without variables.
func PatternOf(rule Rule) Pattern {
	var o options
	if IsTemplate(rule.Key) {
		if p, err := o.parsePattern(rule.Key); err == nil {
			p.exact = rule.Exact
			return p
		}
	}
	return literalPattern(string(o.appendKey(nil, rule.Key)), rule.Exact)
}

// literalPattern returns the pattern of a canonical key without variables.
func literalPattern(key string, exact bool) Pattern {
	b := patternBuilder{Pattern: newPattern()}
	b.addText(key)
	b.endSegment()
	b.exact = exact
	return b.Pattern
}

func newPattern() Pattern { return Pattern{span: -1} }

// Key returns the form of the key in which equal keys are equal, as [CanonicalKey] does.
func (p *Pattern) Key() string { return p.key }

// IsTemplate reports whether the key has variables.
func (p *Pattern) IsTemplate() bool { return len(p.names) > 0 }

// ownSegments is how many segments of a path the key takes by itself: what spans segments does not
// count.
func (p *Pattern) ownSegments() int {
	if p.span >= 0 {
		return len(p.segments) - 1
	}
	return len(p.segments)
}

// Compare puts the key first that answers for the paths that match both. That is the longer one,
// the one that leaves less of a path, the one without variables, or the one of more literal text.
// It takes what spans segments for the end of a key; what is behind it may let a path decide
// otherwise.
func (p *Pattern) Compare(other *Pattern) int {
	return cmp.Or(
		cmp.Compare(other.ownSegments(), p.ownSegments()),
		compareBool(other.span >= 0, p.span >= 0),
		compareBool(p.IsTemplate(), other.IsTemplate()),
		p.compareSegments(other),
	)
}

// compareBool puts false first.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// compareSegments puts the better one of two keys first, segment by segment. Literal ones precede
// expressions, more literal text precedes less, and what spans segments comes last.
func (p *Pattern) compareSegments(other *Pattern) int {
	for i := range min(len(p.segments), len(other.segments)) {
		if c := cmp.Compare(other.weight(i), p.weight(i)); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(p.segments), len(other.segments))
}

// weight is what the i-th segment counts among those of other keys.
func (p *Pattern) weight(i int) int {
	s := &p.segments[i]
	switch {
	case s.isLiteral():
		return maxKey + 2
	case i == p.span:
		return 0
	}
	return 1 + s.literalLength()
}

// segmentPattern is a segment of a key: literal text, or an expression with literal text around it.
type segmentPattern struct {
	prefix, suffix string // canonical
	slot           int    // of the expression's variable, -1 for none
	literal        uint32 // the number of literal text among that of all keys, 0 for none
}

func (s *segmentPattern) isLiteral() bool { return s.slot < 0 }

// isLike reports whether two segments match the same.
func (s *segmentPattern) isLike(other *segmentPattern) bool {
	return s.isLiteral() == other.isLiteral() &&
		s.prefix == other.prefix && s.suffix == other.suffix
}

// literalLength is how much of a segment is settled.
func (s *segmentPattern) literalLength() int { return len(s.prefix) + len(s.suffix) }

// maxSegments is how many segments a template has at most. What {+x} takes is found by comparing
// the segments behind it with the path's, place by place.
const maxSegments = 64

// parsePattern takes the key of a template apart, or returns what is wrong with it.
func (o *options) parsePattern(key string) (p Pattern, err error) {
	if len(key) > maxKey {
		return p, checkKey(key)
	}
	parts, err := parseTemplate(key)
	switch {
	case err != nil:
	case strings.Count(key, "/")+strings.Count(key, ",") >= maxSegments:
		err = fmt.Errorf("a key with variables has at most %d segments", maxSegments)
	default:
		err = checkTemplateKey(key)
	}
	if err != nil {
		return p, err
	}
	b := patternBuilder{Pattern: newPattern()}
	for _, part := range parts {
		if part.name == "" {
			b.addText(string(o.appendKey(nil, part.literal)))
		} else if err := b.addVariable(part); err != nil {
			return p, err
		}
	}
	b.endSegment()
	return b.Pattern, b.check()
}

// patternBuilder makes a pattern of the parts of a key.
type patternBuilder struct {
	Pattern
	current segmentPattern // slot is one more than that of the variable, 0 for none
}

// addText adds canonical literal text.
func (b *patternBuilder) addText(text string) {
	b.key += text
	b.segments = slices.Grow(b.segments, strings.Count(text, "/")+1)
	for rest, more := text, true; more; {
		var segment string
		if segment, rest, more = strings.Cut(rest, "/"); b.current.slot == 0 {
			b.current.prefix += segment
		} else {
			b.current.suffix += segment
		}
		if more {
			b.endSegment()
		}
	}
}

// addVariable adds an expression, or says why there cannot be one.
func (b *patternBuilder) addVariable(part templatePart) error {
	switch {
	case b.current.slot > 0:
		return errors.New("a segment of a key has one expression at most, as nothing would " +
			"settle which of two takes what")
	case slices.Contains(b.names, part.name):
		return errors.New("the variable " + part.name + " stands twice in the key; give one of " +
			"them another name")
	case part.reserved && b.span >= 0:
		return errors.New("a key has one expression that spans segments at most, as nothing " +
			"would settle which of two takes what")
	}
	b.names = append(b.names, part.name)
	b.current.slot = len(b.names)
	operator := ""
	if part.reserved {
		b.span, operator = len(b.segments), "+"
	}
	b.key += "{" + operator + strconv.Itoa(len(b.names)) + "}"
	return nil
}

func (b *patternBuilder) endSegment() {
	b.current.slot--
	b.segments = append(b.segments, b.current)
	b.current = segmentPattern{}
}

// check says what is wrong with a key all parts of which are good.
func (b *patternBuilder) check() error {
	isDots := func(s segmentPattern) bool { return s.isLiteral() && weburl.IsDotSegment(s.prefix) }
	if slices.ContainsFunc(b.segments, isDots) {
		return checkKey("..")
	}
	if b.span >= 0 && b.segments[b.span].literalLength() > 0 {
		return errors.New("an expression that spans segments stands for whole ones; put a \"/\" " +
			"on both sides of it")
	}
	return nil
}
