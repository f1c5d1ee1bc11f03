package rulefile

import (
	"hash/maphash"
	"io"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Verify reads a file before and after the edit, and checks that this has made no other change. An
// error is what is wrong, or the readers' own.
func (e Edit) Verify(before, after io.Reader, format Format, source string) error {
	old, now := newRuleSum(format), newRuleSum(format)
	now.seed = old.seed
	_, err := e.Reading.Read(before, format, source, func(rule resolver.Rule) {
		if !e.isOf(rule.Key) {
			old.add(rule)
		}
	})
	if err != nil {
		return err
	}
	if e.Rule != nil {
		rule := *e.Rule
		if format == Redirects {
			rule = withStatus(rule, e.DefaultStatus)
		}
		old.add(rule)
	}
	counted := &countingReader{r: after}
	if _, err := e.Reading.Read(counted, format, source, now.add); err != nil {
		return Errors{{Message: "the file would not be read as before, and is left alone; edit it by " +
			"hand: " + err.Error()}}
	}
	switch {
	case counted.n == 0:
		return Errors{{Message: "this is the last rule, and an empty file is none; add another rule " +
			"first, or remove the source"}}
	case old.sum != now.sum:
		return Errors{{Message: "other rules would change, too, and the file is left alone; edit it " +
			"by hand"}}
	}
	return nil
}

// ruleSum is a sum over rules, whatever their order.
type ruleSum struct {
	format Format
	seed   maphash.Seed
	sum    uint64
}

func newRuleSum(format Format) *ruleSum {
	return &ruleSum{format: format, seed: maphash.MakeSeed()}
}

func (s *ruleSum) add(rule resolver.Rule) {
	rule.Position = resolver.Position{}
	if s.format == Redirects {
		rule = asRead(rule)
	}
	s.sum += maphash.Comparable(s.seed, rule)
}

// countingReader counts what is read.
type countingReader struct {
	r io.Reader
	n int64
}

// Read reads from r.
func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
