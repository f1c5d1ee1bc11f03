package source

import (
	"context"
	"errors"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// Source provides rules from outside the configuration. It is a guest module in the namespace
// http.shortlink.sources. Its name is the last part of its module ID. As a [caddyfile.Unmarshaler],
// it reads what follows "from <name>" in the Caddyfile.
//
// Caddy provisions it with the configuration. Then the handler calls Read once, unless a handler of
// the same configuration has the rules already. It calls Watch once, unless another handler of the
// same configuration watches. Whenever Watch says that the rules may have changed, the handler
// calls Read again, while Watch runs. Only a [Changing] is read twice at a time.
type Source interface {
	// String names the source in positions, logs and metrics, such as "links.json". It contains no
	// secrets, and is the same after a restart.
	String() string

	// Read passes all rules to add, one after the other. It returns a version: a text that is equal
	// for equal rules. After an error, nothing that was added counts; a [rulefile.Errors] lists all
	// mistakes. The strings of a rule need to be valid only until add returns, so that a large file
	// leaves no garbage.
	Read(ctx context.Context, add func(resolver.Rule)) (version string, err error)

	// Watch calls changed whenever the rules may differ from version, which an earlier Read returned.
	// It also calls it when the source becomes unreadable or readable again. It returns when ctx ends.
	// changed returns at once.
	Watch(ctx context.Context, version string, changed func())
}

// Annotated is a [Source] that provides more than rules.
type Annotated interface {
	Source

	// Remarks returns the remarks of the last Read, or of an Edit since then.
	Remarks() Remarks

	// Locate finds the lines and columns of rules on request: what serves has only the name of the
	// source. It passes all rules to seen, as Read does, if they still have this version, which Read
	// has returned. Otherwise, or if there are no lines, it returns false, and what it has passed
	// means nothing. It may be called at any time, also while Read runs, and does not affect that.
	Locate(ctx context.Context, version string, seen func(resolver.Rule)) (isThere bool)
}

// Remarks are what a source provides besides its rules.
type Remarks struct {
	// Expectations are tests that the rules must pass before they serve.
	Expectations PlacedExpectations
	// Warnings say where the rules, as they are written, may not do what their author expects,
	// sorted by position.
	Warnings []lint.Warning
}

// RemarksOf returns the remarks of a source, if it has any.
func RemarksOf(source Source) (remarks Remarks) {
	if source, does := source.(Annotated); does {
		remarks = source.Remarks()
	}
	return remarks
}

// Measured is a [Source] that knows how much there is to read.
type Measured interface {
	Source

	// Size returns how many bytes there are to read, or 0 if that is not known.
	Size(ctx context.Context) int64
	// Done returns how many of them the present or last Read has read. The function that Read
	// passes rules to may call it.
	Done() int64
}

// Writable is a [Source] whose rules can be edited through Caddy's admin endpoint.
type Writable interface {
	Source

	// Writable returns why the rules cannot be edited, or nil.
	Writable() error

	// Written returns a rule as the source has it, for people who change it there: a member, a row,
	// lines, or a command that sets it. The error says why the source cannot have the rule.
	Written(rule resolver.Rule) (string, error)

	// Edit makes the changes of an edit, all or none. If the rules are no longer those of version,
	// which Read has returned, it changes nothing and returns [ErrChanged]. Rules are written as a
	// whole: after an error all are there, or none. Other rules stay as they are. The error is a
	// [rulefile.Errors] if some rules cannot be written. It is [ErrNotWritable] or [ErrUnavailable] if
	// none can.
	//
	// If the source now holds the old rules with exactly this edit, Edit returns their version and
	// updates Remarks. Otherwise it returns "" and the source is read again.
	Edit(ctx context.Context, version string, edit rulefile.Edit) (newVersion string, err error)
}

// ErrChanged is the error of an edit of rules that have changed since they were read.
var ErrChanged = errors.New("the source has changed since its rules were read; try again")

// Errors of edits that the source does not take, whatever the rule.
var (
	// ErrNotWritable says that somebody has to change something first, such as the source's
	// permissions.
	ErrNotWritable = errors.New("the source cannot be edited")
	// ErrUnavailable says that a later try may succeed.
	ErrUnavailable = errors.New("the source cannot be edited now")
)

// ErrBeingWritten is the error of a source that is being written: another try, a moment later, may
// succeed.
var ErrBeingWritten = errors.New("the source is being written")

// Emptiable is a [Source] whose configuration says whether it may lose all its rules. Any other
// source that had rules, and is read with none, is refused.
type Emptiable interface {
	Source

	// AllowsEmpty reports whether the source may lose all its rules.
	AllowsEmpty() bool
}

// Observed is a [Source] that knows whether it can be read. The admin endpoint, the command status
// and the metrics report its outages. An outage goes on over a reload of the configuration.
type Observed interface {
	Source

	// Reach returns the source's reachability; always the same pointer.
	Reach() *Reachability
}
