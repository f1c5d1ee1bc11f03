package source

import (
	"fmt"
	"sync"
	"time"
)

// Outage is a time during which a source cannot be read.
type Outage struct {
	// Since is when it was noticed.
	Since time.Time
	// Err is its cause, as of the last attempt.
	Err error
	// StoredCopy says that the last Read returned a stored copy of the rules, and CopyTime when
	// that was stored; zero if that is not known.
	StoredCopy bool
	CopyTime   time.Time
}

// Reachability says whether a source can be read; the zero value says that it can. Its methods may
// be called concurrently.
type Reachability struct {
	// ~, if not empty, is the key in Caddy's storage for a copy of the last good rules. The handler
	// keeps the copy. It is read if Caddy starts, or a command runs, during an outage; Watch then gets
	// a version that no Read has returned. Sources of the same rules have the same key. It is set when
	// the source is provisioned.
	CopyKey string

	// ~, if not nil, is called with the version of rules that begin to serve, unless Watch is. So a
	// source can remember what has served, for example to refuse what is older. It returns at once.
	Served func(version string)

	// StartsWithout says that a handler may start without the rules while the source cannot be read
	// and has no stored copy. It is set when the source is provisioned.
	StartsWithout bool

	mu     sync.Mutex
	outage *Outage // nil for none; never changed in place
}

// Outage returns the present outage, or nil.
func (r *Reachability) Outage() *Outage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.outage
}

// Continue takes over the outage of another source, before this one has noted anything.
func (r *Reachability) Continue(outage *Outage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outage = outage
}

// Fail records that the source cannot be read, and why.
func (r *Reachability) Fail(err error) {
	r.change(func(outage *Outage) { outage.Err = err })
}

// UseCopy records that the source cannot be read, and why, and that a stored copy stands in for it.
func (r *Reachability) UseCopy(err error, stored time.Time) {
	r.change(func(outage *Outage) {
		outage.Err, outage.StoredCopy, outage.CopyTime = err, true, stored
	})
}

// change changes the present outage, or begins one.
func (r *Reachability) change(set func(*Outage)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := Outage{Since: time.Now()}
	if r.outage != nil {
		next = *r.outage
	}
	set(&next)
	r.outage = &next
}

// Succeed records that the source can be read.
func (r *Reachability) Succeed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outage = nil
}

// ReachOf returns a source's reachability, or nil if it does not record that.
func ReachOf(source Source) *Reachability {
	if observed, does := source.(Observed); does {
		return observed.Reach()
	}
	return nil
}

// OutageOf returns the present outage of a source, or nil.
func OutageOf(source Source) *Outage {
	if reach := ReachOf(source); reach != nil {
		return reach.Outage()
	}
	return nil
}

// NoteOfCopy says that a stored copy of a source's rules was read instead; "" if not.
func NoteOfCopy(source Source) string {
	outage := OutageOf(source)
	if outage == nil || !outage.StoredCopy {
		return ""
	}
	of := ""
	if !outage.CopyTime.IsZero() {
		of = " of " + outage.CopyTime.Format(time.RFC3339)
	}
	return fmt.Sprintf("it cannot be reached, and a stored copy of its rules%s was read: %v",
		of, outage.Err)
}
