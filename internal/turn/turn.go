// Package turn has what goroutines that take turns wait for: a [Lock], a [Signal] and a pause.
//
// All are channels, because tests with synctest see a goroutine that waits for a channel, but not
// one that waits for a mutex. The package imports nothing of the module.
package turn

import (
	"context"
	"time"
)

// Lock is a lock that can be given up waiting for.
type Lock chan struct{}

// NewLock returns a lock that nobody holds.
func NewLock() Lock { return make(Lock, 1) }

// Lock waits for the lock.
func (l Lock) Lock() { l <- struct{}{} }

// LockWithin is Lock for at most as long as ctx lasts. It reports whether the lock is held.
func (l Lock) LockWithin(ctx context.Context) bool {
	select {
	case l <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// Unlock releases the lock.
func (l Lock) Unlock() { <-l }

// Signal holds a value when something has happened, however often.
type Signal chan struct{}

// NewSignal returns a signal of what has not happened yet.
func NewSignal() Signal { return make(Signal, 1) }

// Raise signals that it has happened.
func (s Signal) Raise() {
	select {
	case s <- struct{}{}:
	default: // a signal that is waiting covers this one
	}
}

// Wait returns after a pause or when ctx ends.
func Wait(ctx context.Context, pause time.Duration) {
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
}
