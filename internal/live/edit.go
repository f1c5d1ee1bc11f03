package live

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/internal/effects"
	"github.com/caddy-shortlink/shortlink/internal/refusal"
	"github.com/caddy-shortlink/shortlink/internal/turn"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

// Edit is a list of changes of a live ruleset, on their way into the first source that can be
// written to. They are made together or not at all.
type Edit struct {
	Changes []Change
	// Make, if not nil, makes Changes from the rules that serve. Then the sources have to hold these;
	// if they do not, they are read, and Make is called again. Others who load rules wait for it.
	Make func(serving *Loaded) ([]Change, error)
	// IfRules, if not nil, is told the digest of the rules that serve, and then the sources have to
	// hold these. Its error refuses the edit.
	IfRules func(digest string) error
	// Confirm, if not nil, is told what the edit does before anything is written, each time that it
	// is derived. Its error is that of [Ruleset.Apply], and leaves everything as it is. Others who
	// load rules wait for it.
	Confirm func(*effects.Effects) error
	// InPlace refuses the edit where it would hide a rule of a later source.
	InPlace bool
	Remote  string // who edits, by address
	User    string // who edits, by name; empty where that is not known
}

// Change is a change of one rule.
type Change struct {
	Key string
	// Rule is nil to remove it; its key gets the spelling that it has there. Its position is the line
	// that errors name.
	Rule *resolver.Rule
	// IsWithoutOther refuses a removal after which the rule of another source would serve.
	IsWithoutOther bool
	// If, if not nil, is told the key's rule, wherever it stands, nil for none. Its error refuses the
	// edit.
	If func(now *resolver.Rule) error
}

// place returns the line that errors of the change name, if there is one.
func (c *Change) place() resolver.Position {
	if c.Rule == nil {
		return resolver.Position{}
	}
	return c.Rule.Position
}

// user names who edits in the log, if that is known.
func (e *Edit) user() zap.Field {
	if e.User == "" {
		return zap.Skip()
	}
	return zap.String("user", e.User)
}

// An edit that others who write to the source are ahead of is tried again, for as long as an edit
// waits for others who hold a file's lock.
const (
	editTime        = 15 * time.Second
	firstEditWait   = 5 * time.Millisecond
	longestEditWait = 500 * time.Millisecond
)

// errOutrun: the source holds something else than what serves.
var errOutrun = refusal.Errorf(refusal.Changed,
	"the rules have changed, and their sources are read anew; try again")

// errContested is the answer to an edit that others have always been ahead of.
var errContested = refusal.Errorf(refusal.Unavailable, "others have changed the source at each "+
	"try for %s, and nothing has been written; try again", editTime)

// Apply derives the rules with an edit from those that serve and validates them like a reload,
// writes the edit to the source, and swaps them in. It returns what the rule of each change was
// there, nil for none. A refused edit, a [refusal.Refusal], writes nothing.
func (rs *Ruleset) Apply(ctx context.Context, edit *Edit) (was []*resolver.Rule, err error) {
	end := time.Now().Add(editTime)
	for most := firstEditWait; ; most = min(2*most, longestEditWait) {
		err = rs.alone(func() error {
			e, err := rs.begin(ctx, edit)
			if err == nil {
				was, err = e.apply()
			}
			return err
		})
		isForServing := edit.IfRules != nil || edit.Make != nil && rs.LastLoad().Err != nil
		switch {
		case isForServing || !errors.Is(err, errOutrun):
			return was, err
		case !time.Now().Before(end):
			return nil, errContested
		}
		turn.Wait(ctx, rand.N(most)) // random, so that two servers do not meet at each try
	}
}

// author is who has edited what is loaded; zero if nobody has.
type author struct {
	isEdit       bool
	user, remote string
}

// author returns who makes the edit.
func (e *Edit) author() author { return author{true, e.User, e.Remote} }

// begin begins an edit. shared.loading must be held.
func (rs *Ruleset) begin(ctx context.Context, edit *Edit) (*editing, error) {
	switch {
	case rs.Context.Err() != nil:
		return nil, ErrUnloaded
	case ctx.Err() != nil:
		return nil, ErrGone
	}
	if edit.IfRules != nil {
		if err := edit.IfRules(rs.Serving().Digest); err != nil {
			return nil, refusal.Of(refusal.Changed, err)
		}
	}
	changes := edit.Changes
	if edit.Make != nil {
		var err error
		if changes, err = edit.Make(rs.Serving()); err != nil {
			return nil, err
		}
	}
	return rs.newEditing(ctx, edit, changes)
}

// WhyNotWritable returns the refusal of every edit, nil where there is a source to edit.
func (c *Config) WhyNotWritable() error {
	_, _, err := c.firstWritable()
	return err
}

// EditedSource returns the name of the source that edits go into, "" where there is none.
func (c *Config) EditedSource() string {
	if _, into, err := c.firstWritable(); err == nil {
		return into.String()
	}
	return ""
}

// firstWritable returns the source that edits go into, and its index.
func (c *Config) firstWritable() (at int, into source.Writable, err error) {
	reasons := []string{"inline rules cannot be edited; change Caddy's configuration"}
	for i, from := range c.Sources {
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
	return 0, nil, refusal.Errorf(refusal.NotEditable, "there is no source that can be edited: %s",
		strings.Join(reasons, "; "))
}

// hasOutage reports whether one of the handler's sources cannot be read.
func (c *Config) hasOutage() bool {
	return slices.ContainsFunc(c.Sources, func(s source.Source) bool {
		return source.OutageOf(s) != nil
	})
}
