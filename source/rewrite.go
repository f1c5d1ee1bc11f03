package source

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"

	"github.com/caddy-shortlink/shortlink/internal/pace"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// rewrite is an edit of content on its way: the old content is read and copied, the new one is
// written once, and what has been written is read once.
type rewrite struct {
	content *content
	ctx     context.Context
	pause   func()
	plan    *rulefile.Plan
	beside  siblings
	// What is known of the new content when it has been read.
	expected PlacedExpectations
	warnings []lint.Warning
	version  string
}

// planRewrite reads the old content, which read passes and which has to be that of a version.
func (c *content) planRewrite(
	ctx context.Context, read func(context.Context, func(io.Reader) error) error, version string,
	edit rulefile.Edit,
) (*rewrite, error) {
	if err := c.writable(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotWritable, err)
	}
	w := &rewrite{content: c, ctx: ctx, pause: pace.New().Pause}
	edit.Reading = c.lending()
	var wrong error
	now, err := c.readAll(ctx, read, w.pause, func(r *reading, beside siblings) bool {
		w.beside = beside
		w.plan, wrong = edit.Plan(r, c.format, c.name)
		return false
	})
	switch {
	case errors.Is(err, ErrBeingWritten), err == nil && now != version:
		return nil, ErrChanged
	case err != nil:
		return nil, err
	case wrong != nil:
		return nil, wrong
	}
	w.expected, err = parseExpectations(w.beside.expectations, c.expectName)
	return w, err
}

// copyTo writes the new content, of which old is the old one, and returns a digest of it.
func (w *rewrite) copyTo(to io.Writer, old io.ReadSeeker) (digest uint64, err error) {
	var sum maphash.Hash
	sum.SetSeed(contentSeed)
	err = w.plan.Copy(io.MultiWriter(to, &sum, pausing{w.ctx, w.pause}), old)
	return sum.Sum64(), err
}

// pausing is a writer that pauses after each piece, until a context ends.
type pausing struct {
	ctx   context.Context
	pause func()
}

// Write writes nothing.
func (p pausing) Write(piece []byte) (int, error) {
	p.pause()
	return len(piece), p.ctx.Err()
}

// errDamaged is the error of an edited copy that does not hold what was written.
var errDamaged = errors.New("the edited copy does not hold what was written to it, and has been " +
	"removed; look after the disk")

// check reads what has been written, which has to have a digest.
func (w *rewrite) check(written io.Reader, digest uint64) error {
	r := newReading(w.ctx, written, w.pause)
	var wrong error
	w.warnings, wrong = w.plan.Read(r, func(resolver.Rule) {})
	if _, err := io.Copy(io.Discard, r); err != nil {
		return err
	}
	if r.digest() != digest {
		return errDamaged // which is what else is wrong, too
	}
	w.version = r.version(w.beside)
	return wrong
}

// place lets put bring the new content to its place. No poll takes that for a change. The version
// is empty for lines of _redirects, which are read as other rules than they were written for, such
// as with a status.
func (w *rewrite) place(put func() error) (version string, err error) {
	c := w.content
	if err := c.seen.place(w.version, put); err != nil {
		return "", err
	}
	c.warnings = w.warnings
	c.refused.Store(nil)
	if c.format == rulefile.Redirects {
		return "", nil
	}
	return w.version, nil
}
