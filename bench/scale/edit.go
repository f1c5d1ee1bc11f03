package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// editable is a source that accepts edits.
type editable struct {
	name   string
	source string // in a Caddyfile
	fill   func(rules int) error
	shared bool // used by several servers
}

// edit measures how long the admin endpoint takes to add a rule. It measures all sizes up to the
// given number of rules.
func (b *bench) edit(rules, rounds int) error {
	all := []editable{
		{"file", "file " + b.links(), func(n int) error { return b.writeRules(n, 0, 0) }, false},
		{"storage entry", "storage links.json", func(n int) error {
			return inJSON.write(filepath.Join(b.caddyDir(0), "links.json"), n, firstOf(0, 0))
		}, false},
	}
	if installed("redis-server") {
		r, err := b.startRedis()
		if err != nil {
			return err
		}
		defer r.stop()
		for _, form := range []redisForm{redisHash, redisKeys} {
			all = append(all, editable{string(form), r.source(form), func(n int) error {
				return r.fill(form, n)
			}, true})
		}
	} else {
		fmt.Print("Redis is left out: redis-server is not installed\n\n")
	}
	fmt.Print("| source | rules | answered after, ms | served after, ms " +
		"| served by another after, ms |\n|---|--:|--:|--:|--:|\n")
	for _, n := range []int{10, 10_000, 100_000, 1_000_000} {
		for _, e := range all {
			if n > rules {
				return nil
			}
			times, err := b.editsOf(e, n, rounds)
			if err != nil {
				return fmt.Errorf("%s, %d rules: %w", e.name, n, err)
			}
			fmt.Printf("| %s | %d | %v | %v | %v |\n", e.name, n, times.answered, times.served,
				times.elsewhere)
		}
	}
	return nil
}

// editTimes are the durations of edits, in milliseconds.
type editTimes struct{ answered, served, elsewhere series }

// editsOf edits a source, on an idle server each time.
func (b *bench) editsOf(e editable, rules, rounds int) (*editTimes, error) {
	if err := os.MkdirAll(b.caddyDir(0), 0o700); err != nil {
		return nil, err
	}
	if err := e.fill(rules); err != nil {
		return nil, err
	}
	servers := 1
	if e.shared {
		servers = 2
	}
	var all []*server
	for processor := range servers {
		s, _, err := b.startServing(processor, from(e.source), rules)
		if err != nil {
			return nil, err
		}
		defer s.stop()
		all = append(all, s)
	}
	times := &editTimes{}
	for added := range rounds {
		time.Sleep(2 * time.Second)
		if err := editOnce(all, rules+added, times); err != nil {
			return nil, err
		}
	}
	return times, nil
}

// editOnce adds a rule through the first server, and requests it from all servers meanwhile.
func editOnce(servers []*server, i int, times *editTimes) error {
	type seen struct {
		after time.Duration
		err   error
	}
	elsewhere := make(chan seen, len(servers))
	begun := time.Now()
	for _, s := range servers[1:] {
		go func() {
			after, err := s.await("/"+key(i), url(i, 1), begun)
			elsewhere <- seen{after, err}
		}()
	}
	if err := servers[0].put(key(i), url(i, 1)); err != nil {
		return err
	}
	times.answered = append(times.answered, milliseconds(time.Since(begun)))
	served, err := servers[0].await("/"+key(i), url(i, 1), begun)
	if err != nil {
		return err
	}
	times.served = append(times.served, milliseconds(served))
	for range servers[1:] {
		other := <-elsewhere
		if other.err != nil {
			return other.err
		}
		times.elsewhere = append(times.elsewhere, milliseconds(other.after))
	}
	return nil
}
