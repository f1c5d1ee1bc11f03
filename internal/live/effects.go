package live

import (
	"context"
	"slices"
	"strings"

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
	Written []WrittenChange
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

// WrittenChange is a change of a rule as it is written; nil is none.
type WrittenChange struct{ Was, Now *resolver.Rule }

// namedOwn is how many edited keys effects look at. namedEffects is how many other keys they name,
// and countedEffects how many they count. Millions may change, and whoever loads rules waits.
const namedOwn, namedEffects, countedEffects = 10_000, 100, 1000

// addOther adds what changes for clients of another key, and reports whether there is room for it.
func (f *Effects) addOther(change resolver.Change) bool {
	if f.HasMore = f.Count == countedEffects; f.HasMore {
		return false
	}
	f.Count++
	at, _ := slices.BinarySearchFunc(f.Others, change.Rule.Key,
		func(other resolver.Change, key string) int { return strings.Compare(other.Rule.Key, key) })
	if at < namedEffects {
		f.Others = slices.Insert(f.Others, at, change)
		f.Others = f.Others[:min(len(f.Others), namedEffects)]
	}
	return true
}

// effects returns what the candidate of an edit changes.
func (e *editing) effects(next *candidate) *Effects {
	before := e.rs.Serving().Ruleset
	f := &Effects{Warnings: e.rs.newWarnings(before, next), Digest: next.Rules.Digest(),
		Before: e.rs.Serving().Digest, Added: next.difference.Added, Removed: next.difference.Removed,
		Changed: next.difference.Changed}
	e.addOwn(f, next)
	for change := range next.difference.Results() {
		if e.changeOf(change.Rule.Key) == nil && !f.addOther(change) {
			break
		}
	}
	dead := e.endsOfPasses(before, next.Ruleset)
	for _, change := range slices.Concat(f.Own, f.Others) {
		dead = append(dead, e.newDeadEnd(before, next.Ruleset, change.Rule)...)
	}
	f.addDeadEnds(dead)
	return f
}

// addOwn adds what changes for the edited keys.
func (e *editing) addOwn(f *Effects, next *candidate) {
	keys := slices.SortedFunc(slices.Values(e.keys), func(a, b *keyEdit) int {
		return strings.Compare(a.Key, b.Key)
	})
	f.Unnamed = max(0, len(keys)-namedOwn)
	for _, k := range keys[:len(keys)-f.Unnamed] {
		if change, is := next.difference.ResultOf(k.Key); is {
			f.Own = append(f.Own, change)
		}
		was, now := e.rs.Serving().written(k.Key), next.written(k.Key)
		isNote := was != nil && now != nil && was.Note != now.Note
		if isNote || windowsOf(was) != windowsOf(now) {
			f.Written = append(f.Written, WrittenChange{was, now})
		}
	}
}

func windowsOf(rule *resolver.Rule) string {
	if rule == nil {
		return ""
	}
	return rule.Windows
}

// newDeadEnd returns the warning that a rule newly leads to a dead end, if it does.
func (e *editing) newDeadEnd(
	before, next *resolver.Ruleset, rule resolver.Rule,
) []lint.Warning {
	path := "/" + resolver.CanonicalKey(rule.Key, e.rs.Options.FoldCase)
	message := e.rs.DeadEnd(next, path)
	if message == "" || message == e.rs.DeadEnd(before, path) {
		return nil
	}
	return []lint.Warning{{
		Kind: lint.WarnDeadEnd, Position: rule.Position, Key: rule.Key, Message: message,
	}}
}

// endsOfPasses returns warnings of the first rules that lead clients to where a rule let them pass
// and no rule does any more. The edit changes nothing in what these rules say.
func (e *editing) endsOfPasses(before, next *resolver.Ruleset) (dead []lint.Warning) {
	serving := e.rs.Serving()
	if !slices.ContainsFunc(e.keys, func(k *keyEdit) bool {
		_, was, _ := serving.Active(k.Key)
		return was.Value == resolver.PassValue && (k.Rule == nil || k.Rule.Exact)
	}) {
		return nil
	}
	for number := range next.InternalRedirects() {
		rule, _ := next.Numbered(number)
		if dead = append(dead, e.newDeadEnd(before, next, rule)...); len(dead) == namedEffects {
			break
		}
	}
	return dead
}

// addDeadEnds adds the first of these warnings, sorted by key. A rule that has one which says so
// gets no other.
func (f *Effects) addDeadEnds(dead []lint.Warning) {
	slices.SortFunc(dead, func(a, b lint.Warning) int { return strings.Compare(a.Key, b.Key) })
	for _, w := range dead[:min(len(dead), namedEffects)] {
		saysSo := func(o lint.Warning) bool {
			return o.Key == w.Key && (o.Kind == lint.WarnDeadEnd || o.Kind == lint.WarnMisspelt)
		}
		if !slices.ContainsFunc(f.Warnings, saysSo) {
			f.Warnings = append(f.Warnings, w)
		}
	}
}

// Preview returns what an edit would do, or why it would be refused. It writes nothing and reads no
// source.
func (rs *Ruleset) Preview(ctx context.Context, edit *Edit) (f *Effects, err error) {
	err = rs.alone(func() error {
		e, err := rs.begin(ctx, edit)
		if err != nil {
			return err
		}
		next, err := e.derive(make([]pending, len(rs.Sources)))
		if err = e.validate(next, err); err == nil {
			f = e.effects(next)
		}
		return err
	})
	return f, err
}

// WhyNotEditable returns why every change of a key's rule is refused as it serves, or nil.
func (rs *Ruleset) WhyNotEditable(key string) error {
	return rs.whyNot(Change{Key: key, Rule: new(resolver.Rule)})
}

// WhyNotRemovable returns why the removal of a key's rule is refused as it serves, or nil.
func (rs *Ruleset) WhyNotRemovable(key string) error { return rs.whyNot(Change{Key: key}) }

// whyNot returns why a change is refused by what stands at its key, or nil.
func (rs *Ruleset) whyNot(change Change) error {
	e, err := rs.newEditing(context.Background(), &Edit{Changes: []Change{change}})
	if err != nil {
		return err
	}
	e.findIn(rs.Serving(), nil)
	return e.inPlace()
}

// confirm asks whether to make the edit.
func (e *editing) confirm(next *candidate) error {
	if e.Confirm == nil {
		return nil
	}
	if err := e.Confirm(e.effects(next)); err != nil {
		return &unconfirmed{err}
	}
	return nil
}

// unconfirmed reports that Confirm refused the edit. It does not unwrap its reason, which must not
// be taken for an error of a source.
type unconfirmed struct{ reason error }

func (u *unconfirmed) Error() string { return u.reason.Error() }
