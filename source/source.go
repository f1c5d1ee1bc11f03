package source

import (
	"context"
	"errors"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// Source is where rules come from besides the configuration. A source is a guest module
// in the namespace http.shortlink.sources: its name is the last part of its module ID,
// and what follows "from <name>" in the Caddyfile is its own to read, as a [caddyfile.Unmarshaler].
//
// Caddy provisions it with the configuration. Then the handler calls Read once, unless a handler of
// the same configuration served before and knows the rules already, and calls Watch once, unless
// another handler of the same configuration watches. Whenever Watch says that the rules may have
// changed, the handler calls Read again: never twice at a time but of a [Changing], and while Watch
// runs.
type Source interface {
	// String names the source in positions, logs and metrics, such as "links.json". It holds
	// no secrets, and is the same after a restart.
	String() string

	// Read passes all rules to add, one after the other. It returns a version: any text that is equal
	// for equal rules. An error means that nothing of what was added counts; a [rulefile.Errors] tells
	// everything that is wrong at once. Texts of a rule need to be good only until add returns, so
	// that a large file leaves nothing behind.
	Read(ctx context.Context, add func(resolver.Rule)) (version string, err error)

	// Watch calls changed each time the rules may be others than at the call before, until ctx ends;
	// the first time when they may be others than those of version, which an earlier Read returned.
	// Also when a source can be read no longer, or again, it says so. changed returns at once.
	Watch(ctx context.Context, version string, changed func())
}

// Annotated is a [Source] that says more than rules.
type Annotated interface {
	Source

	// Remarks returns what the last Read has said beside the rules, or an Edit since then.
	Remarks() Remarks

	// Locate tells in which line and column rules stand, where somebody asks: what serves has the name
	// of the source alone. It passes all rules to seen, as Read does, if they are still those of
	// version, which Read has returned. Else, or where there are no lines, it returns false, and what
	// it has passed means nothing. It is called at any time, also while Read runs, and changes nothing
	// of what that returns.
	Locate(ctx context.Context, version string, seen func(resolver.Rule)) (isThere bool)
}

// Remarks are what a source says beside its rules.
type Remarks struct {
	// Expectations are tests that the rules have to pass before they serve.
	Expectations PlacedExpectations
	// Warnings tell what the rules, as they are written, do otherwise than their author may expect, in
	// the order of places.
	Warnings []lint.Warning
}

// RemarksOf returns what a source has said beside its rules, if it does.
func RemarksOf(source Source) (remarks Remarks) {
	if source, does := source.(Annotated); does {
		remarks = source.Remarks()
	}
	return remarks
}

// Measured is a [Source] that knows how much there is to read.
type Measured interface {
	Source

	// Size returns how many bytes there are to read, or 0 if that cannot be told.
	Size(ctx context.Context) int64
	// Done returns how many of them the Read that is going on has read, or the last one. It is called
	// by what Read passes rules to, too.
	Done() int64
}

// Writable is a [Source] whose rules can be edited through Caddy's admin endpoint.
type Writable interface {
	Source

	// Writable returns why the rules cannot be edited, or nil if they can.
	Writable() error

	// Edit makes an edit, if the rules are still those of version, which Read has returned: otherwise
	// it changes nothing and returns [ErrChanged]. What it has written is there as a whole; after an
	// error it is there or not, but never in part. Other rules stay as they are. A rule that cannot be
	// written is an error of type [rulefile.Errors]; one that is [ErrNotWritable] or [ErrUnavailable]
	// tells that none can be.
	//
	// Edit returns the version of the rules that are there then, which are those from before with
	// exactly the edit's, and Remarks are theirs. Where they may be others, or it does not know the
	// version, it returns an empty one, and is read.
	Edit(ctx context.Context, version string, edit rulefile.Edit) (newVersion string, err error)
}

// ErrChanged is the error of an edit of rules that have changed since they were read.
var ErrChanged = errors.New("the source has changed since its rules were read; try again")

// Errors of edits that the source does not take, whatever the rule.
var (
	// ErrNotWritable tells that somebody has to change that, such as the source's permissions.
	ErrNotWritable = errors.New("the source cannot be edited")
	// ErrUnavailable tells that it may be otherwise later.
	ErrUnavailable = errors.New("the source cannot be edited now")
)

// ErrBeingWritten is the error of a source that is just being written: another try, a moment later,
// may go well.
var ErrBeingWritten = errors.New("the source is being written")

// Emptiable is a [Source] of which the configuration says whether it may lose all its rules. One
// that had rules, and is read with none, is refused otherwise, as are all that say nothing of it.
type Emptiable interface {
	Source

	// AllowsEmpty reports whether the source may be without rules where it had some.
	AllowsEmpty() bool
}

// Observed is a [Source] that knows whether it can be read. Of such sources the admin endpoint, the
// command status and the metrics tell an outage. It goes on over a reload of the configuration.
type Observed interface {
	Source

	// Reach returns what the source notes of that; always the same.
	Reach() *Reachability
}
