package shortlink

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/report"
	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

// Rules are the rules in the configuration itself. In JSON they are an object from key to value, in
// the form that [rulefile.ReadJSON] describes.
type Rules []resolver.Rule

// MarshalJSON returns the rules as an object.
func (rules Rules) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	err := rulefile.WriteJSON(&b, slices.Values(rules))
	return b.Bytes(), err
}

// UnmarshalJSON reads the rules from an object. The error lists all that is wrong with it, by key:
// Caddy has reformatted the JSON, so its lines and columns mean nothing.
func (rules *Rules) UnmarshalJSON(b []byte) error {
	*rules = nil
	err := rulefile.ReadJSON(bytes.NewReader(b), "", func(rule resolver.Rule) {
		rule.Position = resolver.Position{}
		*rules = append(*rules, rule)
	})
	unread, ok := errors.AsType[rulefile.Errors](err)
	if !ok {
		return err
	}
	var errs []error
	for _, e := range unread {
		errs = append(errs, &rulefile.Error{Message: "rules: " + e.Message})
	}
	return errors.Join(append(errs, schedule.Validate(*rules, resolver.Options{}))...)
}

// checkPlaceholders reports rules with Caddy placeholders, because nothing replaces them.
func (rules Rules) checkPlaceholders() error {
	var errs []error
	for _, rule := range rules {
		placeholder := cmp.Or(findPlaceholder(rule.Key), findPlaceholder(rule.Value),
			findPlaceholder(rule.Windows))
		if placeholder != "" {
			errs = append(errs, source.Problem{Key: rule.Key, Message: placeholderMessage(placeholder)})
		}
	}
	return errors.Join(errs...)
}

// findPlaceholder returns the first Caddy placeholder in a word, or "". Caddy has expanded
// shorthands like {path} before the directive sees them.
func findPlaceholder(word string) string {
	for _, part := range strings.SplitAfter(word, "}") {
		open := strings.LastIndexByte(part, '{')
		if open < 0 || !strings.HasSuffix(part, "}") {
			continue
		}
		namespace, _, dotted := strings.Cut(part[open+1:], ".")
		if dotted &&
			slices.Contains([]string{"http", "env", "system", "time", "file", "tls", "vars"}, namespace) {
			return part[open:]
		}
	}
	return ""
}

func placeholderMessage(placeholder string) string {
	return "the placeholder " + placeholder +
		" is not replaced here, because rules are compiled when they are loaded: " +
		"the path behind the key and the query of a request are appended anyway, a part of the path is " +
		"captured by a variable without a dot in its name, like {name}, " +
		"and in a Caddyfile {$NAME} stands for an environment variable"
}

// setSource sets the handler's name as the position of rules that have none: the lines of an
// adapted configuration mean nothing to its author.
func (rules Rules) setSource(handler string) {
	if !validName(handler) {
		handler = ""
	}
	for i := range rules {
		if rule := &rules[i]; rule.Position == (resolver.Position{}) {
			rule.Position.Source = report.InlineSource(handler)
		}
	}
}

// Interface guards
var (
	_ json.Marshaler   = (Rules)(nil)
	_ json.Unmarshaler = (*Rules)(nil)
)
