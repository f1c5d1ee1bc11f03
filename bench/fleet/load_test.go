//go:build linux

package fleet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// fleet is some servers that share their rules, with requests and writes that go on.
type fleet struct {
	lab     *lab
	servers []*server
	ledger  ledger
	// write writes a rule where all servers read it. It succeeds only if the rule is there to stay.
	write func(ctx context.Context, key, destination string) error
	// stored returns the rules of each site, where servers read them.
	stored func(ctx context.Context) ([]map[string]string, error)

	// isEdited says that servers edit the rules, too.
	isEdited bool

	writing sync.RWMutex // read-locked while a rule is written; locked while none may be

	mu       sync.Mutex
	requests int
	failed   []error
	writes   int
	edits    int
	stepBack bool // whether an older version may follow a newer one

	round atomic.Int64 // counts faults
}

// run sends requests and writes until the test ends.
func (f *fleet) run(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var workers sync.WaitGroup
	t.Cleanup(func() {
		stop()
		workers.Wait()
	})
	for _, s := range f.servers {
		for site := range s.sites {
			for range 2 {
				workers.Go(func() { f.ask(ctx, s, site) })
			}
		}
	}
	workers.Go(func() { f.change(ctx, &f.writes, 0, written, f.write) })
	if f.isEdited {
		workers.Go(func() { f.change(ctx, &f.edits, written, edited, f.edit) })
	}
}

// ask sends requests to a site, one after the other, and judges the answers.
func (f *fleet) ask(ctx context.Context, s *server, site int) {
	var seen [all]int // the version of the last answer in a round
	n := written
	if site == 0 {
		n = all
	}
	for round := int64(0); ctx.Err() == nil; {
		if now := f.round.Load(); now != round {
			round, seen = now, [all]int{}
		}
		i := rand.N(n)
		outages := s.outages.Load()
		url, err := s.locationOf(site, i)
		if s.isDown.Load() || s.outages.Load() != outages {
			seen = [all]int{}
			pause(ctx, 10*time.Millisecond)
			continue
		}
		var version int
		if err == nil {
			version, err = f.ledger.check(i, url)
		}
		f.judge(s, site, i, err, version, seen[i])
		seen[i] = version
		pause(ctx, 15*time.Millisecond)
	}
}

// judge counts a request, and what was wrong with its answer.
func (f *fleet) judge(s *server, site, i int, err error, version, before int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests++
	if err == nil && version < before && !f.stepBack {
		err = fmt.Errorf("%s leads to its version %d again, after %d", key(i), version, before)
	}
	if err != nil {
		f.failed = append(f.failed, fmt.Errorf("%s, %s, %s: %w", time.Now().Format("05.000"), s.host,
			s.sites[site].name, err))
	}
}

// change writes versions of n keys, from the first on, one after the other, and counts those that
// succeed.
func (f *fleet) change(ctx context.Context, done *int, first, n int,
	write func(ctx context.Context, key, to string) error) {
	for ; ctx.Err() == nil; pause(ctx, 20*time.Millisecond) {
		f.writing.RLock()
		i := first + rand.N(n)
		version := f.ledger.begin(i)
		short, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := write(short, key(i), destination(i, version))
		cancel()
		if err == nil {
			f.ledger.succeed(i, version)
			f.mu.Lock()
			*done++
			f.mu.Unlock()
		}
		f.writing.RUnlock()
	}
}

// edit makes a rule through any server that the test has not killed.
func (f *fleet) edit(_ context.Context, key, to string) error {
	s := f.servers[rand.N(len(f.servers))]
	if s.isDown.Load() {
		return errors.New("the server is down")
	}
	return s.edit(key, to)
}

// pause returns after a while, or when ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// settle waits until all servers serve what is stored, and returns how long that took. Nothing is
// written meanwhile.
func (f *fleet) settle(t *testing.T, within time.Duration) time.Duration {
	t.Helper()
	return await(t, "all servers serve what is stored", within, func() error {
		stores, err := f.stored(t.Context())
		if err != nil {
			return err
		}
		for site, want := range stores {
			if err := f.differs(site, want); err != nil {
				return err
			}
		}
		return nil
	})
}

// differs says which server's site does not serve the rules that are wanted, or has another digest.
func (f *fleet) differs(site int, want map[string]string) error {
	var digest string
	for _, s := range f.servers {
		has, err := s.stateOf(site)
		if err != nil {
			return fmt.Errorf("%s: %w", s.host, err)
		}
		for name, to := range want {
			if has.rules[name] != to {
				return fmt.Errorf("%s, %s: %s leads to %q, and %q is stored", s.host,
					s.sites[site].name, name, has.rules[name], to)
			}
		}
		if len(has.rules) != len(want) || digest != "" && has.digest != digest {
			return fmt.Errorf("%s, %s: %d rules with digest %s; the first server has %s", s.host,
				s.sites[site].name, len(has.rules), has.digest, digest)
		}
		digest = has.digest
	}
	return nil
}

// fault is something that breaks, and is mended.
type fault struct {
	name string
	// happen breaks something, waits, and mends it.
	happen func(t *testing.T)
	// expected is what users are told to expect, for docs/reliability.md.
	expected string
	// isFailover says that another Redis takes over: what no replica has got yet may be lost, and
	// older answers follow. A write waits for a replica; an edit does not.
	isFailover bool
}

// recovery is how long servers may take until they serve what is stored.
const recovery = 5 * time.Second

// sufferAll lets one fault happen after the other.
func (f *fleet) sufferAll(t *testing.T, faults []fault) {
	for _, fault := range faults {
		t.Run(fault.name, func(t *testing.T) { f.suffer(t, fault) })
	}
}

// suffer lets a fault happen while requests and writes go on, and checks what came of it.
func (f *fleet) suffer(t *testing.T, fault fault) {
	f.mu.Lock()
	f.requests, f.failed, f.writes, f.edits = 0, nil, 0, 0
	f.stepBack = fault.isFailover
	f.mu.Unlock()
	f.round.Add(1)
	pause(t.Context(), time.Second)
	fault.happen(t)
	f.awaitWrite(t)
	f.writing.Lock()
	defer f.writing.Unlock()
	took := f.settle(t, recovery)
	stores, err := f.stored(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	writes, edits := f.ledger.lost(stores)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, err := range f.failed[:min(5, len(f.failed))] {
		t.Error(err)
	}
	if writes > 0 || edits > 0 && !fault.isFailover {
		t.Errorf("%d acknowledged writes and %d edits are lost", writes, edits)
	}
	if t.Failed() {
		for _, s := range f.servers {
			t.Logf("%s said:\n%s", s.host, s.tail())
		}
	}
	t.Logf("| %s | %s | %d requests, %d failed; %d writes, %d lost; %d edits, %d lost; level after "+
		"%.1f s |", fault.name, fault.expected, f.requests, len(f.failed), f.writes, writes, f.edits,
		edits, took.Seconds())
}

// awaitWrite waits until a write succeeds.
func (f *fleet) awaitWrite(t *testing.T) {
	t.Helper()
	f.mu.Lock()
	before := f.writes
	f.mu.Unlock()
	await(t, "a write succeeds", 30*time.Second, func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.writes == before {
			return fmt.Errorf("none of %d", f.writes)
		}
		return nil
	})
}
