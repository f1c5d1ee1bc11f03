package redis

import (
	"context"
	"math/rand/v2"
	"time"
)

// A server that is back is noticed within the longest pause, and one that loses a connection once
// more within two of them: 2 s in all. A refused try costs little.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 800 * time.Millisecond
)

// backoff says how long to wait between tries. Pauses double up to the longest. A random part of up
// to a half is cut off, so that the servers of a fleet do not all come back at once.
type backoff struct {
	pause time.Duration
}

// reset starts over after a successful try.
func (b *backoff) reset() { b.pause = 0 }

// next returns the next pause.
func (b *backoff) next() time.Duration {
	b.pause = min(max(2*b.pause, firstPause), longestPause)
	return b.pause - rand.N(b.pause/2+1)
}

// wait returns after a pause or when ctx ends.
func wait(ctx context.Context, pause time.Duration) { waitFor(ctx, pause, nil) }

// waitFor is wait that also returns when a signal is raised.
func waitFor(ctx context.Context, pause time.Duration, happened signal) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-happened:
	case <-ctx.Done():
	}
}
