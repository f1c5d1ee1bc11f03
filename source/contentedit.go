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

// contentEdit is an edit of content in progress: the old content is read and copied, the new
// content is written once and read back once.
type contentEdit struct {
	content *content
	ctx     context.Context
	pause   func()
	plan    *rulefile.Plan
	beside  siblings
	// Set when the new content has been read back.
	expected PlacedExpectations
	warnings []lint.Warning
	version  string
}

// planEdit reads the old content, which read passes, and plans the edit. The content must have the
// version.
func (c *content) planEdit(
	ctx context.Context, read func(context.Context, func(io.Reader) error) error, version string,
	edit rulefile.Edit,
) (*contentEdit, error) {
	if err := c.writable(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotWritable, err)
	}
	w := &contentEdit{content: c, ctx: ctx, pause: pace.New().Pause}
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

// copyTo writes the new content, which is made from old, and returns its digest.
func (w *contentEdit) copyTo(to io.Writer, old io.ReaderAt) (digest uint64, err error) {
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

// Write discards the piece.
func (p pausing) Write(piece []byte) (int, error) {
	p.pause()
	return len(piece), p.ctx.Err()
}

// errDamaged is the error of an edited copy that does not hold what was written to it.
var errDamaged = errors.New("the edited copy does not hold what was written to it, and has been " +
	"removed; check the disk")

// check reads back what was written, which must have the digest.
func (w *contentEdit) check(written io.Reader, digest uint64) error {
	r := newReading(w.ctx, written, w.pause)
	var wrong error
	w.warnings, wrong = w.plan.Read(r, func(resolver.Rule) {})
	if _, err := io.Copy(io.Discard, r); err != nil {
		return err
	}
	if r.digest() != digest {
		return errDamaged // the cause of all other errors
	}
	w.version = r.version(w.beside)
	return wrong
}

// install calls put to replace the old content, and returns the new version. Polls do not take that
// for a change. The version is empty for _redirects, whose lines are read as rules that differ from
// those written, for example in the status.
func (w *contentEdit) install(put func() error) (version string, err error) {
	c := w.content
	if err := c.seen.recordWrite(w.version, put); err != nil {
		return "", err
	}
	c.expected, c.warnings = w.expected, w.warnings
	c.rejected.Store(nil)
	if c.format == rulefile.Redirects {
		return "", nil
	}
	return w.version, nil
}
