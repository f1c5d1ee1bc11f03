package shortlink

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// An error of a handler's configuration says what to write instead.

// UnmarshalJSON sets up the handler from its JSON.
func (h *Handler) UnmarshalJSON(b []byte) error {
	type plain Handler // without this method
	err := caddy.StrictUnmarshalJSON(b, (*plain)(h))
	for name, inJSON := range map[string]string{
		"status": "status_code", optionFrom: "sources", "rule": "rules",
	} {
		if err != nil && err.Error() == fmt.Sprintf("json: unknown field %q", name) {
			return fmt.Errorf("%w; it is called %q in JSON", err, inJSON)
		}
	}
	return err
}

// meantBy returns the line of the rule that words were probably meant to be, and why they are not a
// rule; "" if that is not known.
func meantBy(words []string) (why, instead string) {
	if len(words) < 2 {
		return "", ""
	}
	if rule, is := ruleOfAnotherFormat(words); is {
		why = fmt.Sprintf("%q is written as in another format", strings.Join(words, " "))
		return why, ruleLine(rule)
	}
	if rule, is := ruleOfRedir(words); is {
		return fmt.Sprintf("a rule has no %q in front, and its key no slash", words[0]), ruleLine(rule)
	}
	written := resolver.Rule{Key: words[0], Value: words[1]}
	if rule, is := resolver.Exchanged(written); is && !resolver.IsDestination(words[1]) {
		return "key and destination are exchanged",
			strings.Join(append([]string{ruleLine(rule)}, words[2:]...), " ")
	}
	return "", ""
}

// ruleOfAnotherFormat returns the rule of a line without the punctuation that JSON or other formats
// have between key and destination and after them.
func ruleOfAnotherFormat(words []string) (rule resolver.Rule, is bool) {
	switch {
	case len(words) > 2 && rulefile.IsArrow(words[1]):
		rule.Key, rule.Value = strings.TrimPrefix(words[0], "/"), strings.TrimRight(words[2], ",;")
	case strings.HasPrefix(words[1], `:"`):
		rule.Key, rule.Value = words[0], strings.Trim(words[1], `:",;`)
	default:
		return rule, false
	}
	return rule, isGood(rule)
}

// ruleOfRedir returns the rule for a line of Caddy's redir.
func ruleOfRedir(words []string) (rule resolver.Rule, is bool) {
	isRedir := words[0] == "redir" || words[0] == "redirect"
	if !isRedir || len(words) < 3 || strings.HasPrefix(words[1], "@") {
		return rule, false
	}
	rule.Key, rule.Value = strings.TrimSuffix(strings.TrimPrefix(words[1], "/"), "/*"), words[2]
	for _, word := range words[3:] {
		if code, isStatus := rulefile.ParseStatus(word); isStatus {
			rule.Status = code
		}
	}
	return rule, isGood(rule)
}

// isGood reports whether a rule is valid.
func isGood(rule resolver.Rule) bool {
	_, err := resolver.Compile([]resolver.Rule{rule}, resolver.Options{})
	return err == nil
}

// insteadOfStatus returns the line to write for the status of an error, if a rule can have it.
func insteadOfStatus(key, status string) string {
	return resolver.InsteadOfStatus(status, func(outcome string) string {
		return ruleLine(resolver.Rule{Key: key, Value: outcome})
	})
}

// insteadOfFrom returns what to write for a file that is named without its source, by a format's
// name, or by a URL.
func insteadOfFrom(words []string) string {
	file := words[len(words)-1]
	if u, err := url.Parse(file); err == nil && (u.Scheme == "https" || u.Scheme == "http") {
		return "; write: from url " + file
	}
	format, told := rulefile.FormatOf(file)
	isFile := told || strings.ContainsAny(file, "/.") && !strings.Contains(file, "://")
	if len(words) > 2 || !isFile {
		return ", such as: from file links.json"
	}
	instead := "; write: from file " + file
	if named, err := rulefile.ParseFormat(words[0]); err == nil && named != format {
		instead += ", with " + string(named) + " as the format in its block"
	}
	return instead
}
