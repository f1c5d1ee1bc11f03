package redis

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// parseRules returns the rules for the fields of a hash, in order, with source as their position.
// The error is a [rulefile.Errors] that lists everything that is not a rule.
func parseRules(fields []field, source string) ([]resolver.Rule, error) {
	at := resolver.Position{Source: source}
	rules := make([]resolver.Rule, 0, len(fields))
	var errs rulefile.Errors
	for _, f := range fields {
		rule, err := parseRule(f.key, f.value)
		rule.Position = at
		rules = append(rules, rule)
		for _, message := range messagesOf(err) {
			message = fmt.Sprintf("key %q: %s", f.key, message)
			errs = append(errs, &rulefile.Error{Position: at, Message: message})
		}
	}
	if errs != nil {
		slices.SortStableFunc(errs, func(a, b *rulefile.Error) int {
			return strings.Compare(a.Message, b.Message)
		})
		return nil, errs
	}
	return rules, nil
}

// parseRule returns the rule for a field.
func parseRule(key, value string) (resolver.Rule, error) {
	rule := resolver.Rule{Key: key, Value: value}
	switch {
	case !utf8.ValidString(key):
		return rule, errors.New("the key is not Unicode text; write its bytes percent-encoded")
	case !utf8.ValidString(value):
		return rule, errors.New("the value is not Unicode text; write its bytes percent-encoded")
	case !strings.HasPrefix(value, "{") && !strings.HasPrefix(value, "["):
		return rule, nil
	}
	if err := json.Unmarshal([]byte(value), new(json.RawMessage)); err != nil {
		what := map[byte]string{'{': "object", '[': "array"}[value[0]]
		return rule, fmt.Errorf("the value begins with %q but is no JSON %s: %w", value[:1], what, err)
	}
	return rulefile.ReadJSONValue(strings.NewReader(value), "", key)
}

// messagesOf returns the messages of a value's error, without positions, because a value is short.
func messagesOf(err error) (messages []string) {
	if err == nil {
		return nil
	}
	wrong, ok := errors.AsType[rulefile.Errors](err)
	if !ok {
		return []string{err.Error()}
	}
	for _, e := range wrong {
		messages = append(messages, e.Message)
	}
	return messages
}
