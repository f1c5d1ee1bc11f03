package effects

import (
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
)

// Effects are what an edit changes.
type Effects struct {
	// Added, Removed and Changed count the rules that the edit changes, as written.
	Added, Removed, Changed int
	// Own are the first changes for clients of the edited keys, and Written those of notes and
	// windows, which no client sees now, both sorted by key. Unnamed is how many edited keys are not
	// looked at.
	Own     []resolver.Change
	Written []Written
	Unnamed int
	// Others are the first changes for clients of other keys, sorted by key. Count is how many
	// were found; if HasMore, there are more, and others may be the first.
	Others  []resolver.Change
	Count   int
	HasMore bool
	// Warnings are the new warnings. The first links that newly lead to dead ends are among them.
	Warnings []lint.Warning
	// Digest is the digest of the resulting rules, Before that of the rules that serve.
	Digest, Before string
}

// Written is a change of a rule as it is written; nil is none.
type Written struct{ Was, Now *resolver.Rule }

// namedOwn is how many edited keys effects look at. Named is how many other keys they name, and
// Counted how many they count. Millions may change, and whoever loads rules waits.
const namedOwn, Named, Counted = 10_000, 100, 1000

// addOther adds what changes for clients of another key, and reports whether there is room for it.
func (f *Effects) addOther(change resolver.Change) bool {
	if f.HasMore = f.Count == Counted; f.HasMore {
		return false
	}
	f.Count++
	at, _ := slices.BinarySearchFunc(f.Others, change.Rule.Key,
		func(other resolver.Change, key string) int { return strings.Compare(other.Rule.Key, key) })
	if at < Named {
		f.Others = slices.Insert(f.Others, at, change)
		f.Others = f.Others[:min(len(f.Others), Named)]
	}
	return true
}

// Comparison is what an edit makes of the rules that serve.
type Comparison struct {
	Before, After *schedule.Rules
	Digest        string // of those before
	Difference    *resolver.Difference
	Warnings      []lint.Warning // that are new
	Edited        []Edited
	// IsEdited reports whether a key, in any spelling, is among these.
	IsEdited func(key string) bool
	// DeadEnd says that requests for a path end at one that no link answers; "" if they do not.
	DeadEnd func(rules *resolver.Ruleset, path string) string
}

// Edited is a key that is edited, and its new rule, nil for none.
type Edited struct {
	Key  string
	Rule *resolver.Rule
}

// Of returns the effects of an edit.
func Of(c *Comparison) *Effects {
	f := &Effects{Warnings: c.Warnings, Digest: c.After.Digest(), Before: c.Digest,
		Added: c.Difference.Added, Removed: c.Difference.Removed, Changed: c.Difference.Changed}
	c.addOwn(f)
	for change := range c.Difference.Results() {
		if !c.IsEdited(change.Rule.Key) && !f.addOther(change) {
			break
		}
	}
	dead := c.endsOfPasses()
	for _, change := range slices.Concat(f.Own, f.Others) {
		dead = append(dead, c.newDeadEnd(change.Rule)...)
	}
	f.addDeadEnds(dead)
	return f
}

// addOwn adds what changes for the edited keys.
func (c *Comparison) addOwn(f *Effects) {
	keys := slices.SortedFunc(slices.Values(c.Edited), func(a, b Edited) int {
		return strings.Compare(a.Key, b.Key)
	})
	f.Unnamed = max(0, len(keys)-namedOwn)
	for _, k := range keys[:len(keys)-f.Unnamed] {
		if change, is := c.Difference.ResultOf(k.Key); is {
			f.Own = append(f.Own, change)
		}
		was, had := c.Before.Written(k.Key)
		now, has := c.After.Written(k.Key)
		isNote := had && has && was.Note != now.Note
		if isNote || was.Windows != now.Windows {
			f.Written = append(f.Written, Written{ruleIf(had, was), ruleIf(has, now)})
		}
	}
}

// ruleIf returns a rule, nil if it is not there.
func ruleIf(isThere bool, rule resolver.Rule) *resolver.Rule {
	if !isThere {
		return nil
	}
	return &rule
}

// newDeadEnd returns the warning that a rule newly leads to a dead end, if it does.
func (c *Comparison) newDeadEnd(rule resolver.Rule) []lint.Warning {
	path := "/" + resolver.CanonicalKey(rule.Key, c.After.Ruleset.Options().FoldCase)
	message := c.DeadEnd(c.After.Ruleset, path)
	if message == "" || message == c.DeadEnd(c.Before.Ruleset, path) {
		return nil
	}
	return []lint.Warning{{
		Kind: lint.WarnDeadEnd, Position: rule.Position, Key: rule.Key, Message: message,
	}}
}

// endsOfPasses returns warnings of the first rules that lead clients to where a rule let them pass
// and no rule does any more. The edit changes nothing in what these rules say.
func (c *Comparison) endsOfPasses() (dead []lint.Warning) {
	if !slices.ContainsFunc(c.Edited, func(k Edited) bool {
		_, was, _ := c.Before.Active(k.Key)
		return was.Value == resolver.PassValue && (k.Rule == nil || k.Rule.Exact)
	}) {
		return nil
	}
	for number := range c.After.Ruleset.InternalRedirects() {
		rule, _ := c.After.Ruleset.Numbered(number)
		if dead = append(dead, c.newDeadEnd(rule)...); len(dead) == Named {
			break
		}
	}
	return dead
}

// addDeadEnds adds the first of these warnings, sorted by key. A rule that has one which says so
// gets no other.
func (f *Effects) addDeadEnds(dead []lint.Warning) {
	slices.SortFunc(dead, func(a, b lint.Warning) int { return strings.Compare(a.Key, b.Key) })
	for _, w := range dead[:min(len(dead), Named)] {
		saysSo := func(o lint.Warning) bool {
			return o.Key == w.Key && (o.Kind == lint.WarnDeadEnd || o.Kind == lint.WarnMisspelt)
		}
		if !slices.ContainsFunc(f.Warnings, saysSo) {
			f.Warnings = append(f.Warnings, w)
		}
	}
}
