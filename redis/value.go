package redis

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// parseRules returns the rules that the fields of a hash stand for, in their order and with source
// for their position. The error is of type [rulefile.Errors] and lists everything that is no rule.
func parseRules(fields []field, source string) ([]resolver.Rule, error) {
	p := &parser{at: resolver.Position{Source: source}, rules: make([]resolver.Rule, 0, len(fields))}
	for _, f := range fields {
		p.parse(f.key, f.value)
	}
	p.readWaiting()
	if p.errs != nil {
		slices.SortStableFunc(p.errs, func(a, b *rulefile.Error) int {
			return strings.Compare(a.Message, b.Message)
		})
		return nil, p.errs
	}
	return p.rules, nil
}

// parser gathers rules. Values in the form of an object are read many at a time, each on its own
// line of one JSON document.
type parser struct {
	at      resolver.Position
	rules   []resolver.Rule
	errs    rulefile.Errors
	lines   bytes.Buffer // values that wait to be read
	waiting []int        // the rule that each of them belongs to
}

// enoughWaiting is when the values that wait are read: they are not to take up memory by the
// million.
const enoughWaiting = 64 << 10

// parse takes in a field.
func (p *parser) parse(key, value string) {
	switch {
	case !utf8.ValidString(key):
		p.report(key, "the key is no Unicode text; write its bytes percent-encoded")
	case !utf8.ValidString(value):
		p.report(key, "the value is no Unicode text; write its bytes percent-encoded")
	case strings.HasPrefix(value, "{"):
		p.queue(key, value)
	default:
		p.rules = append(p.rules, resolver.Rule{Key: key, Value: value, Position: p.at})
	}
}

// queue lets a value in the form of an object wait. It is checked to be one value first, or one
// could close the document and go on with rules of its own.
func (p *parser) queue(key, value string) {
	start := p.lines.Len()
	p.lines.WriteString(",\n")
	if start == 0 {
		p.lines.Reset()
		p.lines.WriteByte('{')
	}
	name, _ := json.Marshal(key) // a string always has a JSON form
	p.lines.Write(name)
	p.lines.WriteByte(':')
	if err := json.Compact(&p.lines, []byte(value)); err != nil {
		p.lines.Truncate(start)
		p.report(key, `the value begins with "{" but is no JSON object: `+err.Error())
		return
	}
	p.waiting = append(p.waiting, len(p.rules))
	p.rules = append(p.rules, resolver.Rule{Key: key, Position: p.at})
	if p.lines.Len() >= enoughWaiting {
		p.readWaiting()
	}
}

// readWaiting reads the values that wait.
func (p *parser) readWaiting() {
	if len(p.waiting) == 0 {
		return
	}
	p.lines.WriteByte('}')
	err := rulefile.ReadJSON(&p.lines, "", func(rule resolver.Rule) {
		at := p.waiting[rule.Position.Line-1]
		rule.Position = p.at
		p.rules[at] = rule
	})
	if wrong, ok := errors.AsType[rulefile.Errors](err); ok {
		for _, e := range wrong {
			p.report(p.rules[p.waiting[e.Position.Line-1]].Key, e.Message)
		}
	}
	p.lines.Reset()
	p.waiting = p.waiting[:0]
}

// report takes down what is wrong with a field.
func (p *parser) report(key, message string) {
	p.errs = append(p.errs,
		&rulefile.Error{Position: p.at, Message: fmt.Sprintf("key %q: %s", key, message)})
}
