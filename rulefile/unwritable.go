package rulefile

import (
	"strconv"
	"unicode/utf8"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// unwritable says why no format can hold a rule; it returns "" where any can.
func unwritable(rule resolver.Rule) string {
	switch {
	case !utf8.ValidString(rule.Key) || !utf8.ValidString(rule.Value):
		return "files hold Unicode text only; write bytes that are none percent-encoded"
	case rule.Status != 0 && !resolver.ValidStatus(rule.Status):
		return "the status is " + statusCodes + ", not " + strconv.Itoa(rule.Status)
	}
	return ""
}

// leaveOut takes down that a rule was not written.
func (e *Errors) leaveOut(rule resolver.Rule, problem string) {
	e.add(rule.Position, "key %q: %s", rule.Key, problem)
}
