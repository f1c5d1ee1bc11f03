package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"
)

// from returns a site's block with the rules of a source.
func from(source string) string {
	return "shortlink {\n from " + source + "\n }\n respond 404"
}

func (b *bench) fromFile() string { return from("file " + b.links()) }

func anyOf(n int) func(*rand.Rand) string {
	return func(r *rand.Rand) string { return "/" + key(r.IntN(n)) }
}

// series are the values of several rounds.
type series []float64

func (s series) String() string {
	if len(s) == 0 {
		return "–"
	}
	sorted := slices.Sorted(slices.Values(s))
	median := readable(sorted[len(sorted)/2])
	if len(s) == 1 {
		return median
	}
	return median + " (" + readable(sorted[0]) + " to " + readable(sorted[len(sorted)-1]) + ")"
}

// readable formats a value with at least three digits and without an exponent.
func readable(v float64) string {
	if v >= 1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// startup measures the time until the first answer. It also measures memory, at rest and under
// load.
func (b *bench) startup(rules, rounds int, length time.Duration) error {
	if err := b.writeRules(rules, 0, 0); err != nil {
		return err
	}
	var all startups
	for range rounds {
		if err := b.startOnce(rules, length, &all); err != nil {
			return err
		}
	}
	fmt.Printf("| rules | serving after, s | settled, MiB | under load, MiB | peak while loading, " +
		"MiB |\n|--:|--:|--:|--:|--:|\n")
	fmt.Printf("| %d | %v | %v | %v | %v |\n", rules, all.seconds, all.settled, all.loaded, all.peak)
	return nil
}

// startups are the results of starting servers.
type startups struct{ seconds, settled, loaded, peak series }

func (b *bench) startOnce(rules int, length time.Duration, all *startups) error {
	s, took, settled, err := b.startSettled(b.fromFile(), rules)
	if err != nil {
		return err
	}
	defer s.stop()
	peak, err := s.memory("VmHWM")
	if err != nil {
		return err
	}
	result, _ := s.asMany(anyOf(rules), length)
	loaded, err := s.memory("VmRSS")
	if err := errors.Join(append(result.failed, err)...); err != nil {
		return err
	}
	all.seconds, all.settled = append(all.seconds, took.Seconds()), append(all.settled, settled)
	all.loaded, all.peak = append(all.loaded, loaded), append(all.peak, peak)
	return nil
}

// swap measures requests at a fixed rate while rules are swapped. Each swap changes a thousand
// rules.
func (b *bench) swap(rules, swaps int) error {
	const changed, rate = 1000, 2000
	for generation := swaps; generation >= 0; generation-- {
		if err := b.writeRules(rules, changed, generation); err != nil {
			return err
		}
		if err := os.Rename(b.links(), b.links()+fmt.Sprint(generation)); err != nil {
			return err
		}
	}
	if err := os.Rename(b.links()+"0", b.links()); err != nil {
		return err
	}
	s, _, settled, err := b.startSettled(b.fromFile(), rules)
	if err != nil {
		return err
	}
	defer s.stop()
	if err := s.resetPeak(); err != nil {
		return err
	}
	stop, done := make(chan struct{}), make(chan *load)
	go func() { done <- s.at(rate, anyOf(rules), stop) }()
	var visible series
	for generation := 1; generation <= swaps; generation++ {
		if err := os.Rename(b.links()+fmt.Sprint(generation), b.links()); err != nil {
			return err
		}
		took, err := s.await("/"+key(0), url(0, generation), time.Now())
		if err != nil {
			return err
		}
		visible = append(visible, took.Seconds())
	}
	close(stop)
	seen := <-done
	peak, err := s.memory("VmHWM")
	if err != nil {
		return err
	}
	fmt.Printf("| rules | swaps | requests | failed | p50, ms | p99, ms | max, ms | change visible " +
		"after, s | settled, MiB | peak above settled, MiB " +
		"|\n|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	fmt.Printf("| %d | %d | %d | %d | %.3g | %.3g | %.3g | %v | %.0f | %.0f |\n", rules, swaps,
		len(seen.latencies), len(seen.failed),
		milliseconds(seen.percentile(0.5)), milliseconds(seen.percentile(0.99)),
		milliseconds(seen.percentile(1)), visible, settled, peak-settled)
	return errors.Join(seen.failed...)
}

// contender is a way to redirect, with its number of rules. Each rule has many generations; a later
// one is a change.
type contender struct {
	name  string
	rules int
	block func(generation int) string
}

func (b *bench) contenders() []contender {
	all := []contender{{"static `redir`", 1, func(generation int) string {
		return "redir " + url(0, generation) + " 302"
	}}}
	for _, n := range []int{10, 1000, 100_000, 1_000_000} {
		all = append(all, contender{"shortlink", n, func(int) string { return b.fromFile() }})
	}
	for _, n := range []int{10, 1000} {
		all = append(all,
			contender{"`redir`", n, func(generation int) string {
				return lines(n, generation, "redir /%s %s 302\n")
			}},
			contender{"`map`", n, func(generation int) string {
				return "map {path} {target} {\n" + lines(n, generation, "/%s %s\n") + "}\nredir {target} 302"
			}})
	}
	return all
}

// lines returns a Caddyfile line for each rule.
func lines(n, generation int, format string) string {
	var all strings.Builder
	for i := range n {
		fmt.Fprintf(&all, format, key(i), url(i, generation))
	}
	return all.String()
}

// throughput measures requests per second, latency and processor time. Each round measures all
// contenders in turn.
func (b *bench) throughput(rounds int, length time.Duration) error {
	for _, gogc := range []string{"100", "400"} {
		all := b.contenders()
		results := make([]throughputs, len(all))
		for range rounds {
			for i, c := range all {
				if err := b.throughputOnce(c, gogc, length, &results[i]); err != nil {
					return fmt.Errorf("%s: %w", c.name, err)
				}
			}
		}
		fmt.Printf("\nGOGC=%s\n\n| what | rules | requests a second | p99, ms | CPU a request, µs | "+
			"serving after, s | change visible after, s | under load, MiB "+
			"|\n|---|--:|--:|--:|--:|--:|--:|--:|\n", gogc)
		for i, c := range all {
			r := results[i]
			fmt.Printf("| %s | %d | %v | %v | %v | %v | %v | %v |\n", c.name, c.rules, r.perSecond, r.p99,
				r.cpu, r.start, r.visible, r.memory)
		}
	}
	return nil
}

// throughputs are the results of a contender.
type throughputs struct {
	loadResults
	start, visible, memory series
}

func (b *bench) throughputOnce(c contender, gogc string, length time.Duration,
	r *throughputs) error {
	if err := b.writeRules(c.rules, 0, 0); err != nil {
		return err
	}
	s, err := b.start(c.block(0), "GOGC="+gogc)
	if err != nil {
		return err
	}
	defer s.stop()
	start, err := s.await("/"+key(0), url(0, 0), s.started)
	if err != nil {
		return err
	}
	if err := s.loadOnce(c.rules, length, &r.loadResults); err != nil {
		return err
	}
	memory, err := s.memory("VmRSS")
	if err != nil {
		return err
	}
	visible, err := b.change(s, c)
	if err != nil {
		return err
	}
	r.visible = append(r.visible, visible.Seconds())
	r.start, r.memory = append(r.start, start.Seconds()), append(r.memory, memory)
	return nil
}

// change changes the first rule, and returns the time until the change is served.
func (b *bench) change(s *server, c contender) (time.Duration, error) {
	if err := b.writeRules(c.rules, 1, 1); err != nil {
		return 0, err
	}
	begun := time.Now()
	if c.name != "shortlink" {
		if err := s.reload(c.block(1)); err != nil {
			return 0, err
		}
	}
	return s.await("/"+key(0), url(0, 1), begun)
}
