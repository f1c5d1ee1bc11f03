package main

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// patience is the time after which an edit counts as lost.
const patience = 10 * time.Second

// change is an edit of the i-th rule.
type change struct {
	i, generation int
	made          time.Time
}

// edits edits Redis keys at a fixed rate, and measures the time until an edit is served. It also
// checks that no edit is lost.
func (b *bench) edits(rules, rate int, length time.Duration) error {
	r, err := b.startRedis()
	if err != nil {
		return err
	}
	defer r.stop()
	if err := r.fill(redisKeys, rules); err != nil {
		return err
	}
	s, _, before, err := b.startSettled(from(r.source(redisKeys)), rules)
	if err != nil {
		return err
	}
	defer s.stop()
	made := make(chan change, 1<<16)
	written := make(chan error, 1)
	var took time.Duration
	go func() {
		defer close(made)
		begun := time.Now()
		err := r.edit(rules, rate, length, made)
		took = time.Since(begun)
		written <- err
	}()
	seen := s.follow(made)
	if err := <-written; err != nil {
		return err
	}
	after, err := s.settledMemory()
	if err != nil {
		return err
	}
	wrong, err := s.countWrong(rules, int(length.Seconds()*float64(rate)))
	if err != nil {
		return err
	}
	fmt.Print("| rules | edits | a second | lost | wrong at the end | within 250 ms | p50, ms " +
		"| p99, ms | max, ms | before, MiB | after, MiB |\n" +
		"|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	total := len(seen.latencies) + len(seen.failed)
	fmt.Printf("| %d | %d | %.0f | %d | %d | %.4g %% | %.3g | %.3g | %.3g | %.0f | %.0f |\n", rules,
		total, float64(total)/took.Seconds(), len(seen.failed), wrong,
		100*float64(seen.below(250*time.Millisecond))/float64(total),
		milliseconds(seen.percentile(0.5)), milliseconds(seen.percentile(0.99)),
		milliseconds(seen.percentile(1)), before, after)
	return errors.Join(seen.failed[:min(len(seen.failed), 10)]...)
}

// edit edits the rules in turn at a fixed rate, and starts over after the last.
func (r *redisServer) edit(rules, rate int, length time.Duration, made chan<- change) error {
	begin := time.Now()
	for n := range int(length.Seconds() * float64(rate)) {
		time.Sleep(time.Until(begin.Add(time.Duration(n) * time.Second / time.Duration(rate))))
		c := change{n % rules, n/rules + 1, time.Now()}
		if err := r.set(redisKeys, key(c.i), url(c.i, c.generation)); err != nil {
			return err
		}
		made <- c
	}
	return nil
}

// follow requests the rule of each edit, in order, until the edit is served.
func (p *process) follow(made <-chan change) *load {
	result := &load{}
	var workers sync.WaitGroup
	for range 16 {
		workers.Go(func() {
			c, dialed := dial(p.addr)
			if dialed == nil {
				defer c.close()
			}
			for change := range made {
				err := dialed
				if err == nil {
					err = c.askUntil(change)
				}
				result.saw(time.Since(change.made), err)
			}
		})
	}
	workers.Wait()
	return result
}

// askUntil requests the rule of an edit until the edit is served, or patience ends.
func (c *connection) askUntil(edit change) error {
	for {
		got, err := c.ask("/" + key(edit.i))
		if err != nil || got == url(edit.i, edit.generation) {
			return err
		}
		if time.Since(edit.made) > patience {
			return fmt.Errorf("an edit of %s is not served after %v", key(edit.i), patience)
		}
		time.Sleep(time.Millisecond)
	}
}

// countWrong counts the rules with a wrong destination after n edits.
func (p *process) countWrong(rules, n int) (wrong int, err error) {
	c, err := dial(p.addr)
	if err != nil {
		return 0, err
	}
	defer c.close()
	for i := range rules {
		got, err := c.ask("/" + key(i))
		if err != nil {
			return 0, err
		}
		if got != url(i, (n-1-i+rules)/rules) {
			wrong++
		}
	}
	return wrong, nil
}
