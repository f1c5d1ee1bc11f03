package live

import (
	"cmp"
	"errors"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/internal/ahead"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/report"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/source"
)

// Config says what a handler of Caddy's configuration serves, and where.
type Config struct {
	// Name is the handler's name, or empty.
	Name string
	Site Site
	// Identity is equal for handlers that are configured alike. They share what serves, also over
	// reloads of the configuration.
	Identity string
	// Rules are those of the configuration itself, with their positions.
	Rules   []resolver.Rule
	Sources []source.Source
	// SourceJSON are the sources as the configuration has them.
	SourceJSON []string
	Options    resolver.Options
	Expect     source.Expectations
	// AnyHost says that requests may be for any host, because no matcher names one.
	AnyHost bool
	// Pages are what answers paths of the site besides rules; nil if that is not known.
	Pages lint.Pages
	// Advertised says that the handler asks which key leads to a page.
	Advertised bool

	// KeptChanges is how many changes of the rules are kept, 0 for none.
	KeptChanges int
	// At is the time for which [Ruleset.CompileRules] compiles the rules; the zero value is now.
	At time.Time

	// Context is that of the configuration.
	Context caddy.Context
}

// PublicName is the name by which people and programs address the handler.
func (c *Config) PublicName() string { return cmp.Or(c.Name, "shortlink") }

// SiteOrigin is the origin of destinations that are paths of the site.
func (c *Config) SiteOrigin() string { return source.SiteOrigin(c.Options.Origin) }

// CheckExpectations checks a ruleset against the expectations of the handler and of its sources, as
// of their last readings. The error lists all that fail.
func (c *Config) CheckExpectations(ruleset *resolver.Ruleset) error {
	var expected []source.PlacedExpectations
	for _, from := range c.Sources {
		expected = append(expected, source.RemarksOf(from).Expectations)
	}
	return c.check(ruleset, expected)
}

// checkToServe is check for rules that are to serve. An expectation that fails only since a window
// has begun or ended, as its author wrote it, keeps nothing from serving. Expectations are about
// all rules: as long as some are missing, they mean nothing.
func (c *Config) checkToServe(next *Loaded) error {
	if next.IsIncomplete() {
		return nil
	}
	err := c.check(next.Ruleset, next.expected)
	if err == nil {
		return nil
	}
	if ahead.HasHeld(&next.Rules, c.checkOf(next)) {
		return nil
	}
	return err
}

// checkOf returns what checks rulesets against the expectations that hold for what is loaded.
func (c *Config) checkOf(l *Loaded) ahead.Check {
	return func(ruleset *resolver.Ruleset) error { return c.check(ruleset, l.expected) }
}

// check checks a ruleset against the handler's expectations and those of its sources.
func (c *Config) check(ruleset *resolver.Ruleset, expected []source.PlacedExpectations) error {
	ofHandler := source.PlacedExpectations{Expectations: c.Expect}
	errs := []error{ofHandler.Check(ruleset, c.Options.Origin)}
	for _, of := range expected {
		errs = append(errs, of.Check(ruleset, c.Options.Origin))
	}
	return errors.Join(errs...)
}

const (
	// warnClientHost: no host matcher names a host, so redirects to paths of the site lead to the
	// host that the client sends.
	warnClientHost lint.Kind = "host of the client"
	// warnNoRules: a handler has nothing to answer with.
	warnNoRules lint.Kind = "no rules"
)

// ConfigurationWarnings returns the warnings about the handler's configuration rather than its
// rules.
func (c *Config) ConfigurationWarnings(ruleset *resolver.Ruleset) []lint.Warning {
	if ruleset.Len() == 0 && len(c.Sources) == 0 {
		return []lint.Warning{{
			Kind: warnNoRules, Position: resolver.Position{Source: report.InlineSource(c.Name)},
			Message: "the handler has no rules and no source, so all requests pass; write a rule " +
				"into its block, such as: docs https://docs.example, or: from file links.json",
		}}
	}
	return c.clientHostWarnings(ruleset)
}

// IsAboutTheSite reports whether a warning is about where rules are used, and not about a rule.
func IsAboutTheSite(w lint.Warning) bool { return w.Kind == warnClientHost }

// clientHostWarnings returns the warning that rules lead to the client's own host, if any do.
func (c *Config) clientHostWarnings(ruleset *resolver.Ruleset) []lint.Warning {
	rules, first := ruleset.AtSite()
	if rules == 0 || !c.AnyHost {
		return nil
	}
	message := "the destination is a path of this site, and no host matcher names its host, " +
		"so the client chooses it; "
	if rules > 1 {
		message += "the same goes for " + printable.Count(rules-1, "other rule") + "; "
	}
	return []lint.Warning{{
		Kind: warnClientHost, Position: first.Position, Key: first.Key,
		Message: message + "write origin https://go.example, or name the hosts of the site",
	}}
}
