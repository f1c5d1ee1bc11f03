package copies

import (
	"bytes"
	"context"
	"io"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/internal/pace"
	"github.com/caddy-shortlink/shortlink/internal/turn"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

const (
	// Pause is how old a stored copy is before it is replaced, also by another server that shares
	// the storage: storing it holds all of it in memory.
	Pause = time.Minute
	// share is how many times the duration of making a copy passes before the next copy.
	share = 100
)

// The versions of rules that are not stored.
const (
	Version   = "stored copy" // of rules from a stored copy
	NeverRead = "never read"  // of no rules, as their source has never been read
)

// Copy is the state of a source's copy in Caddy's storage.
type Copy struct {
	Due     turn.Signal // the rules may have changed
	storing turn.Lock   // held while the copy is stored
	version string      // of what has been stored last
}

// New returns a copy that has not been stored yet.
func New() *Copy { return &Copy{Due: turn.NewSignal(), storing: turn.NewLock()} }

// Writer stores copies of a source's rules.
type Writer struct {
	*Copy
	Key     string // of the copy in the storage
	Storage certmagic.Storage
	// Lasting ends when the copy can no longer be stored, some time after the configuration.
	Lasting context.Context
	Logger  *zap.Logger
	// Serving returns the version of the source that serves, and its rules.
	Serving func() (version string, rules iter.Seq[resolver.Rule])
}

// Run keeps the copy up to date until ctx ends: that of the configuration. The next follower of the
// source, or the last Store, stores what is left then.
func (w Writer) Run(ctx context.Context) {
	for w.Due.Raise(); ; {
		select {
		case <-ctx.Done():
			return
		case <-w.Due:
		}
		// random, so that one of several servers stores it and the others see that
		for left := w.rest(); left > 0 && ctx.Err() == nil; left = w.rest() {
			turn.Wait(ctx, left+rand.N(Pause/4))
		}
		if ctx.Err() != nil {
			return
		}
		begun := time.Now()
		if !w.Store() {
			w.Due.Raise()
		}
		turn.Wait(ctx, max(Pause, share*time.Since(begun)))
	}
}

// rest returns how long the copy stays as it is: at most Pause, if the storage's clock is ahead.
func (w Writer) rest() time.Duration {
	return min(Pause, time.Until(storedAt(w.Lasting, w.Storage, w.Key).Add(Pause)))
}

// storedAt returns when a copy was stored, or zero if the storage does not know.
func storedAt(ctx context.Context, storage certmagic.Storage, key string) time.Time {
	info, err := storage.Stat(ctx, key)
	if err != nil {
		return time.Time{}
	}
	return info.Modified
}

// Store stores the rules that serve, and reports whether it succeeded.
func (w Writer) Store() (isStored bool) {
	err := w.store()
	if err != nil {
		w.Logger.Error("storing a copy of the rules of a source failed", zap.Error(err))
	}
	return err == nil
}

// store stores the rules, unless they are what was stored last.
func (w Writer) store() error {
	w.storing.Lock()
	defer w.storing.Unlock()
	version, serving := w.Serving()
	if version == w.version || version == Version || version == NeverRead {
		return nil
	}
	pause, n := pace.New().Pause, 0
	rules := func(yield func(resolver.Rule) bool) {
		for rule := range serving {
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
		err = w.Storage.Store(w.Lasting, w.Key, b.Bytes())
	}
	if err == nil {
		w.version = version
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
