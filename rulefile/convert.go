package rulefile

import (
	"errors"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// Conversion says what became of the rules of a file in another format.
type Conversion struct {
	// Exact is how many rules mean the same.
	Exact int
	// Approximated are the rules that mean nearly the same, and in which way they differ.
	Approximated Errors
	// Refused is what could not be converted, and why. That is lines that are no rules, and rules that
	// the other format cannot have. They are left out.
	Refused Errors
	// Remarks say what the file as a whole means elsewhere and its rules cannot say.
	Remarks []string
}

// Convert reads rules in one format and writes those that it can in another. What it reads and what
// it leaves out is told in the conversion; comments are not carried over. The error is the reader's
// or the writer's own.
func Convert(w io.Writer, to Format, r io.Reader, from Format, source string) (Conversion, error) {
	var c Conversion
	var inReading error
	inWriting := Write(w, to, func(yield func(resolver.Rule) bool) {
		stopped := false
		inReading = Read(r, from, source, func(rule resolver.Rule) {
			if err := checkVisible(rule); err != nil {
				c.Refused.leaveOut(rule, err)
				return
			}
			c.count(rule, from, to)
			stopped = stopped || !yield(rule)
		})
	})
	unread, isUnread := errors.AsType[Errors](inReading)
	unwritten, isUnwritten := errors.AsType[Errors](inWriting)
	c.Refused = slices.Concat(unread, c.Refused, unwritten)
	c.withoutRefused(unwritten)
	if from == Redirects && to != Redirects && c.Exact+len(c.Approximated) > 0 {
		c.Remarks = append(c.Remarks, queriesPass)
	}
	if inReading != nil && !isUnread {
		return c, inReading
	}
	if inWriting != nil && !isUnwritten {
		return c, inWriting
	}
	return c, nil
}

// queriesPass is what _redirects files leave to their servers.
const queriesPass = "Netlify and Cloudflare Pages pass on all parameters of a request to a " +
	"destination without a query; query merge keeps the last of each name, and query preserve " +
	"all of them"

// checkVisible refuses a rule that a terminal would obey instead of showing it.
func checkVisible(rule resolver.Rule) error {
	if text := rule.Key + rule.Value; !utf8.ValidString(text) || printable.Text(text) == text {
		return nil
	}
	return errors.New("the key or the destination holds a control character, or one that turns " +
		"the direction of text; remove it, or write it percent-encoded")
}

// count takes down what becomes of a rule that is written.
func (c *Conversion) count(rule resolver.Rule, from, to Format) {
	if how := approximation(rule, from, to); how != "" {
		c.Approximated.add(rule.Position, "key %q: %s", rule.Key, how)
		return
	}
	c.Exact++
}

// withoutRefused takes back what was counted of rules that were not written after all.
func (c *Conversion) withoutRefused(unwritten Errors) {
	refused := make(map[resolver.Position]bool)
	for _, e := range unwritten {
		refused[e.Position] = true
	}
	approximated := c.Approximated
	c.Approximated = nil
	for _, e := range approximated {
		if refused[e.Position] {
			delete(refused, e.Position)
			continue
		}
		c.Approximated = append(c.Approximated, e)
	}
	c.Exact -= len(refused)
}

// approximation says in which way a rule differs in another format, or "".
func approximation(rule resolver.Rule, from, to Format) string {
	switch isGone := rule.Value == resolver.GoneValue; {
	case isGone && from == Redirects && to != Redirects:
		return "the page of the line is left out; requests are an error with status 410, which " +
			"handle_errors answers"
	case !isGone && rule.Status == 0 && to == Redirects && from != Redirects:
		return "the status is written down as 302, which it is by default; one that is set for " +
			"the whole site would not count any more"
	}
	return ""
}
