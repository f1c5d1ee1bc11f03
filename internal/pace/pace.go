// Package pace lets requests run while rules are loaded: long work pauses for a moment every
// millisecond. It imports nothing of the module, and whatever loads rules may import it.
package pace

import (
	"sync/atomic"
	"time"
)

// Pacer divides work into short turns, with a rest after each. A rest is a sleep, because only an
// idle processor polls the network at once. Several goroutines can share a pacer.
type Pacer struct {
	made  time.Time
	turn  atomic.Int64 // when it began, in nanoseconds since then
	rests atomic.Bool  // set by Begin
}

const (
	turnTime = time.Millisecond
	restTime = 50 * time.Microsecond
)

// New returns a pacer whose first turn begins now.
func New() *Pacer {
	p := Later()
	p.Begin()
	return p
}

// Later returns a pacer that does not rest until Begin is called, for a start, when nothing serves
// yet.
func Later() *Pacer { return &Pacer{made: time.Now()} }

// Begin makes the pacer rest from now on.
func (p *Pacer) Begin() { p.rests.Store(true) }

// Pause rests if the turn is over. Long work calls it often.
func (p *Pacer) Pause() {
	if p.rests.Load() && time.Since(p.made)-time.Duration(p.turn.Load()) >= turnTime {
		time.Sleep(restTime)
		p.turn.Store(int64(time.Since(p.made)))
	}
}
