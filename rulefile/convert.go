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
	// Refused is what could not be converted, and why: lines that are no rules, and rules that the other format
	// cannot have. They are left out.
	Refused Errors
	// Remarks say what the file as a whole means elsewhere and its rules cannot say.
	Remarks []string
	// Comments is how many comments were left out, as none are carried over.
	Comments int
}

// Convert reads rules in one format and writes them in another, those that it can: what it reads and what it leaves
// out is told in the conversion. The error is the reader's or the writer's own.
func Convert(w io.Writer, to Format, r io.Reader, from Format, source string) (Conversion, error) {
	var c Conversion
	comments := &commentCounter{format: from, atStart: true}
	var inReading error
	inWriting := Write(w, to, func(yield func(resolver.Rule) bool) {
		stopped := false
		inReading = Read(io.TeeReader(r, comments), from, source, func(rule resolver.Rule) {
			if problem := hiddenIn(rule); problem != "" {
				c.Refused.leaveOut(rule, problem)
				return
			}
			c.count(rule, from, to)
			stopped = stopped || !yield(rule)
		})
	})
	c.Comments = comments.n
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

// hiddenIn says why a rule is left out that a terminal would obey instead of showing it.
func hiddenIn(rule resolver.Rule) string {
	if text := rule.Key + rule.Value; !utf8.ValidString(text) || printable.Text(text) == text {
		return ""
	}
	return "the key or the destination holds a control character, or one that turns the " +
		"direction of text; remove it, or write it percent-encoded"
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
	if rule.Status == 0 && to == Redirects && from != Redirects {
		return "the status is written down as 302, which it is by default; one that is set for the whole site would not count any more"
	}
	return ""
}

// commentCounter counts the comments of what is written to it.
type commentCounter struct {
	format    Format
	n         int
	atStart   bool // of a line, but for spaces
	afterGap  bool // behind a space
	inComment bool
}

// Write takes in a piece of the text.
func (c *commentCounter) Write(p []byte) (int, error) {
	if c.format == JSON {
		return len(p), nil
	}
	for _, b := range p {
		switch {
		case b == '\n':
			c.atStart, c.afterGap, c.inComment = true, false, false
		case c.inComment:
		case b == '#' && (c.atStart || c.afterGap && c.format == Redirects):
			c.n++
			c.inComment = true
		default:
			space := b == ' ' || b == '\t' || b == '\r'
			c.atStart, c.afterGap = c.atStart && space, space
		}
	}
	return len(p), nil
}
