package source

import (
	"context"
	"errors"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// Changing is a [Source] that knows which of its rules may have changed, so that a change costs no
// more than the rules that it is of.
type Changing interface {
	Source

	// ReadChanges passes what may be otherwise than the rules that serve: a rule that is there goes
	// to set, and the key of one that is not to remove. It returns the version of all rules then.
	// After an error nothing of it counts, and the next call passes the same again with what has
	// changed since. The error is as that of Read, or [ErrUnknownChanges], which it also is where no
	// rule is left: whether there may be none is decided when all is read.
	ReadChanges(
		ctx context.Context, set func(resolver.Rule), remove func(key string),
	) (version string, err error)
}

// ErrUnknownChanges is the error of a source that does not know what has changed, so that all its
// rules have to be read.
var ErrUnknownChanges = errors.New("the source does not know which rules have changed")

// ReadLent is from.Read for who keeps no rule: texts may be good only until add returns, so that a
// large file leaves nothing behind. A source that another one is made of is read as that says.
func ReadLent(
	ctx context.Context, from Source, add func(resolver.Rule),
) (version string, err error) {
	switch s := from.(type) {
	case *File:
		return s.read(ctx, true, add)
	case *Storage:
		return s.read(ctx, true, add)
	}
	return from.Read(ctx, add)
}

// Locating is a [Source] that can say in which line and column a rule stands, where somebody asks:
// a ruleset that serves has the source alone.
type Locating interface {
	Source

	// Locate passes all rules to seen, as [ReadLent] does, if they are still those of version, which
	// Read has returned. Otherwise it returns false, and what it has passed means nothing. It can be
	// called at any time, also while Read runs, and changes nothing of what that returns.
	Locate(ctx context.Context, version string, seen func(resolver.Rule)) (isThere bool)
}

// Rewriting is a [Writable] that tells what has become of it by an edit, so that nobody has to read
// it again.
type Rewriting interface {
	Writable

	// Rewrite is Edit that returns the version of what it has written, for the rules that are there
	// then: the old ones with the edit made. It passes them to add as [ReadLent] does, if their
	// positions may be others than before, and then Warnings and Expectations are theirs; where they
	// are many, it leaves time to requests in between. After an error nothing of that counts.
	Rewrite(
		ctx context.Context, version string, edit rulefile.Edit, add func(resolver.Rule),
	) (newVersion string, err error)
}
