package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

// Edit is a change of one rule of a live ruleset, on its way into the first source that can be
// written to.
type Edit struct {
	Key  string
	Rule *resolver.Rule // nil to remove it
	// If, if not nil, is told the key's rule, wherever it stands, nil for none. IfRules is told the
	// digest of the rules that serve, and then the sources have to hold these. An error of one of
	// them refuses the edit.
	If      func(now *resolver.Rule) error
	IfRules func(digest string) error
	// Confirm, if not nil, is told what the edit does before anything is written, each time that it
	// is derived. Its error is that of [Ruleset.Apply], and leaves everything as it is. Others who
	// load rules wait for it.
	Confirm func(*Effects) error
	Remote  string // who edits, by address
	User    string // who edits, by name; empty where that is not known

	into int               // the source that it goes into, as an index
	same func(string) bool // whether a key is the edit's
	// stands are the rules that sources have for the key, nil for none; 0 is the configuration itself.
	stands []*resolver.Rule
	Old    *resolver.Rule // what it was, in the source that the edit goes into
	// isTwice tells that the key has two rules there, so that it is rejected.
	isTwice bool
}

// Apply derives the rules with an edit from those that serve and validates them like a reload,
// writes the edit to the source, and swaps them in. It reports whether the rule is a new one. A
// refused edit, a [Refusal], writes nothing.
func (rs *Ruleset) Apply(ctx context.Context, e *Edit) (created bool, err error) {
	err = rs.alone(func() error { return rs.applyAlone(ctx, e) })
	return e.Old == nil, err
}

// applyAlone is Apply for who runs alone already.
func (rs *Ruleset) applyAlone(ctx context.Context, e *Edit) error {
	if rs.Context.Err() != nil {
		return ErrUnloaded
	}
	if ctx.Err() != nil {
		return ErrGone
	}
	before := rs.Serving()
	if e.IfRules != nil {
		if err := e.IfRules(before.Digest); err != nil {
			return &Refusal{Changed, err}
		}
	}
	at, into, err := rs.firstWritable()
	if err != nil {
		return err
	}
	e.into, e.same = at, rs.sameAs(e.Key)
	next, err := rs.tryAndWriteInTime(ctx, e, into)
	if err != nil {
		return rs.refused(e, err)
	}
	rs.logger.Info("rule edited",
		zap.String("name", rs.Name), zap.String("remote", e.Remote), e.user(),
		zap.String("key", e.Key), zap.Stringer("source", into),
		zap.String("was", RuleText(e.Old)), zap.String("is", RuleText(e.Rule)),
		zap.String("old_digest", before.Digest))
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

// user names who edits in the log, if that is known.
func (e *Edit) user() zap.Field {
	if e.User == "" {
		return zap.Skip()
	}
	return zap.String("user", e.User)
}

// WhyNotWritable returns the refusal of every edit, nil where there is a source to edit.
func (rs *Ruleset) WhyNotWritable() error {
	_, _, err := rs.firstWritable()
	return err
}

// EditedSource returns the name of the source that edits go into, "" where there is none.
func (rs *Ruleset) EditedSource() string {
	if _, into, err := rs.firstWritable(); err == nil {
		return into.String()
	}
	return ""
}

// firstWritable returns the source that edits go into, and its index.
func (rs *Ruleset) firstWritable() (at int, into source.Writable, err error) {
	reasons := []string{"inline rules cannot be edited; change Caddy's configuration"}
	for i, from := range rs.Sources {
		writable, ok := from.(source.Writable)
		if !ok {
			reasons = append(reasons, fmt.Sprintf("source %s cannot be written to", from))
			continue
		}
		if err := writable.Writable(); err != nil {
			reasons = append(reasons, fmt.Sprintf("source %s: %v", from, err))
			continue
		}
		return i, writable, nil
	}
	return 0, nil, refuse(NotEditable, "there is no source that can be edited: %s",
		strings.Join(reasons, "; "))
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

// tryAndWriteInTime makes an edit of what serves. Where that is refused, or the source holds
// something else, it makes the edit of what the sources hold, again and again where another edit
// was first. Waits are random, so that two servers do not meet at each try. It returns what is to
// serve then, nil if the source has to be read for that.
func (rs *Ruleset) tryAndWriteInTime(
	ctx context.Context, e *Edit, into source.Writable,
) (*candidate, error) {
	if rs.LastError() == nil { // else the sources hold something else for certain
		next, err := rs.tryAndWrite(ctx, e, into, make([]unread, len(rs.Sources)))
		isChanged := errors.Is(err, source.ErrChanged)
		if isChanged && e.IfRules != nil {
			rs.shared.backlog.add(e.into, unreadKeys(e.inFile(0).Key))
			return nil, errReadAnew
		}
		if !isChanged && !isRefusal(err) {
			return next, err
		}
	}
	end := time.Now().Add(editTime)
	for wait := firstEditWait; ; wait = min(2*wait, longestEditWait) {
		rs.shared.backlog.add(e.into, unreadKeys(e.inFile(0).Key))
		next, err := rs.tryAndWrite(ctx, e, into, rs.shared.backlog.take(len(rs.Sources)))
		if e.IfRules != nil || !errors.Is(err, source.ErrChanged) {
			return next, err
		}
		if !time.Now().Before(end) {
			return nil, errContested
		}
		select {
		case <-time.After(rand.N(wait)):
		case <-ctx.Done():
			return nil, ErrGone
		}
	}
}

// tryAndWrite makes an edit of what serves and of what there is to read of the sources, if the
// rules are good with it.
func (rs *Ruleset) tryAndWrite(
	ctx context.Context, e *Edit, into source.Writable, work []unread,
) (*candidate, error) {
	// also where the client goes: no source is to blame
	next, err := rs.derive(rs.Context, work, e)
	isRead := false
	if err = rs.validate(e, next, err); err == nil {
		err = rs.confirm(e, next)
	}
	if err == nil {
		isRead, err = rs.write(ctx, e, into, next)
	}
	if err != nil || !isRead {
		rs.leave(work, next)
		return nil, err
	}
	return next, nil
}

// write writes an edit to its source. It reports whether the candidate is what the sources hold
// then, or else that is to be read.
func (rs *Ruleset) write(
	ctx context.Context, e *Edit, into source.Writable, next *candidate,
) (isRead bool, err error) {
	edit := e.inFile(rs.Options.Status)
	edit.IsLast = e.Rule == nil && !hasRulesOf(next.Ruleset, e.into)
	isRead, err = rewrite(ctx, into, edit, e.into, next)
	switch {
	case errors.Is(err, source.ErrBeingWritten):
		err = source.ErrChanged
	case err == nil && !isRead:
		rs.shared.backlog.add(e.into, unread{isStale: true, isWhole: true})
		if !hasRulesOf(next.Ruleset, e.into) {
			rs.shared.emptied = e.into + 1
		}
	}
	return isRead, err
}

// rewrite writes an edit to the i-th source, which passes its rules if they are elsewhere then. The
// candidate takes over their positions. It reports whether its rules are the same, if that is told.
func rewrite(ctx context.Context, into source.Writable, edit rulefile.Edit, i int,
	next *candidate) (isSame bool, err error) {
	var r *resolver.Rereading // nil where no rule is passed
	add := func(rule resolver.Rule) {
		if r == nil {
			r = next.Ruleset.Reread()
			r.Source(i + 1)
		}
		r.Add(rule)
	}
	// the source pauses itself: two pacers would each take the rests of the other for work
	version, err := into.Edit(ctx, next.versions[i], edit, add)
	if err != nil || version == "" {
		return false, err
	}
	if r == nil {
		next.versions[i] = version
		next.noteRead(i)
		return true, nil
	}
	next.noteReading(into, i, version)
	r.Warn(next.warnings[i]...)
	placed, difference, err := r.Ruleset()
	if err != nil || difference.Added+difference.Removed+difference.Changed > 0 {
		return false, nil
	}
	next.Ruleset, next.isByThem = placed, false
	next.placeWarnings()
	next.difference.Warnings = append(next.difference.Warnings, difference.Warnings...)
	return true, nil
}

// placeWarnings lets new warnings name the places at which rules stand by now.
func (c *candidate) placeWarnings() {
	for i, w := range c.difference.Warnings {
		isSame := func(placed resolver.Warning) bool {
			return placed.Kind == w.Kind && placed.Key == w.Key &&
				placed.Position.Source == w.Position.Source
		}
		all := c.Ruleset.Warnings()
		if at := slices.IndexFunc(all, isSame); at >= 0 {
			c.difference.Warnings[i] = all[at]
		}
	}
}

// validate says why an edit is refused that leads to a candidate; wrong is what is wrong with that.
func (rs *Ruleset) validate(e *Edit, next *candidate, wrong error) error {
	if errors.Is(wrong, source.ErrBeingWritten) {
		return wrong
	}
	if wrong != nil && rs.hasOutage() {
		return refuse(Unavailable, "the rules cannot be read: %w",
			printable.Shorten(wrong))
	}
	if _, isUnread := errors.AsType[unreadError](wrong); isUnread {
		return refuse(Invalid, "%w", printable.Shorten(wrong))
	}
	if inPlace := cmp.Or(e.check(), rs.placeProblem(e)); inPlace != nil {
		return inPlace // which is the reason for everything else that is wrong
	}
	if wrong != nil {
		return refuse(Invalid, "%w", printable.Shorten(wrong))
	}
	if e.IfRules != nil && !slices.Equal(next.versions, rs.Serving().versions) {
		return errReadAnew
	}
	if broken := next.difference.Broken; broken > 0 {
		return refuse(Invalid, "%w",
			brokenError(broken, next.difference.FirstBroken))
	}
	return nil
}

// placeProblem says why the key's rule cannot be edited where it stands.
func (rs *Ruleset) placeProblem(e *Edit) error {
	removes := e.Rule == nil
	found := slices.IndexFunc(e.stands, isRule) - 1 // of the sources, as an index
	switch {
	case found < -1 && removes:
		return refuse(NoRule, "there is no rule for the key %q", e.Key)
	case found == -1:
		return refuse(NotEditable, "the rule for the key %q is an inline rule, which cannot be "+
			"edited; change Caddy's configuration", e.Key)
	case found >= 0 && (found < e.into || removes && e.Old == nil):
		return refuse(NotEditable,
			"the rule for the key %q stands in source %s, and edits go into %s; change it there", e.Key,
			rs.Sources[found], rs.Sources[e.into])
	case e.isTwice:
		return refuse(NotEditable, "source %s has two rules for the key %q, perhaps in two "+
			"spellings; remove one of them there", rs.Sources[e.into], e.Key)
	}
	return nil
}

// refused reads what a refused edit has seen of the sources, if that is not what serves: whoever
// looks for changes would take it for known. It returns the refusal, or why the edit is not
// confirmed.
func (rs *Ruleset) refused(e *Edit, err error) error {
	if refusal, is := errors.AsType[*unconfirmed](err); is {
		rs.loadAlone()
		return refusal.reason
	}
	refusal, isKnown := refusalOf(err)
	if !isKnown {
		rs.shared.backlog.add(e.into, unread{isStale: true, isWhole: true}) // it may be out
	}
	rs.loadAlone()
	if last := rs.LastError(); !isKnown && last != nil && rs.hasOutage() {
		return refuse(Unavailable, "the rules cannot be read: %w", last)
	}
	return refusal
}

// sameAs returns a function that reports whether a key is this one, perhaps in another spelling.
func (rs *Ruleset) sameAs(key string) func(string) bool {
	canonical := resolver.CanonicalKey(key, rs.Options.FoldCase)
	return func(other string) bool {
		return resolver.CanonicalKey(other, rs.Options.FoldCase) == canonical
	}
}

// inFile returns the edit in terms of files, with the status of rules that name none.
func (e *Edit) inFile(status int) rulefile.Edit {
	edit := rulefile.Edit{Key: e.Key, Rule: e.Rule, Was: e.Old, DefaultStatus: status}
	if e.Old != nil {
		edit.Key = e.Old.Key
	} else if e.Rule != nil {
		edit.Key = e.Rule.Key
	}
	return edit
}

// findIn finds the rules of the key in a ruleset, and in changes that have still to be made.
func (e *Edit) findIn(ruleset *resolver.Ruleset, sources int, changes []resolver.RuleChange) {
	e.stands, e.Old = nil, nil
	for n := range sources + 1 {
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
	e.Old = e.stands[e.into+1]
}

// change returns the edit as a change of the rules.
func (e *Edit) change(from source.Source) resolver.RuleChange {
	change := resolver.RuleChange{Source: e.into + 1, Key: e.Key}
	if e.Rule == nil {
		return change
	}
	at := resolver.Position{Source: from.String()}
	if e.Old != nil {
		e.Rule.Key, at = e.Old.Key, e.Old.Position // as its author spells it
	}
	rule := *e.Rule
	rule.Position = at
	change.Rule = &rule
	return change
}

// beginSource tells that all rules of a source will be passed to replace.
func (e *Edit) beginSource(i int) {
	if e == nil {
		return
	}
	e.stands[i+1] = nil
	if i == e.into {
		e.Old, e.isTwice = nil, false
	}
}

// replace takes in a rule that was read from a source. It returns the rule that takes its place,
// and whether there is one.
func (e *Edit) replace(from int, rule resolver.Rule) (resolver.Rule, bool) {
	if e == nil || !e.same(rule.Key) {
		return rule, true
	}
	isFirst := e.stands[from+1] == nil
	if isFirst {
		standing := rule // so that not every rule that comes by here moves to the heap
		standing.Key, standing.Value = strings.Clone(rule.Key), strings.Clone(rule.Value)
		standing.Note = strings.Clone(rule.Note)
		e.stands[from+1] = &standing
	}
	if from != e.into {
		return rule, true
	}
	e.Old, e.isTwice = e.stands[from+1], !isFirst
	if e.Rule == nil {
		return rule, false
	}
	e.Rule.Key = e.Old.Key // as its author spells it
	edited := *e.Rule
	edited.Position = rule.Position
	return edited, true
}

// added returns the rule that the edit adds to a source which has been read to its end, if it adds
// one.
func (e *Edit) added(from source.Source, i int) (resolver.Rule, bool) {
	if e == nil || i != e.into || e.Rule == nil || e.Old != nil {
		return resolver.Rule{}, false
	}
	return *e.change(from).Rule, true
}

// RuleText is what an audit record says of a rule.
func RuleText(rule *resolver.Rule) string {
	if rule == nil {
		return ""
	}
	return rulefile.JSONValue(*rule)
}

// hasOutage reports whether one of the handler's sources cannot be read.
func (rs *Ruleset) hasOutage() bool {
	return slices.ContainsFunc(rs.Sources, func(s source.Source) bool {
		return source.OutageOf(s) != nil
	})
}
