package shortlink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/internal/pace"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

// edit is a change of one rule of a live ruleset, on its way into the first source that can be written to.
type edit struct {
	key        string
	rule       *resolver.Rule // nil to remove it
	conditions preconditions
	remote     string // who edits

	into int               // the source that it goes into, as an index
	same func(string) bool // whether a key is the edit's
	// found is where the key stood when the sources were read: an index, inline for the configuration itself.
	found int
	old   *resolver.Rule // what it was, in the source that the edit goes into
	// versions are those of the sources as they were read then.
	versions []string
}

// Where a key can stand besides the sources.
const (
	inline  = -1
	nowhere = -2
)

// refusal is why something cannot be done that the admin endpoint was asked for, with the status for it.
type refusal struct {
	status int
	error
}

// Unwrap returns the error itself.
func (r *refusal) Unwrap() error { return r.error }

func refuse(status int, format string, args ...any) error {
	return &refusal{status, fmt.Errorf(format, args...)}
}

// apply makes an edit: the rules have to be as good as for a swap with it, then it is written into the source, and what the source
// holds now is swapped in. A refused edit writes nothing.
func (rs *Ruleset) apply(ctx context.Context, e *edit) (created bool, err error) {
	report, err := rs.applyAlone(ctx, e)
	if report != nil {
		report()
	}
	return e.old == nil, err
}

// applyAlone is apply without the report, which it returns.
func (rs *Ruleset) applyAlone(ctx context.Context, e *edit) (report func(), err error) {
	rs.shared.loading.Lock()
	defer rs.shared.loading.Unlock()
	if rs.Context.Err() != nil {
		return nil, errUnloaded
	}
	if ctx.Err() != nil {
		return nil, errGone
	}
	before := rs.shared.serving.Load()
	if err := e.checkTags(before.digest); err != nil {
		return nil, err
	}
	into, err := rs.firstWritable(e)
	if err != nil {
		return nil, err
	}
	e.same = rs.sameAs(e.key)
	err = rs.tryAndWrite(ctx, e, before, into)
	for try := 1; try < editTries && !e.conditions.areOfRules() && errors.Is(err, source.ErrChanged); try++ {
		err = rs.tryAndWrite(ctx, e, before, into)
	}
	if err != nil {
		return rs.loadIfChanged(e, before), refused(err)
	}
	rs.logger.Info("rule edited",
		zap.String("name", rs.Name), zap.String("remote", e.remote), zap.String("key", e.key),
		zap.Stringer("source", into), zap.String("was", valueText(e.old)), zap.String("is", valueText(e.rule)),
		zap.String("old_digest", before.digest))
	report = rs.loadLocked()
	if last := rs.shared.last.Load(); last.err != nil {
		return report, refuse(http.StatusConflict, "the edit is written, but what the sources hold now is rejected: %w", last.err)
	}
	return report, nil
}

// firstWritable returns the source that the edit goes into.
func (rs *Ruleset) firstWritable(e *edit) (source.Writable, error) {
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
		e.into = i
		return writable, nil
	}
	return nil, refuse(http.StatusConflict, "there is no source that can be edited: %s", strings.Join(reasons, "; "))
}

// editTries is how often an edit is tried that makes no condition, where others write to the source, too.
const editTries = 5

// tryAndWrite writes an edit into a source, if the rules are good with it.
func (rs *Ruleset) tryAndWrite(ctx context.Context, e *edit, before *loaded, into source.Writable) error {
	if err := rs.try(rs.Context, e, before); err != nil { // also where the client goes: no source is to blame
		return err
	}
	return into.Edit(ctx, e.versions[e.into], e.inFile(rs.Options.Status))
}

// errUnloaded is the answer of a handler whose configuration is not Caddy's any more.
var errUnloaded = refuse(http.StatusServiceUnavailable, "the configuration has just been replaced; try again")

// errGone is the answer to a client that has not waited for it: nobody reads it, but the log has it.
var errGone = refuse(statusClientGone, "the client has gone, and nothing has been done")

// statusClientGone is the status that nginx and Caddy's reverse proxy have for it.
const statusClientGone = 499

// errChanged is the answer where the rules have another digest than the one that is asked for.
func errChanged(digest string) error {
	return refuse(http.StatusPreconditionFailed, "the rules have changed: their digest is %s now; read them again", digest)
}

// checkTags checks the conditions that are about the digest of the rules.
func (e *edit) checkTags(digest string) error {
	tag := entityTag(digest)
	if e.conditions.hasChanged(tag) {
		return errChanged(digest)
	}
	if e.conditions.isKnown(tag) {
		return refuse(http.StatusPreconditionFailed, "the rules still have the digest %s, which If-None-Match excludes", digest)
	}
	return nil
}

// checkRule checks the conditions that are about the key's rule.
func (e *edit) checkRule() error {
	switch {
	case e.conditions.wantsRule() && e.found == nowhere:
		return refuse(http.StatusPreconditionFailed, "there is no rule for the key %q, and If-Match: * asks for one", e.key)
	case e.conditions.wantsNone() && e.found != nowhere:
		return refuse(http.StatusPreconditionFailed, "there is a rule for the key %q, and If-None-Match: * asks for none", e.key)
	}
	return nil
}

// loadIfChanged loads what a refused edit has seen of the sources, if that is not what serves: whoever looks for changes would take
// it for known.
func (rs *Ruleset) loadIfChanged(e *edit, before *loaded) (report func()) {
	if slices.Equal(e.versions, before.versions) {
		return nil
	}
	return rs.loadLocked()
}

// try loads the rules with the edit in them, beside those that serve.
func (rs *Ruleset) try(ctx context.Context, e *edit, before *loaded) error {
	pause := pace.New().Pause
	next, err := rs.loadEdited(ctx, pause, e)
	if errors.Is(err, source.ErrBeingWritten) {
		return err
	}
	if err != nil && rs.hasOutage() {
		return refuse(http.StatusServiceUnavailable, "the rules cannot be read: %w", printable.Shorten(err))
	}
	if inPlace := cmp.Or(e.checkRule(), rs.placeProblem(e)); inPlace != nil {
		return inPlace // which is the reason for everything else that is wrong
	}
	if err != nil {
		return refuse(http.StatusUnprocessableEntity, "%w", printable.Shorten(err))
	}
	if e.conditions.areOfRules() && !slices.Equal(e.versions, before.versions) {
		return refuse(http.StatusPreconditionFailed, "the rules have changed, and their sources are read anew; try again")
	}
	if difference := resolver.Compare(before.ruleset, next.ruleset, namedKeys); difference.Broken > 0 {
		return refuse(http.StatusUnprocessableEntity, "%w", brokenError(difference.Broken, difference.FirstBroken))
	}
	return nil
}

// placeProblem says why the key's rule cannot be edited where it stands.
func (rs *Ruleset) placeProblem(e *edit) error {
	removes := e.rule == nil
	switch {
	case e.found == nowhere && removes:
		return refuse(http.StatusNotFound, "there is no rule for the key %q", e.key)
	case e.found == inline:
		return refuse(http.StatusConflict, "the rule for the key %q is an inline rule, which cannot be edited; change Caddy's configuration", e.key)
	case e.found >= 0 && (e.found < e.into || removes && e.old == nil):
		return refuse(http.StatusConflict, "the rule for the key %q stands in source %s, and edits go into %s; change it there", e.key, rs.Sources[e.found], rs.Sources[e.into])
	}
	return nil
}

// refused gives an error of a source the status that it is answered with.
func refused(err error) error {
	switch {
	case isRefusal(err):
		return err
	case errors.Is(err, source.ErrChanged):
		return refuse(http.StatusPreconditionFailed, "%w", err)
	case errors.Is(err, rulefile.ErrNoRule):
		return refuse(http.StatusNotFound, "%w", err)
	case errors.Is(err, source.ErrNotWritable):
		return refuse(http.StatusConflict, "%w", err)
	case errors.Is(err, source.ErrUnavailable):
		return refuse(http.StatusServiceUnavailable, "%w", err)
	}
	if _, is := errors.AsType[rulefile.Errors](err); is {
		return refuse(http.StatusUnprocessableEntity, "%w", err)
	}
	return fmt.Errorf("the edit could not be written: %w", err)
}

// sameAs returns a function that reports whether a key is this one, perhaps in another spelling.
func (rs *Ruleset) sameAs(key string) func(string) bool {
	canonical := resolver.CanonicalKey(key, rs.Options.FoldCase)
	return func(other string) bool { return resolver.CanonicalKey(other, rs.Options.FoldCase) == canonical }
}

func isRefusal(err error) bool {
	_, is := errors.AsType[*refusal](err)
	return is
}

// inFile returns the edit in terms of files, with the status of rules that name none.
func (e *edit) inFile(status int) rulefile.Edit {
	return rulefile.Edit{Key: e.key, Rule: e.rule, Same: e.same, DefaultStatus: status}
}

// in takes in a rule that was read from a source. It returns the rule that takes its place, and whether there is one.
func (e *edit) in(from int, rule resolver.Rule) (resolver.Rule, bool) {
	if e == nil || !e.same(rule.Key) {
		return rule, true
	}
	if e.found == nowhere {
		e.found = from
	}
	if from != e.into {
		return rule, true
	}
	if e.old == nil {
		old := rule // so that not every rule that comes by here moves to the heap
		e.old = &old
	}
	if e.rule == nil {
		return rule, false
	}
	e.rule.Key = rule.Key // as its author spells it
	edited := *e.rule
	edited.Position = rule.Position
	return edited, true
}

// added returns the rule that the edit adds to a source which has been read to its end, if it adds one.
func (e *edit) added(from source.Source, i int) (resolver.Rule, bool) {
	if e == nil || i != e.into || e.rule == nil || e.old != nil {
		return resolver.Rule{}, false
	}
	rule := *e.rule
	rule.Position = resolver.Position{Source: from.String()}
	return rule, true
}

// valueText is what an audit record says of a rule.
func valueText(rule *resolver.Rule) string {
	if rule == nil {
		return ""
	}
	return rulefile.JSONValue(*rule)
}

// hasOutage reports whether one of the handler's sources cannot be read.
func (rs *Ruleset) hasOutage() bool {
	return slices.ContainsFunc(rs.Sources, func(s source.Source) bool { return source.OutageOf(s) != nil })
}
