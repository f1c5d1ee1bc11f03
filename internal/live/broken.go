package live

import (
	"errors"
	"fmt"
	"sync"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/report"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
)

// toldBroken is how many rules that are answered with an error are reported one by one.
const toldBroken = 1000

// brokenBy returns an error if rules break keys that work in one of the rulesets before. It says
// why for the first ones.
func (c *Config) brokenBy(next *Loaded, before ...*resolver.Ruleset) error {
	n, first := lint.Broken(next.Ruleset, before, report.NamedKeys)
	if n == 0 {
		return nil
	}
	c.locateErrors(next.versions, first)
	errs := []error{fmt.Errorf("%s would fail", printable.Count(n, "working key"))}
	for _, err := range first {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// brokenRules are the rules that are answered with an error: how many, and the first ones with
// their reasons.
type brokenRules struct {
	count int
	first []*resolver.RuleError
	place *sync.Once // locates the first ones
}

// BrokenIn returns how many rules are answered with an error in what serves, and the first ones
// with their positions. They are looked up once, because many clients may ask for the status.
func (c *Config) BrokenIn(of *Loaded) (n int, first []*resolver.RuleError) {
	of.broken.place.Do(func() { c.locateErrors(of.versions, of.broken.first) })
	return of.broken.count, of.broken.first
}
