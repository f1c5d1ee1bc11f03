package shortlink

import (
	"sync/atomic"
	"time"
)

// pacer lets requests run while rules are loaded: work in short turns, a rest after each. A rest is a
// sleep, since only an idle processor looks at the network at once. Several goroutines can share it.
type pacer struct {
	made time.Time
	turn atomic.Int64 // when it began, in nanoseconds since then
}

const (
	turnTime = time.Millisecond
	restTime = 50 * time.Microsecond
)

func newPacer() *pacer { return &pacer{made: time.Now()} }

// pause rests when the turn is over.
func (p *pacer) pause() {
	if time.Since(p.made)-time.Duration(p.turn.Load()) >= turnTime {
		time.Sleep(restTime)
		p.turn.Store(int64(time.Since(p.made)))
	}
}
