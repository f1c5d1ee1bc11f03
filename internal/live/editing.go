package live

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/internal/pace"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

// editing is an attempt to make an edit, while nobody else loads rules, or none: loads have that.
type editing struct {
	*Edit
	rs   *Ruleset
	ctx  context.Context       // of who edits
	into source.Writable       // nil for no edit
	at   int                   // its place among the sources
	rule *resolver.Rule        // as its source will have it, nil to remove it
	same func(key string) bool // whether a key is the edit's, perhaps in another spelling

	// stands are the rules that sources have for the key, nil for none; 0 is the configuration itself.
	stands []*resolver.Rule
	old    *resolver.Rule // what it is in the source that the edit goes into
	// isTwice tells that the key has two rules there, so that it is rejected.
	isTwice bool
}

// newEditing begins an attempt.
func (rs *Ruleset) newEditing(ctx context.Context, edit *Edit) (*editing, error) {
	at, into, err := rs.firstWritable()
	if err != nil {
		return nil, err
	}
	e := &editing{Edit: edit, rs: rs, ctx: ctx, into: into, at: at}
	if edit.Rule != nil {
		rule := *edit.Rule
		e.rule = &rule
	}
	canonical := resolver.CanonicalKey(edit.Key, rs.Options.FoldCase)
	e.same = func(other string) bool {
		return resolver.CanonicalKey(other, rs.Options.FoldCase) == canonical
	}
	return e, nil
}

// noEdit is the attempt of a load of so many sources.
func noEdit(sources int) *editing {
	return &editing{
		at: -1, same: func(string) bool { return false }, stands: make([]*resolver.Rule, sources+1),
	}
}

// isOne reports whether there is an edit.
func (e *editing) isOne() bool { return e.into != nil }

// apply makes the edit, and swaps in what comes of it.
func (e *editing) apply() error {
	rs := e.rs
	before := rs.Serving().Digest
	next, err := e.tryAndWriteInTime()
	if err != nil {
		return e.refused(err)
	}
	rs.logger.Info("rule edited",
		zap.String("name", rs.Name), zap.String("remote", e.Remote), e.user(),
		zap.String("key", e.Key), zap.Stringer("source", e.into),
		zap.String("was", RuleText(e.old)), zap.String("is", RuleText(e.rule)),
		zap.String("old_digest", before))
	if next != nil {
		rs.swap(next)
		return nil
	}
	rs.loadAlone()
	if err := rs.LastError(); err != nil {
		return refuse(NotEditable,
			"the edit is written, but what the sources hold now is rejected: %w", err)
	}
	return nil
}

// An edit that makes no condition is tried again where others write to the source, too, for as long
// as an edit waits for others who hold a file's lock.
const (
	editTime        = 15 * time.Second
	firstEditWait   = 5 * time.Millisecond
	longestEditWait = 500 * time.Millisecond
)

// errContested is the answer to an edit that others have always been ahead of.
var errContested = refuse(Unavailable, "others have changed the source at each "+
	"try for %s, and nothing has been written; try again", editTime)

// errReadAnew is the answer to an edit of rules with a digest that what serves has still, and the
// sources no more.
var errReadAnew = refuse(Changed,
	"the rules have changed, and their sources are read anew; try again")

// tryAndWriteInTime makes the edit of what serves. Where that is refused, or the source holds
// something else, it makes the edit of what the sources hold, again and again where another edit
// was first. Waits are random, so that two servers do not meet at each try. It returns what is to
// serve then, nil if the source has to be read for that.
func (e *editing) tryAndWriteInTime() (*candidate, error) {
	if e.rs.LastError() == nil { // else the sources hold something else for certain
		next, err := e.tryAndWrite(make([]unread, len(e.rs.Sources)))
		isChanged := errors.Is(err, source.ErrChanged)
		if isChanged && e.IfRules != nil {
			e.leaveToRead(unreadKeys(e.inFile().Key))
			return nil, errReadAnew
		}
		if !isChanged && !isRefusal(err) {
			return next, err
		}
	}
	end := time.Now().Add(editTime)
	for wait := firstEditWait; ; wait = min(2*wait, longestEditWait) {
		e.leaveToRead(unreadKeys(e.inFile().Key))
		next, err := e.tryAndWrite(e.rs.shared.backlog.take(len(e.rs.Sources)))
		if e.IfRules != nil || !errors.Is(err, source.ErrChanged) {
			return next, err
		}
		if !time.Now().Before(end) {
			return nil, errContested
		}
		select {
		case <-time.After(rand.N(wait)):
		case <-e.ctx.Done():
			return nil, ErrGone
		}
	}
}

// leaveToRead leaves it to the next load to read something of the edited source.
func (e *editing) leaveToRead(what unread) { e.rs.shared.backlog.add(e.at, what) }

// tryAndWrite makes the edit of what serves and of what there is to read of the sources, if the
// rules are good with it.
func (e *editing) tryAndWrite(work []unread) (*candidate, error) {
	next, err := e.derive(work)
	isRead := false
	if err = e.validate(next, err); err == nil {
		err = e.confirm(next)
	}
	if err == nil {
		isRead, err = e.write(next)
	}
	if err != nil || !isRead {
		e.rs.leave(work, next)
		return nil, err
	}
	return next, nil
}

// derive makes the candidate that the edit leads to.
func (e *editing) derive(work []unread) (*candidate, error) {
	// not in the context of who edits, who may go: no source is to blame for that
	l := e.rs.newLoading(e.rs.Context, pace.New().Pause)
	l.edit = e
	return l.derive(work)
}

// write writes the edit to its source. It reports whether the candidate is what the sources hold
// then, or else that is to be read.
func (e *editing) write(next *candidate) (isRead bool, err error) {
	edit := e.inFile()
	edit.IsLast = e.rule == nil && !hasRulesOf(next.Ruleset, e.at)
	version, err := e.into.Edit(e.ctx, next.versions[e.at], edit)
	switch {
	case errors.Is(err, source.ErrBeingWritten):
		return false, source.ErrChanged
	case err != nil:
		return false, err
	}
	before := next.remarks[e.at]
	next.noteReading(e.into, e.at, version)
	isSame := func(a, b lint.Warning) bool { return a.Kind == b.Kind && a.String() == b.String() }
	if version != "" && slices.EqualFunc(before, next.remarks[e.at], isSame) {
		return true, nil
	}
	e.leaveToRead(unread{isStale: true, isWhole: true})
	if !hasRulesOf(next.Ruleset, e.at) {
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
	if wrong != nil && e.rs.hasOutage() {
		return refuse(Unavailable, "the rules cannot be read: %w",
			printable.Shorten(wrong))
	}
	if _, isUnread := errors.AsType[unreadError](wrong); isUnread {
		return refuse(Invalid, "%w", printable.Shorten(wrong))
	}
	if inPlace := cmp.Or(e.check(), e.placeProblem()); inPlace != nil {
		return inPlace // which is the reason for everything else that is wrong
	}
	if wrong != nil {
		return refuse(Invalid, "%w", printable.Shorten(wrong))
	}
	if e.IfRules != nil && !slices.Equal(next.versions, e.rs.Serving().versions) {
		return errReadAnew
	}
	if broken := e.rs.brokenBy(next); broken != nil {
		return refuse(Invalid, "%w", broken)
	}
	return nil
}

// placeProblem says why the key's rule cannot be edited where it stands.
func (e *editing) placeProblem() error {
	removes := e.rule == nil
	found := slices.IndexFunc(e.stands, isRule) - 1 // of the sources, as an index
	switch {
	case found < -1 && removes:
		return refuse(NoRule, "there is no rule for the key %q", e.Key)
	case found == -1:
		return refuse(NotEditable, "the rule for the key %q is an inline rule, which cannot be "+
			"edited; change Caddy's configuration", e.Key)
	case found >= 0 && (found < e.at || removes && e.old == nil):
		return refuse(NotEditable,
			"the rule for the key %q stands in source %s, and edits go into %s; change it there", e.Key,
			e.rs.Sources[found], e.rs.Sources[e.at])
	case e.isTwice:
		return refuse(NotEditable, "source %s has two rules for the key %q, perhaps in two "+
			"spellings; remove one of them there", e.rs.Sources[e.at], e.Key)
	}
	return nil
}

// refused reads what a refused edit has seen of the sources, if that is not what serves: whoever
// looks for changes would take it for known. It returns the refusal, or why the edit is not
// confirmed.
func (e *editing) refused(err error) error {
	if refusal, is := errors.AsType[*unconfirmed](err); is {
		e.rs.loadAlone()
		return refusal.reason
	}
	refusal, isKnown := refusalOf(err)
	if !isKnown {
		e.leaveToRead(unread{isStale: true, isWhole: true}) // it may be out
	}
	e.rs.loadAlone()
	if last := e.rs.LastError(); !isKnown && last != nil && e.rs.hasOutage() {
		return refuse(Unavailable, "the rules cannot be read: %w", last)
	}
	return refusal
}

// inFile returns the edit in terms of files.
func (e *editing) inFile() rulefile.Edit {
	edit := rulefile.Edit{Key: e.Key, Rule: e.rule, Was: e.old, DefaultStatus: e.rs.Options.Status}
	if e.old != nil {
		edit.Key = e.old.Key
	} else if e.rule != nil {
		edit.Key = e.rule.Key
	}
	return edit
}

// findIn finds the rules of the key in a ruleset, and in changes that have still to be made.
func (e *editing) findIn(ruleset *resolver.Ruleset, changes []resolver.RuleChange) {
	e.stands, e.old = nil, nil
	for n := range len(e.rs.Sources) + 1 {
		rule, found := ruleset.RuleOf(n, e.Key)
		for _, change := range changes {
			if change.Source == n && e.same(change.Key) {
				if found = change.Rule != nil; found {
					rule = *change.Rule
				}
			}
		}
		var standing *resolver.Rule
		if found {
			standing = &rule
		}
		e.stands = append(e.stands, standing)
	}
	e.old = e.stands[e.at+1]
}

// change returns the edit as a change of the rules.
func (e *editing) change() resolver.RuleChange {
	change := resolver.RuleChange{Source: e.at + 1, Key: e.Key}
	if e.rule == nil {
		return change
	}
	at := resolver.Position{Source: e.into.String()}
	if e.old != nil {
		e.rule.Key, at = e.old.Key, e.old.Position // as its author spells it
	}
	rule := *e.rule
	rule.Position = at
	change.Rule = &rule
	return change
}

// beginSource tells that all rules of a source will be passed to replace.
func (e *editing) beginSource(i int) {
	e.stands[i+1] = nil
	if i == e.at {
		e.old, e.isTwice = nil, false
	}
}

// replace takes in a rule that was read from a source. It returns the rule that takes its place,
// and whether there is one.
func (e *editing) replace(from int, rule resolver.Rule) (resolver.Rule, bool) {
	if !e.same(rule.Key) {
		return rule, true
	}
	isFirst := e.stands[from+1] == nil
	if isFirst {
		standing := rule // so that not every rule that comes by here moves to the heap
		standing.Key, standing.Value = strings.Clone(rule.Key), strings.Clone(rule.Value)
		standing.Note = strings.Clone(rule.Note)
		e.stands[from+1] = &standing
	}
	if from != e.at {
		return rule, true
	}
	e.old, e.isTwice = e.stands[from+1], !isFirst
	if e.rule == nil {
		return rule, false
	}
	e.rule.Key = e.old.Key // as its author spells it
	edited := *e.rule
	edited.Position = rule.Position
	return edited, true
}

// added returns the rule that the edit adds to a source which has been read to its end, if it adds
// one.
func (e *editing) added(i int) (resolver.Rule, bool) {
	if i != e.at || e.rule == nil || e.old != nil {
		return resolver.Rule{}, false
	}
	return *e.change().Rule, true
}
