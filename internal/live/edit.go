package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/internal/pace"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

// Edit is a change of one rule of a live ruleset, on its way into the first source that can be
// written to.
type Edit struct {
	Key        string
	Rule       *resolver.Rule // nil to remove it
	Conditions Preconditions
	Remote     string // who edits

	into int               // the source that it goes into, as an index
	same func(string) bool // whether a key is the edit's
	// found is where the key stood when the sources were read: an index, inline for the configuration
	// itself.
	found int
	Old   *resolver.Rule // what it was, in the source that the edit goes into
	// versions are those of the sources as they were read then.
	versions []string
}

// Where a key can stand besides the sources.
const (
	inline  = -1
	nowhere = -2
)

// Refusal is why something cannot be done that somebody asked for, with the status of HTTP for it.
type Refusal struct {
	Status int
	error
}

// Unwrap returns the error itself.
func (r *Refusal) Unwrap() error { return r.error }

// Refuse returns a refusal with a status of HTTP and a reason, as [fmt.Errorf] makes it.
func Refuse(status int, format string, args ...any) error {
	return &Refusal{status, fmt.Errorf(format, args...)}
}

// Apply validates an edit like a reload, writes it to the source, and swaps in what the source
// holds then. It reports whether the rule is a new one. A refused edit, a [Refusal], writes
// nothing.
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
	if err := e.checkTags(before.Digest); err != nil {
		return err
	}
	into, err := rs.firstWritable(e)
	if err != nil {
		return err
	}
	e.same = rs.sameAs(e.Key)
	if err := rs.tryAndWriteInTime(ctx, e, before, into); err != nil {
		rs.loadIfChanged(e, before)
		return refused(err)
	}
	rs.logger.Info("rule edited",
		zap.String("name", rs.Name), zap.String("remote", e.Remote), zap.String("key", e.Key),
		zap.Stringer("source", into),
		zap.String("was", RuleText(e.Old)), zap.String("is", RuleText(e.Rule)),
		zap.String("old_digest", before.Digest))
	rs.loadAlone()
	if err := rs.LastError(); err != nil {
		return Refuse(http.StatusConflict,
			"the edit is written, but what the sources hold now is rejected: %w", err)
	}
	return nil
}

// firstWritable returns the source that the edit goes into.
func (rs *Ruleset) firstWritable(e *Edit) (source.Writable, error) {
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
	return nil, Refuse(http.StatusConflict, "there is no source that can be edited: %s",
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
var errContested = Refuse(http.StatusServiceUnavailable, "others have changed the source at each "+
	"try for %s, and nothing has been written; try again", editTime)

// tryAndWriteInTime is tryAndWrite, again and again where another edit was first. Waits are random,
// so that two servers do not meet at each try.
func (rs *Ruleset) tryAndWriteInTime(
	ctx context.Context, e *Edit, before *Loaded, into source.Writable,
) error {
	end := time.Now().Add(editTime)
	for wait := firstEditWait; ; wait = min(2*wait, longestEditWait) {
		err := rs.tryAndWrite(ctx, e, before, into)
		if e.Conditions.areOfRules() || !errors.Is(err, source.ErrChanged) {
			return err
		}
		if !time.Now().Before(end) {
			return errContested
		}
		select {
		case <-time.After(rand.N(wait)):
		case <-ctx.Done():
			return ErrGone
		}
	}
}

// tryAndWrite writes an edit into a source, if the rules are good with it.
func (rs *Ruleset) tryAndWrite(ctx context.Context, e *Edit, before *Loaded,
	into source.Writable) error {
	// also where the client goes: no source is to blame
	if err := rs.validate(rs.Context, e, before); err != nil {
		return err
	}
	return into.Edit(ctx, e.versions[e.into], e.inFile(rs.Options.Status))
}

// ErrUnloaded is the answer of a handler whose configuration is not Caddy's any more.
var ErrUnloaded = Refuse(http.StatusServiceUnavailable,
	"the configuration has just been replaced; try again")

// ErrGone is the answer to a client that has not waited for it: nobody reads it, but the log has
// it.
var ErrGone = Refuse(statusClientGone, "the client has gone, and nothing has been done")

// statusClientGone is the status that nginx and Caddy's reverse proxy have for it.
const statusClientGone = 499

// ErrChanged is the answer where the rules have another digest than the one that is asked for.
func ErrChanged(digest string) error {
	return Refuse(http.StatusPreconditionFailed,
		"the rules have changed: their digest is %s now; read them again", digest)
}

// checkTags checks the conditions that are about the digest of the rules.
func (e *Edit) checkTags(digest string) error {
	tag := EntityTag(digest)
	if e.Conditions.HasChanged(tag) {
		return ErrChanged(digest)
	}
	if e.Conditions.IsKnown(tag) {
		return Refuse(http.StatusPreconditionFailed,
			"the rules still have the digest %s, which If-None-Match excludes", digest)
	}
	return nil
}

// checkRule checks the conditions that are about the key's rule.
func (e *Edit) checkRule() error {
	switch {
	case e.Conditions.wantsRule() && e.found == nowhere:
		return Refuse(http.StatusPreconditionFailed,
			"there is no rule for the key %q, and If-Match: * asks for one", e.Key)
	case e.Conditions.WantsNone() && e.found != nowhere:
		return Refuse(http.StatusPreconditionFailed,
			"there is a rule for the key %q, and If-None-Match: * asks for none", e.Key)
	}
	return nil
}

// loadIfChanged loads what a refused edit has seen of the sources, if that is not what serves:
// whoever looks for changes would take it for known.
func (rs *Ruleset) loadIfChanged(e *Edit, before *Loaded) {
	if !slices.Equal(e.versions, before.versions) {
		rs.loadAlone()
	}
}

// validate loads the rules with the edit in them, beside those that serve.
func (rs *Ruleset) validate(ctx context.Context, e *Edit, before *Loaded) error {
	pause := pace.New().Pause
	next, err := rs.loadEdited(ctx, pause, e)
	if errors.Is(err, source.ErrBeingWritten) {
		return err
	}
	if err != nil && rs.hasOutage() {
		return Refuse(http.StatusServiceUnavailable, "the rules cannot be read: %w",
			printable.Shorten(err))
	}
	if inPlace := cmp.Or(e.checkRule(), rs.placeProblem(e)); inPlace != nil {
		return inPlace // which is the reason for everything else that is wrong
	}
	if err != nil {
		return Refuse(http.StatusUnprocessableEntity, "%w", printable.Shorten(err))
	}
	if e.Conditions.areOfRules() && !slices.Equal(e.versions, before.versions) {
		return Refuse(http.StatusPreconditionFailed,
			"the rules have changed, and their sources are read anew; try again")
	}
	if difference := resolver.Compare(before.Ruleset, next.Ruleset, namedKeys); difference.Broken > 0 {
		return Refuse(http.StatusUnprocessableEntity, "%w",
			brokenError(difference.Broken, difference.FirstBroken))
	}
	return nil
}

// placeProblem says why the key's rule cannot be edited where it stands.
func (rs *Ruleset) placeProblem(e *Edit) error {
	removes := e.Rule == nil
	switch {
	case e.found == nowhere && removes:
		return Refuse(http.StatusNotFound, "there is no rule for the key %q", e.Key)
	case e.found == inline:
		return Refuse(http.StatusConflict, "the rule for the key %q is an inline rule, which cannot be "+
			"edited; change Caddy's configuration", e.Key)
	case e.found >= 0 && (e.found < e.into || removes && e.Old == nil):
		return Refuse(http.StatusConflict,
			"the rule for the key %q stands in source %s, and edits go into %s; change it there", e.Key,
			rs.Sources[e.found], rs.Sources[e.into])
	}
	return nil
}

// refused gives an error of a source the status that it is answered with.
func refused(err error) error {
	switch {
	case isRefusal(err):
		return err
	case errors.Is(err, source.ErrChanged):
		return Refuse(http.StatusPreconditionFailed, "%w", err)
	case errors.Is(err, rulefile.ErrNoRule):
		return Refuse(http.StatusNotFound, "%w", err)
	case errors.Is(err, source.ErrNotWritable):
		return Refuse(http.StatusConflict, "%w", err)
	case errors.Is(err, source.ErrUnavailable):
		return Refuse(http.StatusServiceUnavailable, "%w", err)
	}
	if _, is := errors.AsType[rulefile.Errors](err); is {
		return Refuse(http.StatusUnprocessableEntity, "%w", err)
	}
	return fmt.Errorf("the edit could not be written: %w", err)
}

// sameAs returns a function that reports whether a key is this one, perhaps in another spelling.
func (rs *Ruleset) sameAs(key string) func(string) bool {
	canonical := resolver.CanonicalKey(key, rs.Options.FoldCase)
	return func(other string) bool {
		return resolver.CanonicalKey(other, rs.Options.FoldCase) == canonical
	}
}

func isRefusal(err error) bool {
	_, is := errors.AsType[*Refusal](err)
	return is
}

// inFile returns the edit in terms of files, with the status of rules that name none.
func (e *Edit) inFile(status int) rulefile.Edit {
	return rulefile.Edit{Key: e.Key, Rule: e.Rule, Same: e.same, DefaultStatus: status}
}

// replace takes in a rule that was read from a source. It returns the rule that takes its place,
// and whether there is one.
func (e *Edit) replace(from int, rule resolver.Rule) (resolver.Rule, bool) {
	if e == nil || !e.same(rule.Key) {
		return rule, true
	}
	if e.found == nowhere {
		e.found = from
	}
	if from != e.into {
		return rule, true
	}
	if e.Old == nil {
		old := rule // so that not every rule that comes by here moves to the heap
		e.Old = &old
	}
	if e.Rule == nil {
		return rule, false
	}
	e.Rule.Key = rule.Key // as its author spells it
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
	rule := *e.Rule
	rule.Position = resolver.Position{Source: from.String()}
	return rule, true
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
