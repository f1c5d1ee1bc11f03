package live

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/internal/pace"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

const (
	// copyPause is how old a stored copy is before it is replaced, also by another server that
	// shares the storage: storing it holds all of it in memory.
	copyPause = time.Minute
	// copyShare is how many times the duration of making a copy passes before the next copy.
	copyShare = 100
	// lastCopy is how long after the end of a configuration copies may still be stored.
	lastCopy = 10 * time.Second
)

// copyVersion is the version of rules from a stored copy.
const copyVersion = "stored copy"

// storedCopy is the state of a source's copy in Caddy's storage.
type storedCopy struct {
	due     chan struct{} // holds a value when the rules may have changed
	storing turn          // held while the copy is stored
	version string        // of what has been stored last
}

// outlive lets copies be stored for a while after the configuration has ended.
func (rs *Ruleset) outlive() {
	lasting, end := context.WithCancel(context.WithoutCancel(rs.Context))
	context.AfterFunc(rs.Context, func() { time.AfterFunc(lastCopy, end) })
	rs.lasting = lasting
}

// copying stores copies of a source's rules.
type copying struct {
	rs  *Ruleset
	i   int    // the source's index
	key string // of the copy in Caddy's storage
}

// run keeps the copy up to date until the configuration ends. The next follower of the source, or
// storeLastCopies, stores what is left then.
func (c copying) run() {
	ctx, due := c.rs.Context, c.rs.shared.copies[c.i].due
	for raise(due); ; {
		select {
		case <-ctx.Done():
			return
		case <-due:
		}
		// random, so that one of several servers stores it and the others see that
		for left := c.rest(); left > 0 && ctx.Err() == nil; left = c.rest() {
			wait(ctx, left+rand.N(copyPause/4))
		}
		if ctx.Err() != nil {
			return
		}
		begun := time.Now()
		if !c.store() {
			raise(due)
		}
		wait(ctx, max(copyPause, copyShare*time.Since(begun)))
	}
}

// rest returns how long the copy stays as it is: at most copyPause, if the storage's clock is
// ahead.
func (c copying) rest() time.Duration {
	stored := copyTime(c.rs.lasting, c.rs.Context.Storage(), c.key)
	return min(copyPause, time.Until(stored.Add(copyPause)))
}

// storeLastCopies stores the remaining copies when nobody follows the sources any more.
func (rs *Ruleset) storeLastCopies() {
	stored := make(chan struct{})
	go func() {
		defer close(stored)
		for i, from := range rs.Sources {
			if key := copyKeyOf(from); key != "" {
				copying{rs, i, key}.store()
			}
		}
	}()
	select {
	case <-stored:
	case <-rs.lasting.Done():
	}
}

// copyKeyOf returns the storage key of a source's copy, or "" if it has none.
func copyKeyOf(from source.Source) string {
	if reach := source.ReachOf(from); reach != nil {
		return reach.CopyKey
	}
	return ""
}

// copyTime returns when a copy was stored, or zero if the storage does not know.
func copyTime(ctx context.Context, storage certmagic.Storage, key string) time.Time {
	info, err := storage.Stat(ctx, key)
	if err != nil {
		return time.Time{}
	}
	return info.Modified
}

// store stores the rules that serve, and reports whether it succeeded.
func (c copying) store() (isStored bool) {
	err := c.tryToStore()
	if err != nil {
		c.rs.logger.Error("storing a copy of the rules of a source failed",
			zap.Stringer("source", c.rs.Sources[c.i]), zap.Error(err))
	}
	return err == nil
}

// tryToStore stores the rules, unless they are what was stored last.
func (c copying) tryToStore() error {
	copied := c.rs.shared.copies[c.i]
	copied.storing.Lock()
	defer copied.storing.Unlock()
	serving := c.rs.Serving()
	version := serving.versions[c.i]
	if version == copied.version || version == copyVersion {
		return nil
	}
	pause, n := pace.New().Pause, 0
	rules := func(yield func(resolver.Rule) bool) {
		for rule := range serving.RulesOf(c.i + 1) {
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
		err = c.rs.Context.Storage().Store(c.rs.lasting, c.key, b.Bytes())
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

// withCopies returns sources in which stored copies replace those that cannot be read.
func (rs *Ruleset) withCopies(sources []source.Source) (with []source.Source, found bool) {
	with = slices.Clone(sources)
	for i, from := range sources {
		key, outage := copyKeyOf(from), source.OutageOf(from)
		if key != "" && outage != nil && rs.Context.Storage().Exists(rs.Context, key) {
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
	stored := copyTime(ctx, s.rs.Context.Storage(), s.key)
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
