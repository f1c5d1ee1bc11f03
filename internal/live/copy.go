package live

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/internal/pace"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

const (
	// copyPause is how old a stored copy is, at least, when it is replaced, also by another server that
	// shares the storage: all of it is in memory while it is stored.
	copyPause = time.Minute
	// copyShare is how many times as long as making a copy the pause is that follows it.
	copyShare = 100
)

// storedCopy is what is known of the copy in Caddy's storage of a [source.Copied]'s rules.
type storedCopy struct {
	due     chan struct{} // holds a value when other rules serve, perhaps
	mu      *sync.Mutex
	version *string // of what has been stored last
}

func newStoredCopy() storedCopy {
	return storedCopy{make(chan struct{}, 1), new(sync.Mutex), new(string)}
}

// keepCopy keeps the copy of the i-th source up to date until the configuration is unloaded, and
// then stores what is left.
func (rs *Ruleset) keepCopy(i int, of source.Copied) {
	copied, ctx := rs.shared.copies[i], context.WithoutCancel(rs.Context)
	for {
		select {
		case <-rs.Context.Done():
			select {
			case <-copied.due:
				rs.storeCopy(ctx, i, of)
			default:
			}
			return
		case <-copied.due:
		}
		// no longer than that where the storage's clock is ahead
		wait(rs.Context, min(copyPause, time.Until(rs.copyTime(ctx, of).Add(copyPause))))
		begun := time.Now()
		if !rs.storeCopy(ctx, i, of) && rs.Context.Err() == nil {
			raise(copied.due)
		}
		wait(rs.Context, max(copyPause, copyShare*time.Since(begun)))
	}
}

// copyTime returns when a copy was stored, or zero where the storage does not know.
func (rs *Ruleset) copyTime(ctx context.Context, of source.Copied) time.Time {
	info, err := rs.Context.Storage().Stat(ctx, of.CopyKey())
	if err != nil {
		return time.Time{}
	}
	return info.Modified
}

// storeCopy stores the rules of the i-th source that serve, and reports whether they are stored.
func (rs *Ruleset) storeCopy(ctx context.Context, i int, of source.Copied) (isStored bool) {
	err := rs.tryToStoreCopy(ctx, i, of)
	if err != nil {
		rs.logger.Error("storing a copy of the rules of a source failed",
			zap.Stringer("source", of), zap.Error(err))
	}
	return err == nil
}

// tryToStoreCopy stores them, unless they are what has been stored last.
func (rs *Ruleset) tryToStoreCopy(ctx context.Context, i int, of source.Copied) error {
	serving, copied := rs.Serving(), rs.shared.copies[i]
	copied.mu.Lock()
	defer copied.mu.Unlock()
	version := serving.versions[i]
	if outage := of.Outage(); version == *copied.version || outage != nil && outage.StoredCopy {
		return nil
	}
	pause, n := pace.New().Pause, 0
	rules := func(yield func(resolver.Rule) bool) {
		for rule := range serving.Ruleset.RulesOf(i + 1) {
			if n++; n%64 == 0 {
				pause()
			}
			if !yield(rule) {
				return
			}
		}
	}
	var size counter // so that the copy is in memory once
	var b bytes.Buffer
	err := rulefile.WriteJSON(&size, rules)
	if err == nil {
		b.Grow(int(size))
		err = rulefile.WriteJSON(&b, rules)
	}
	if err == nil {
		err = rs.Context.Storage().Store(ctx, of.CopyKey(), b.Bytes())
	}
	if err == nil {
		*copied.version = version
	}
	return err
}

// counter counts bytes.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

var _ io.Writer = (*counter)(nil)

// withCopies returns sources of which stored copies stand in for those that cannot be read.
func (rs *Ruleset) withCopies(sources []source.Source) (with []source.Source, found bool) {
	with = slices.Clone(sources)
	for i, from := range sources {
		of, ok := from.(source.Copied)
		if !ok || of.Outage() == nil || !rs.Context.Storage().Exists(rs.Context, of.CopyKey()) {
			continue
		}
		with[i], found = standIn{of, rs}, true
	}
	return with, found
}

// standIn is the stored copy of a source.
type standIn struct {
	source.Copied
	rs *Ruleset
}

// Read passes the rules of the copy.
func (s standIn) Read(ctx context.Context, add func(resolver.Rule)) (version string, err error) {
	b, err := s.rs.Context.Storage().Load(ctx, s.CopyKey())
	if err != nil {
		return "", err
	}
	rules := 0
	err = rulefile.ReadJSON(bytes.NewReader(b), s.String(), func(rule resolver.Rule) {
		rules++
		rule.Position = resolver.Position{Source: s.String()}
		add(rule)
	})
	if err != nil {
		return "", fmt.Errorf("%w; nor can its stored copy: %w", s.Outage().Err, err)
	}
	s.UseCopy(rules, s.rs.copyTime(ctx, s.Copied))
	return "stored copy", nil
}

// wait returns after a pause or when ctx ends.
func wait(ctx context.Context, pause time.Duration) {
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
}
