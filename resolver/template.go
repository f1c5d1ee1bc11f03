package resolver

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/uritemplate"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// Templates are rules whose keys hold expressions. They are an extension of the draft: a pathname never holds a "{", so
// that there such a key can never match.

// templateRule is a rule whose key is a template.
type templateRule struct {
	rule   Rule
	source int
	// key is the canonical key: its literal text canonical, and its variables numbered from 1 on, as their names mean nothing outside the
	// rule.
	key string
	// segments are those of the key, of which span, if it is not -1, takes several of a path's.
	segments []segmentPattern
	span     int
	names    []string // of the variables, by slot
	value    templateValue
	number   int
	// order is the rule's place among all templates, of which a better one comes first where matches are equally long and leave
	// equally much of a path.
	order int
	// failure is what the chain ends in for all values that no other key takes, nil if it arrives.
	failure error
}

// segmentPattern is a segment of a key: literal text, or an expression with literal text around it.
type segmentPattern struct {
	prefix, suffix string // canonical
	slot           int    // of the expression's variable, -1 for none
	literal        uint32 // the number of literal text among that of all keys, 0 for none
}

func (p *segmentPattern) isLiteral() bool { return p.slot < 0 }

// isLike reports whether two segments match the same.
func (p *segmentPattern) isLike(other *segmentPattern) bool {
	return p.isLiteral() == other.isLiteral() && p.prefix == other.prefix && p.suffix == other.suffix
}

// literalLength is how much of a segment is settled.
func (p *segmentPattern) literalLength() int { return len(p.prefix) + len(p.suffix) }

// compareTemplates puts the better one of two templates first: segment by segment, literal ones beat expressions, more literal text
// beats less, and what spans segments comes last.
func compareTemplates(a, b *templateRule) int {
	for i := range min(len(a.segments), len(b.segments)) {
		if c := cmp.Compare(b.weight(i), a.weight(i)); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(len(a.segments), len(b.segments)), strings.Compare(a.key, b.key))
}

// ownSegments is how many segments of a path the key takes by itself: what spans segments does not
// count.
func (t *templateRule) ownSegments() int {
	if t.span >= 0 {
		return len(t.segments) - 1
	}
	return len(t.segments)
}

// weight is what the i-th segment counts among those of other templates.
func (t *templateRule) weight(i int) int {
	p := &t.segments[i]
	switch {
	case p.isLiteral():
		return maxKey + 2
	case i == t.span:
		return 0
	}
	return 1 + p.literalLength()
}

// IsTemplate reports whether a key is a template: it has a brace, which no other key may have.
func IsTemplate(key string) bool { return strings.ContainsAny(key, "{}") }

// templatePart is literal text, or the place of a variable's value. With all variables defined and not empty, as captures
// are, each operator is one with literal text around it.
type templatePart struct {
	literal  string
	name     string // of the variable, "" for literal text
	reserved bool   // the value may hold reserved characters, and so several segments
}

// parseTemplate takes a key or value apart, or says what is wrong with it. Literal text is left as it is written.
func parseTemplate(text string) (parts []templatePart, problem string) {
	for rest := text; rest != ""; {
		open := strings.IndexAny(rest, "{}")
		if open < 0 {
			return append(parts, templatePart{literal: rest}), ""
		}
		end := strings.IndexByte(rest[open:], '}')
		if rest[open] == '}' || end < 0 {
			return nil, "a \"" + rest[open:open+1] + "\" is without its partner; write %7B for { and %7D for }, or a variable like {name}"
		}
		if open > 0 {
			parts = append(parts, templatePart{literal: rest[:open]})
		}
		expression := rest[open : open+end+1]
		if parts, problem = appendExpression(parts, expression); problem != "" {
			return nil, problem
		}
		rest = rest[open+end+1:]
	}
	return parts, ""
}

// appendExpression appends the parts of an expression.
func appendExpression(parts []templatePart, expression string) (_ []templatePart, problem string) {
	template, err := uritemplate.Parse(expression)
	if malformed, is := errors.AsType[*uritemplate.SyntaxError](err); is {
		if problem = regexpProblem(expression); problem != "" {
			return nil, problem
		}
		return nil, "the expression " + expression + ": " + malformed.Message
	}
	e := template.Parts()[0].Expression
	operator := e.Operator
	for i, v := range e.Variables {
		if v.Prefix > 0 || v.Explode {
			return nil, modifierProblem(expression, v.Name, "a modifier, which rules have none of")
		}
		before := string(operator.Separator())
		if first := operator.First(); i == 0 {
			if before = ""; first != 0 {
				before = string(first)
			}
		}
		if operator.Named() {
			before += v.Name + "="
		}
		if before != "" {
			parts = append(parts, templatePart{literal: before})
		}
		parts = append(parts, templatePart{name: v.Name, reserved: operator.AllowsReserved()})
	}
	return parts, ""
}

// maxSegments is how many segments a template has at most: what {+x} takes is found by comparing the segments behind it with the path's, place by
// place.
const maxSegments = 64

// parseTemplateKey parses a key, or says what is wrong with it and what to write instead.
func (o *options) parseTemplateKey(key string) (t templateRule, problem string) {
	if len(key) > maxKey {
		return t, keyProblem(key)
	}
	parts, problem := parseTemplate(key)
	switch {
	case problem != "":
	case strings.Count(key, "/")+strings.Count(key, ",") >= maxSegments:
		problem = "a key with variables has at most " + strconv.Itoa(maxSegments) + " segments"
	default:
		problem = templateKeyProblem(key)
	}
	if problem != "" {
		return t, problem
	}
	t.span = -1
	current := segmentPattern{slot: -1}
	var canonical strings.Builder
	for _, part := range parts {
		if part.name == "" {
			literal := string(o.appendKey(nil, part.literal))
			canonical.WriteString(literal)
			segments := strings.Split(literal, "/")
			for i, segment := range segments {
				if i > 0 {
					t.segments = append(t.segments, current)
					current = segmentPattern{slot: -1}
				}
				if current.slot < 0 {
					current.prefix += segment
				} else {
					current.suffix += segment
				}
			}
			continue
		}
		switch {
		case current.slot >= 0:
			return t, "a segment of a key has one expression at most, as nothing would settle which of two takes what"
		case slices.Contains(t.names, part.name):
			return t, "the variable " + part.name + " stands twice in the key; give one of them another name"
		case part.reserved && t.span >= 0:
			return t, "a key has one expression that spans segments at most, as nothing would settle which of two takes what"
		case part.reserved:
			t.span = len(t.segments)
		}
		current.slot = len(t.names)
		t.names = append(t.names, part.name)
		canonical.WriteByte('{')
		if part.reserved {
			canonical.WriteByte('+')
		}
		canonical.WriteString(strconv.Itoa(len(t.names)))
		canonical.WriteByte('}')
	}
	t.segments = append(t.segments, current)
	if slices.ContainsFunc(t.segments, func(p segmentPattern) bool { return p.isLiteral() && weburl.IsDotSegment(p.prefix) }) {
		return t, keyProblem("..")
	}
	if t.span >= 0 && t.segments[t.span].literalLength() > 0 {
		return t, "an expression that spans segments stands for whole ones; put a \"/\" on both sides of it"
	}
	t.key = canonical.String()
	return t, ""
}

// templateKeyProblem says what is wrong with the text of a key whose expressions are good.
func templateKeyProblem(key string) string {
	for rest := key; ; {
		_, expression, found := strings.Cut(rest, "{")
		if !found {
			break
		}
		if strings.IndexByte("?&#.;", expression[0]) >= 0 {
			return "the expression {" + expression[:1] + "…} has no place in a key, which is compared with the path alone; a key has {name}, {+name} and {/name}"
		}
		rest = expression
	}
	if key[0] == '/' || strings.HasPrefix(key, "{/") {
		return "a key has no leading \"/\"; write " + withoutLeadingSlash(key)
	}
	return keyProblem(withoutExpressions(key))
}

// withoutExpressions returns a key with a letter in the place of each expression.
func withoutExpressions(key string) string {
	var b strings.Builder
	for rest := key; rest != ""; {
		literal, expression, found := strings.Cut(rest, "{")
		b.WriteString(literal)
		if found {
			b.WriteByte('x')
		}
		_, rest, _ = strings.Cut(expression, "}")
	}
	return b.String()
}

// withoutLeadingSlash returns the key without a slash at its beginning, or in the expression there.
func withoutLeadingSlash(key string) string {
	key = strings.TrimLeft(key, "/")
	inner, rest, ok := strings.Cut(key, "}")
	if !ok || !strings.HasPrefix(inner, "{/") {
		return key
	}
	first, others, several := strings.Cut(inner[len("{/"):], ",")
	if several {
		rest = "{/" + others + "}" + rest
	} else {
		rest = others + rest
	}
	return "{" + first + "}" + rest
}
