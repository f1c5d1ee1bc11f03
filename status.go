package shortlink

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

// runningHandler is a handler that runs, under a name that no other has.
type runningHandler struct {
	name string
	// shares tells that others have the name, too, so that a change of the configuration can give it to another one.
	shares bool
	*Ruleset
}

// status is what there is to know of the handler; the site, where the name alone does not tell it.
func (h *runningHandler) status() handlerJSON {
	status := h.Ruleset.Status()
	if h.shares {
		status.Site = h.Site.String()
	}
	return status
}

type handlersRunning []runningHandler

// runningHandlers returns one handler for each live ruleset, sorted by name.
func runningHandlers() handlersRunning {
	var found []*Ruleset
	running.Range(func(key, _ any) bool {
		if h := key.(*Ruleset).shared.handler.Load(); !slices.Contains(found, h) {
			found = append(found, h)
		}
		return true
	})
	slices.SortFunc(found, func(a, b *Ruleset) int {
		return strings.Compare(a.PublicName()+"\x00"+a.Identity, b.PublicName()+"\x00"+b.Identity)
	})
	public := make([]string, len(found))
	for i, e := range found {
		public[i] = e.PublicName()
	}
	var all handlersRunning
	names, count := uniqueNames(public)
	for i, e := range found {
		all = append(all, runningHandler{names[i], count[public[i]] > 1, e})
	}
	return all
}

func (all handlersRunning) named(name string) *runningHandler {
	for i := range all {
		if all[i].name == name {
			return &all[i]
		}
	}
	return nil
}

func (all handlersRunning) names() []string {
	names := []string{}
	for _, h := range all {
		names = append(names, h.name)
	}
	return names
}

// handlerJSON is what there is to know of a handler.
type handlerJSON struct {
	// Site has the addresses of a handler whose name others have, too.
	Site     string       `json:"site,omitempty"`
	Rules    int          `json:"rules"`
	Digest   string       `json:"digest"`
	Sources  []sourceInfo `json:"sources"`
	LastLoad loadJSON     `json:"last_load"`
	// BrokenRules is how many rules are answered with an error; Broken names the first 1000 of them.
	BrokenRules int          `json:"broken_rules"`
	Broken      []brokenJSON `json:"broken,omitempty"`
}

// brokenJSON is a rule that is answered with an error.
type brokenJSON struct {
	Kind     resolver.WarningKind `json:"kind"`
	Position string               `json:"position,omitempty"`
	Key      string               `json:"key"`
	Reason   string               `json:"reason"`
}

// sourceInfo is what there is to know of a source.
type sourceInfo struct {
	Source   string      `json:"source"`
	Writable bool        `json:"writable"`
	Outage   *outageJSON `json:"outage,omitempty"`
}

// outageJSON says since when a source cannot be read, why, and of when its rules are that serve.
type outageJSON struct {
	Since      time.Time `json:"since"`
	Error      string    `json:"error"`
	RulesOf    time.Time `json:"rules_of,omitzero"`
	StoredCopy bool      `json:"stored_copy,omitempty"`
}

func statusOfSource(from source.Source, t *tally) sourceInfo {
	writable, ok := from.(source.Writable)
	info := sourceInfo{Source: from.String(), Writable: ok && writable.Writable() == nil}
	if outage := source.OutageOf(from); outage != nil {
		info.Outage = &outageJSON{
			outage.Since, outage.Err.Error(), t.lastSuccess(from), outage.StoredCopy,
		}
	}
	return info
}

// loadJSON is what came of the last load of rules: "loaded", or "rejected" with the reason.
type loadJSON struct {
	Time         time.Time  `json:"time"`
	Result       string     `json:"result"`
	Error        string     `json:"error,omitempty"`
	FailingSince *time.Time `json:"failing_since,omitempty"`
}

// Status returns what there is to know of the handler.
func (h *Ruleset) Status() handlerJSON {
	serving, last := h.shared.serving.Load(), h.shared.last.Load()
	status := handlerJSON{
		Rules:    serving.ruleset.Len(),
		Digest:   serving.digest,
		Sources:  []sourceInfo{},
		LastLoad: loadJSON{Time: last.time, Result: "loaded"},

		BrokenRules: serving.broken.count,
	}
	for _, err := range serving.broken.first {
		status.Broken = append(status.Broken,
			brokenJSON{kindOfBroken(err), err.Position.String(), err.Key, err.Message})
	}
	for _, from := range h.Sources {
		status.Sources = append(status.Sources, statusOfSource(from, h.shared.tally))
	}
	if last.err != nil {
		status.LastLoad.Result, status.LastLoad.Error, status.LastLoad.FailingSince = "rejected", last.err.Error(), &last.failingSince
	}
	return status
}

// uniqueNames returns unique names for public ones, and how often each of these is there: the first
// of several handlers keeps the name, and the others get a number.
func uniqueNames(public []string) (unique []string, count map[string]int) {
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
