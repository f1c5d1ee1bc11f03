package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/internal/pace"
	"github.com/caddy-shortlink/shortlink/internal/past"
	"github.com/caddy-shortlink/shortlink/internal/pending"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/refusal"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

// editing is one attempt to make an edit, under shared.loading. Loads without an edit have an empty
// one.
type editing struct {
	*Edit
	rs    *Ruleset
	ctx   context.Context // the client's
	into  source.Writable // nil for no edit
	at    int             // its place among the sources
	keys  []*keyEdit
	byKey map[string]*keyEdit // by canonical key
}

// keyEdit is a change, and what it finds.
type keyEdit struct {
	Change
	// stands are the rules that sources have for the key, nil for none; 0 is the configuration itself.
	stands []*resolver.Rule
	// isTwice tells that the key has two rules in the edited source, so that it is rejected.
	isTwice bool
}

// newEditing begins an attempt to make these changes: those of the edit, or what it has made of
// what serves.
func (rs *Ruleset) newEditing(
	ctx context.Context, edit *Edit, changes []Change,
) (*editing, error) {
	at, into, err := rs.firstWritable()
	if err != nil {
		return nil, err
	}
	e := &editing{Edit: edit, rs: rs, ctx: ctx, into: into, at: at, byKey: map[string]*keyEdit{}}
	var refusals []error
	for _, change := range changes {
		if other := e.changeOf(change.Key); other != nil {
			refusals = append(refusals, placed(change.place(), refusal.Errorf(refusal.Invalid,
				"the edit has a change of the key %q and another one of %q, which is the same; leave one of "+
					"them out", other.Key, change.Key)))
		}
		k := &keyEdit{Change: change, stands: make([]*resolver.Rule, len(rs.Sources)+1)}
		e.keys = append(e.keys, k)
		e.byKey[resolver.CanonicalKey(change.Key, rs.Options.FoldCase)] = k
	}
	return e, refusal.Join(refusals)
}

// changeOf returns the change of a key in any spelling, nil for none.
func (e *editing) changeOf(key string) *keyEdit {
	if e.byKey == nil {
		return nil
	}
	return e.byKey[resolver.CanonicalKey(key, e.rs.Options.FoldCase)]
}

// apply makes the edit, and swaps in what comes of it.
func (e *editing) apply() (was []*resolver.Rule, err error) {
	rs := e.rs
	before := rs.Serving().Digest
	if len(e.keys) == 0 { // there is nothing to write
		if err := e.confirm(newCandidate(rs.Serving())); err != nil {
			return nil, e.refused(err)
		}
		return nil, nil
	}
	next, err := e.tryAndWrite()
	if err != nil {
		return nil, e.refused(err)
	}
	for _, k := range e.keys {
		was = append(was, k.stands[e.at+1])
	}
	rs.logger.Info("rule edited", append(e.logged(), zap.String("name", rs.Name),
		zap.String("remote", e.Remote), e.user(), zap.Stringer("source", e.into),
		zap.String("old_digest", before))...)
	if next != nil {
		rs.swap(next, e.author())
		return was, nil
	}
	rs.loadStale(e.author())
	if err := rs.LastLoad().Err; err != nil {
		return nil, refusal.Errorf(refusal.NotEditable,
			"the edit is written, but what the sources hold now is rejected: %w", err)
	}
	return was, nil
}

// logged returns what the log says of the changes: of several it names keys with the swap.
func (e *editing) logged() []zap.Field {
	if len(e.keys) != 1 {
		return []zap.Field{zap.Int("keys", len(e.keys))}
	}
	k := e.keys[0]
	return []zap.Field{zap.String("key", k.Key), zap.String("was", past.Text(k.stands[e.at+1])),
		zap.String("is", past.Text(k.Rule))}
}

// tryAndWrite makes the edit of what serves. Where that is refused, it makes the edit of what the
// sources hold. It returns what is to serve then, nil if the source has to be read for that.
func (e *editing) tryAndWrite() (*candidate, error) {
	if e.rs.LastLoad().Err == nil { // else the sources hold something else for certain
		next, err := e.tryAndWriteWith(make([]pending.Reading, len(e.rs.Sources)))
		if !refusal.Is(err) || err == errOutrun {
			return next, err
		}
	}
	e.leaveToRead(pending.Keys(pending.KeysOf(e.changes())...))
	return e.tryAndWriteWith(e.rs.shared.backlog.TakeAll(len(e.rs.Sources)))
}

// isPinned reports whether the sources have to hold what serves.
func (e *editing) isPinned() bool { return e.IfRules != nil || e.Make != nil }

// leaveToRead leaves it to the next load to read something of the edited source.
func (e *editing) leaveToRead(what pending.Reading) { e.rs.shared.backlog.Add(e.at, what) }

// tryAndWriteWith makes the edit of what serves and of what there is to read of the sources, if the
// rules are good with it.
func (e *editing) tryAndWriteWith(work []pending.Reading) (*candidate, error) {
	next, err := e.derive(work)
	isRead := false
	if err = e.validate(next, err); err == nil {
		err = e.confirm(next)
	}
	if err == nil {
		isRead, err = e.write(next)
	}
	if err != nil || !isRead {
		e.rs.keepPending(work, next)
		return nil, err
	}
	return next, nil
}

// derive makes the candidate that the edit leads to.
func (e *editing) derive(work []pending.Reading) (*candidate, error) {
	// The client may go away, and no source is to blame for that: so this is not its context.
	l := e.rs.newLoading(e.rs.Context, pace.New().Pause)
	l.edit = e
	return l.derive(work)
}

// write writes the edit to its source. It reports whether the source now holds exactly the
// candidate; if not, it must be read again.
func (e *editing) write(next *candidate) (isRead bool, err error) {
	edit := e.inFile()
	edit.IsLast = !next.HasRulesOf(e.at + 1)
	version, err := e.into.Edit(e.ctx, next.versions[e.at], edit)
	switch {
	case errors.Is(err, source.ErrChanged):
		e.leaveToRead(pending.Keys(pending.KeysOf(e.changes())...))
		return false, errOutrun
	case errors.Is(err, source.ErrBeingWritten):
		return false, fmt.Errorf("source %s: %w", e.into, err)
	case err != nil:
		return false, err
	}
	before := next.remarks[e.at]
	next.noteReading(e.into, e.at, version)
	isSame := func(a, b lint.Warning) bool { return a.Kind == b.Kind && a.String() == b.String() }
	if version != "" && slices.EqualFunc(before, next.remarks[e.at], isSame) {
		return true, nil
	}
	e.leaveToRead(pending.Whole())
	if !next.HasRulesOf(e.at + 1) {
		e.rs.shared.emptied = e.at + 1
	}
	return false, nil
}

// validate says why an edit is refused that leads to a candidate; wrong is what is wrong with that.
func (e *editing) validate(next *candidate, wrong error) error {
	if errors.Is(wrong, source.ErrBeingWritten) {
		return wrong
	}
	if wrong != nil && e.rs.Context.Err() != nil {
		return ErrUnloaded
	}
	if unread, is := errors.AsType[readError](wrong); is {
		if source.OutageOf(unread.from) != nil {
			return refusal.Errorf(refusal.Unavailable, "the rules cannot be read: %w",
				printable.Shorten(wrong))
		}
		return refusal.Errorf(refusal.Invalid, "%w", printable.Shorten(wrong))
	}
	if inPlace := e.inPlace(); inPlace != nil {
		return inPlace // which is the reason for everything else that is wrong
	}
	if wrong != nil {
		e.placeErrors(wrong)
		return refusal.Errorf(refusal.Invalid, "%w", printable.Shorten(wrong))
	}
	if e.isPinned() && !slices.Equal(next.versions, e.rs.Serving().versions) {
		return errOutrun
	}
	if broken := e.rs.brokenBy(next.Loaded, e.rs.Serving().Ruleset); broken != nil {
		return refusal.Errorf(refusal.Invalid, "%w", broken)
	}
	return nil
}

// placeErrors gives errors of changed rules the lines that the client has written them on.
func (e *editing) placeErrors(wrong error) {
	for _, inRules := range ruleErrorsIn(wrong) {
		for _, err := range inRules {
			if k := e.changeOf(err.Key); k != nil && k.place().Line > 0 {
				err.Position = k.place()
			}
		}
	}
}

// inPlace says why changes are refused by what stands at their keys.
func (e *editing) inPlace() error {
	var refusals []error
	for _, k := range e.keys {
		if err := e.inPlaceOf(k); err != nil {
			refusals = append(refusals, placed(k.place(), err))
		}
	}
	return refusal.Join(refusals)
}

// inPlaceOf says why a key's rule is not what the change requires, or cannot be edited where it
// stands.
func (e *editing) inPlaceOf(k *keyEdit) error {
	removes := k.Rule == nil
	isRule := func(rule *resolver.Rule) bool { return rule != nil }
	found := slices.IndexFunc(k.stands, isRule) - 1 // of the sources, as an index
	if k.If != nil {
		if err := k.If(cmp.Or(k.stands...)); err != nil {
			return refusal.Of(refusal.Changed, err)
		}
	}
	switch {
	case found < -1 && removes:
		return refusal.Errorf(refusal.NoRule, "there is no rule for the key %q", k.Key)
	case found == -1:
		return refusal.Errorf(refusal.NotEditable, "the rule for the key %q is an inline rule, which "+
			"cannot be edited; change Caddy's configuration", k.Key)
	case found >= 0 && (found < e.at || (removes || e.InPlace) && k.stands[e.at+1] == nil):
		return refusal.Errorf(refusal.NotEditable,
			"the rule for the key %q stands in source %[2]s, and edits go into %[3]s; change it in %[2]s",
			k.Key, e.rs.Sources[found], e.rs.Sources[e.at])
	case removes && k.IsWithoutOther && slices.ContainsFunc(k.stands[e.at+2:], isRule):
		other := e.at + 1 + slices.IndexFunc(k.stands[e.at+2:], isRule)
		return refusal.Errorf(refusal.NotEditable, "without its rule in source %s the key %q would be "+
			"answered by that of source %[3]s; remove it in %[3]s first", e.rs.Sources[e.at], k.Key,
			e.rs.Sources[other])
	case k.isTwice:
		return refusal.Errorf(refusal.NotEditable, "source %s has two rules for the key %q, perhaps in "+
			"two spellings; remove one of them there", e.rs.Sources[e.at], k.Key)
	}
	return nil
}

// refused returns the refusal, or why the edit is not confirmed. A refused edit may have read a
// newer version of a source. Pollers now consider it seen, so refused loads it.
func (e *editing) refused(err error) error {
	if u, is := errors.AsType[*unconfirmed](err); is {
		e.rs.loadStale(author{})
		return u.reason
	}
	reported, isKnown := refusalOf(err)
	if !isKnown {
		e.leaveToRead(pending.Whole()) // it may be out
	}
	e.rs.loadStale(author{})
	if last := e.rs.LastLoad().Err; !isKnown && last != nil && e.rs.hasOutage() {
		return refusal.Errorf(refusal.Unavailable, "the rules cannot be read: %w", last)
	}
	return reported
}

// inFile returns the edit in terms of files.
func (e *editing) inFile() rulefile.Edit {
	edit := rulefile.Edit{DefaultStatus: e.rs.Options.Status}
	for i, change := range e.changes() {
		if change.Rule != nil {
			change.Rule.Position = resolver.Position{}
		}
		edit.Changes = append(edit.Changes,
			rulefile.Change{Key: change.Key, Rule: change.Rule, Was: e.keys[i].stands[e.at+1]})
	}
	return edit
}

// findIn finds the rules of the keys in what serves, and in changes that have still to be made.
func (e *editing) findIn(serving *Loaded, changes []resolver.RuleChange) {
	for _, k := range e.keys {
		for n := range k.stands {
			if rule, found := serving.RuleOf(n, k.Key); found {
				k.stands[n] = &rule
			} else {
				k.stands[n] = nil
			}
		}
	}
	for _, change := range changes {
		if k := e.changeOf(change.Key); k != nil {
			k.stands[change.Source] = change.Rule
		}
	}
}

// changes returns the edit as changes of the rules.
func (e *editing) changes() (changes []resolver.RuleChange) {
	for _, k := range e.keys {
		changes = append(changes, e.change(k))
	}
	return changes
}

// change returns the change of a key, which is spelled as the edited source has it.
func (e *editing) change(k *keyEdit) resolver.RuleChange {
	change := resolver.RuleChange{Source: e.at + 1, Key: k.Key}
	at := resolver.Position{Source: e.into.String()}
	if old := k.stands[e.at+1]; old != nil {
		change.Key, at = old.Key, old.Position
	} else if k.Rule != nil {
		change.Key = k.Rule.Key
	}
	if k.Rule != nil {
		rule := *k.Rule
		rule.Key, rule.Position = change.Key, at
		change.Rule = &rule
	}
	return change
}

// beginSource tells that all rules of a source will be passed to replace.
func (e *editing) beginSource(i int) {
	for _, k := range e.keys {
		k.stands[i+1] = nil
		k.isTwice = k.isTwice && i != e.at
	}
}

// replace takes in a rule that was read from a source. It returns the rule that takes its place,
// and whether there is one.
func (e *editing) replace(from int, rule resolver.Rule) (resolver.Rule, bool) {
	k := e.changeOf(rule.Key)
	if k == nil {
		return rule, true
	}
	isFirst := k.stands[from+1] == nil
	if isFirst {
		standing := rule.Clone() // so that not every rule that comes by here moves to the heap
		k.stands[from+1] = &standing
	}
	if from != e.at {
		return rule, true
	}
	k.isTwice = !isFirst
	if k.Rule == nil {
		return rule, false
	}
	return *e.change(k).Rule, true
}

// added returns the rules that the edit adds to a source which has been read to its end.
func (e *editing) added(i int) (rules []resolver.Rule) {
	for _, k := range e.keys {
		if i == e.at && k.Rule != nil && k.stands[i+1] == nil {
			rules = append(rules, *e.change(k).Rule)
		}
	}
	return rules
}
