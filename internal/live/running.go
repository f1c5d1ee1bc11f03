package live

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/internal/report"
)

// RunningRuleset is a handler that runs, under a name that no other has.
type RunningRuleset struct {
	// UniqueName is the handler's own name if no other has it, else the name with a number.
	UniqueName string
	// Shares says that other handlers have the name, too, so that a change of the configuration can
	// give it to another one.
	Shares bool
	*Ruleset
}

// Running are all handlers that run, sorted by name.
type Running []RunningRuleset

// AllRunning returns one handler for each live ruleset, sorted by name.
func AllRunning() Running {
	var found []*Ruleset
	running.Range(func(key, _ any) bool {
		if h := key.(*Ruleset).shared.handler.Load(); !slices.Contains(found, h) {
			found = append(found, h)
		}
		return true
	})
	return withUniqueNames(found)
}

// RunningIn returns the handlers that run in a configuration, one for each live ruleset, sorted by
// name.
func RunningIn(ctx caddy.Context) Running {
	events, err := report.EventsApp(ctx)
	if err != nil {
		return nil
	}
	var found []*Ruleset
	running.Range(func(key, _ any) bool {
		rs := key.(*Ruleset)
		isKnown := slices.ContainsFunc(found, func(o *Ruleset) bool { return o.shared == rs.shared })
		if rs.reporter.Events == events && !isKnown {
			found = append(found, rs)
		}
		return true
	})
	return withUniqueNames(found)
}

// NamesIn returns the public names of the handlers that a configuration has loaded so far, whether
// Caddy has started with it or not.
func NamesIn(ctx caddy.Context) (public []string) {
	events, err := report.EventsApp(ctx)
	if err != nil {
		return nil
	}
	configured.Range(func(key, _ any) bool {
		if rs := key.(*Ruleset); rs.reporter.Events == events {
			public = append(public, rs.PublicName())
		}
		return true
	})
	return public
}

// withUniqueNames sorts handlers by name, and gives each a unique name.
func withUniqueNames(found []*Ruleset) Running {
	slices.SortFunc(found, func(a, b *Ruleset) int {
		return strings.Compare(a.PublicName()+"\x00"+a.Identity, b.PublicName()+"\x00"+b.Identity)
	})
	public := make([]string, len(found))
	for i, e := range found {
		public[i] = e.PublicName()
	}
	var all Running
	names, count := UniqueNames(public)
	for i, e := range found {
		all = append(all, RunningRuleset{names[i], count[public[i]] > 1, e})
	}
	return all
}

// Named returns the handler with a unique name, or nil.
func (all Running) Named(name string) *RunningRuleset {
	for i := range all {
		if all[i].UniqueName == name {
			return &all[i]
		}
	}
	return nil
}

// Names returns the unique names.
func (all Running) Names() []string {
	names := []string{}
	for _, h := range all {
		names = append(names, h.UniqueName)
	}
	return names
}

// UniqueNames makes public names unique, and counts each public name. The first of several handlers
// keeps the name, and the others get a number.
func UniqueNames(public []string) (unique []string, count map[string]int) {
	count = map[string]int{}
	for _, name := range public {
		count[name]++
	}
	number := map[string]int{}
	for _, name := range public {
		one := name
		for number[name]++; number[name] > 1; number[name]++ {
			if one = fmt.Sprintf("%s-%d", name, number[name]); count[one] == 0 {
				break
			}
		}
		unique = append(unique, one)
	}
	return unique, count
}
