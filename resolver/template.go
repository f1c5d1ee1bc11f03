package resolver

import (
	"errors"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver/pattern"
	"github.com/caddy-shortlink/shortlink/uritemplate"
)

// Templates are rules with expressions in their keys. They are an extension of the draft: a
// pathname never contains a "{", so in the draft such a key cannot match.

// templateRule is a rule whose key is a template, taken apart. It is decoded from the record if
// more is needed than an answer.
type templateRule struct {
	*pattern.Pattern
	// segments and span are from the pattern of the key.
	segments []pattern.Segment
	span     int
	names    []string // of the variables, by slot

	rule   Rule
	source int
	value  templateValue
	index  int // among those that serve, in their order
}

// newTemplateRule returns a template without its rule and its value.
func newTemplateRule(key templateKey, exact bool) *templateRule {
	p := pattern.Parse(key.text, exact)
	return &templateRule{Pattern: p, segments: p.Segments(), span: p.Span(), names: key.names}
}

// IsTemplate reports whether a key is a template: it has a brace, which no other key can have.
func IsTemplate(key string) bool { return strings.ContainsAny(key, "{}") }

// templatePart is literal text, or the place of a variable's value. All variables are defined and
// not empty, as captures are. So an operator is a variable with literal text around it.
type templatePart struct {
	literal  string
	name     string // of the variable, "" for literal text
	reserved bool   // the value may hold reserved characters, and so several segments
}

// parseTemplate splits a key or a value, or says what is wrong with it. Literal text stays as it is
// written.
func parseTemplate(text string) (parts []templatePart, err error) {
	for rest := text; rest != ""; {
		open := strings.IndexAny(rest, "{}")
		if open < 0 {
			return append(parts, templatePart{literal: rest}), nil
		}
		end := strings.IndexByte(rest[open:], '}')
		if rest[open] == '}' || end < 0 {
			return nil, errors.New("unmatched \"" + rest[open:open+1] + "\"; write " +
				"%7B for { and %7D for }, or a variable like {name}")
		}
		if open > 0 {
			parts = append(parts, templatePart{literal: rest[:open]})
		}
		expression := rest[open : open+end+1]
		if parts, err = appendExpression(parts, expression); err != nil {
			return nil, err
		}
		rest = rest[open+end+1:]
	}
	return parts, nil
}

// appendExpression appends the parts of an expression.
func appendExpression(parts []templatePart, expression string) (_ []templatePart, err error) {
	template, err := uritemplate.Parse(expression)
	if malformed, is := errors.AsType[*uritemplate.SyntaxError](err); is {
		if err = regexpError(expression); err != nil {
			return nil, err
		}
		return nil, errors.New("the expression " + expression + ": " + malformed.Message)
	}
	e := template.Parts()[0].Expression
	operator := e.Operator
	for i, v := range e.Variables {
		if v.Prefix > 0 || v.Explode {
			return nil, modifierError(expression, v.Name, "a modifier, which keys do not support")
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
	return parts, nil
}

// checkTemplateKey says what is wrong with the text of a key whose expressions are valid.
func checkTemplateKey(key string) error {
	for rest := key; ; {
		_, expression, found := strings.Cut(rest, "{")
		if !found {
			break
		}
		if strings.IndexByte("?&#.;", expression[0]) >= 0 {
			return errors.New("the expression {" + expression[:1] + "…} has no place in a key, " +
				"which is compared with the path alone; a key has {name}, {+name} and {/name}")
		}
		rest = expression
	}
	if key[0] == '/' || strings.HasPrefix(key, "{/") {
		return errors.New("the key begins with \"/\"; write " + withoutLeadingSlash(key))
	}
	return checkKey(withoutExpressions(key))
}

// withoutExpressions replaces each expression of a key with a letter.
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

// withoutLeadingSlash removes the slash at the beginning of a key, or of the expression there.
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
