package rulefile

import (
	"errors"
	"strconv"
	"unicode/utf8"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// checkWritable refuses a rule that no format can hold.
func checkWritable(rule resolver.Rule) error {
	switch {
	case !utf8.ValidString(rule.Key) || !utf8.ValidString(rule.Value):
		return errors.New("files hold Unicode text only; write bytes that are none percent-encoded")
	case !utf8.ValidString(rule.Note):
		return errors.New("files hold Unicode text only; write the note as UTF-8")
	case rule.Status != 0 && !resolver.ValidStatus(rule.Status):
		return errors.New("the status is " + statusCodes + ", not " + strconv.Itoa(rule.Status))
	}
	return nil
}

// leaveOut takes down that a rule was not written, and why.
func (e *Errors) leaveOut(rule resolver.Rule, why error) {
	e.add(rule.Position, "key %q: %s", rule.Key, why)
}
