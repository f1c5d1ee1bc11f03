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
	// lastCopy is how long after the end of a configuration copies may be stored.
	lastCopy = 10 * time.Second
)

// copyVersion is the version of rules that come from a stored copy.
const copyVersion = "stored copy"

// storedCopy is what is known of the copy in Caddy's storage of a source's rules.
type storedCopy struct {
	due     chan struct{} // holds a value when other rules serve, perhaps
	mu      sync.Mutex    // held by the one who stores it
	version string        // of what has been stored last
}

// outlive lets copies be stored for a while when the configuration has ended.
func (rs *Ruleset) outlive() {
	lasting, end := context.WithCancel(context.WithoutCancel(rs.Context))
	context.AfterFunc(rs.Context, func() { time.AfterFunc(lastCopy, end) })
	rs.lasting = lasting
}

// keepCopy keeps the copy of the i-th source up to date until the configuration ends. What is left
// then is stored by who follows the source next, or by storeLastCopies.
func (rs *Ruleset) keepCopy(i int, key string) {
	copied := rs.shared.copies[i]
	for raise(copied.due); ; {
		select {
		case <-rs.Context.Done():
			return
		case <-copied.due:
		}
		// no longer than that where the storage's clock is ahead
		wait(rs.Context, min(copyPause, time.Until(rs.copyTime(rs.lasting, key).Add(copyPause))))
		if rs.Context.Err() != nil {
			return
		}
		begun := time.Now()
		if !rs.storeCopy(i, key) {
			raise(copied.due)
		}
		wait(rs.Context, max(copyPause, copyShare*time.Since(begun)))
	}
}

// storeLastCopies stores what is left to be stored when nobody follows the sources any more.
func (rs *Ruleset) storeLastCopies() {
	stored := make(chan struct{})
	go func() {
		defer close(stored)
		for i, from := range rs.Sources {
			if key := copyKeyOf(from); key != "" {
				rs.storeCopy(i, key)
			}
		}
	}()
	select {
	case <-stored:
	case <-rs.lasting.Done():
	}
}

// copyKeyOf returns where a copy of a source's rules is stored, "" where none is.
func copyKeyOf(from source.Source) string {
	if reach := source.ReachOf(from); reach != nil {
		return reach.CopyKey
	}
	return ""
}

// copyTime returns when a copy was stored, or zero where the storage does not know.
func (rs *Ruleset) copyTime(ctx context.Context, key string) time.Time {
	info, err := rs.Context.Storage().Stat(ctx, key)
	if err != nil {
		return time.Time{}
	}
	return info.Modified
}

// storeCopy stores the rules of the i-th source that serve, and reports whether they are stored.
func (rs *Ruleset) storeCopy(i int, key string) (isStored bool) {
	err := rs.tryToStoreCopy(i, key)
	if err != nil {
		rs.logger.Error("storing a copy of the rules of a source failed",
			zap.Stringer("source", rs.Sources[i]), zap.Error(err))
	}
	return err == nil
}

// tryToStoreCopy stores them, unless they are what has been stored last.
func (rs *Ruleset) tryToStoreCopy(i int, key string) error {
	copied := rs.shared.copies[i]
	copied.mu.Lock()
	defer copied.mu.Unlock()
	serving := rs.Serving()
	version := serving.versions[i]
	if version == copied.version || version == copyVersion {
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
		err = rs.Context.Storage().Store(rs.lasting, key, b.Bytes())
	}
	if err == nil {
		copied.version = version
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
		key := copyKeyOf(from)
		if key == "" || !rs.Context.Storage().Exists(rs.Context, key) {
			continue
		}
		if outage := source.OutageOf(from); outage != nil {
			with[i], found = standIn{from, rs, key, outage}, true
		}
	}
	return with, found
}

// standIn is the stored copy of a source.
type standIn struct {
	source.Source
	rs     *Ruleset
	key    string
	outage *source.Outage
}

// Read passes the rules of the copy.
func (s standIn) Read(ctx context.Context, add func(resolver.Rule)) (version string, err error) {
	rules := 0
	b, err := s.rs.Context.Storage().Load(ctx, s.key)
	if err == nil {
		err = rulefile.ReadJSON(bytes.NewReader(b), s.String(), func(rule resolver.Rule) {
			rules++
			rule.Position = resolver.Position{Source: s.String()}
			add(rule)
		})
	}
	if err != nil {
		return "", fmt.Errorf("%w; nor can its stored copy: %w", s.outage.Err, err)
	}
	stored := s.rs.copyTime(ctx, s.key)
	s.rs.Context.Logger().Warn("a source cannot be read; serving the stored copy of its rules",
		zap.Stringer("source", s), zap.Error(s.outage.Err), zap.Int("rules", rules),
		zap.Time("stored", stored))
	source.ReachOf(s.Source).UseCopy(s.outage.Err, stored)
	return copyVersion, nil
}

// wait returns after a pause or when ctx ends.
func wait(ctx context.Context, pause time.Duration) {
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
}
