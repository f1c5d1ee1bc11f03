package past

import (
	"encoding/json"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/history"
	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// Text is what an audit record says of a rule; empty for none.
func Text(rule *resolver.Rule) string {
	if rule == nil {
		return ""
	}
	return rulefile.JSONValue(*rule)
}

// RuleOf returns the rule that a change has for a key, nil for none.
func RuleOf(key string, value json.RawMessage) (*resolver.Rule, error) {
	text := history.Value(value)
	if text == "" {
		return nil, nil
	}
	rule, err := rulefile.ReadJSONValue(strings.NewReader(text), "", key)
	return &rule, err
}

// valueOf returns the rule of a key as it is written, in JSON, nil for none, and its key.
func valueOf(rules *schedule.Rules, key string) (written string, value json.RawMessage) {
	if rule, ok := rules.Written(key); ok {
		return rule.Key, json.RawMessage(Text(&rule))
	}
	return key, nil
}
