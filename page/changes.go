package page

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/client"
	"github.com/caddy-shortlink/shortlink/internal/history"
	"github.com/caddy-shortlink/shortlink/internal/past"
	"github.com/caddy-shortlink/shortlink/internal/show"
	"github.com/caddy-shortlink/shortlink/resolver"
)

const (
	mostChanges  = 50  // on a page
	changesOfKey = 5   // on the page of a key
	mostKeys     = 100 // of a change in a list
)

// changesPage lists the changes of what served, newest first.
type changesPage struct {
	layout
	Key     string   `json:"key,omitempty"` // whose changes these are; "" for all
	Changes []change `json:"changes"`
	// NextPage is the URL of older changes, "" if there are none.
	NextPage string `json:"next_page,omitempty"`
	// WhyNot says why the user can take no change back, or is empty.
	WhyNot string `json:"why_not,omitempty"`
	// IsSaved says that the user has just made the newest change by taking one back.
	IsSaved bool `json:"-"`
}

// change is a change as views show it.
type change struct {
	*history.Entry
	// CanTakeBack says that the user may take it back, and that none of its listed links has changed
	// since.
	CanTakeBack bool   `json:"can_take_back"`
	Root        string `json:"-"`
}

// changesPage returns the page of changes.
func (r *request) changesPage() view {
	query := r.URL.Query()
	v := changesPage{layout: r.layout(), Key: keyIn(query), WhyNot: r.whyNotWritable()}
	if v.Title = "Changes"; v.Key != "" {
		v.Title += " of " + v.Key
	}
	shown, _ := strconv.Atoi(query.Get("shown"))
	all, hasMore, err := r.changes(v.Key, max(shown, 0), mostChanges)
	if err != nil {
		return failure(r.layout(), client.StatusOf(err), err.Error())
	}
	if v.Changes = all; hasMore {
		v.NextPage = v.Root + "changes?" + url.Values{
			"key": {v.Key}, "shown": {strconv.Itoa(max(shown, 0) + mostChanges)},
		}.Encode()
	}
	v.IsSaved = len(all) > 0 && query.Get("done") == all[0].New &&
		time.Since(all[0].Time) < time.Minute
	return v
}

// changes returns changes behind the first ones, newest first, and whether there are more. With a
// key, they are those of the key.
func (r *request) changes(key string, skip, most int) (some []change, hasMore bool, err error) {
	ctx, cancel := context.WithTimeout(r.Context(), storageTime)
	defer cancel()
	all, err := r.links.Past().List(ctx, key)
	all = all[min(skip, len(all)):]
	hasMore = len(all) > most
	all = all[:min(len(all), most)]
	if key == "" && err == nil {
		r.report("rules of changes", r.links.Past().AddKeys(ctx, all, mostKeys))
	}
	some = []change{}
	for i := range all {
		some = append(some, r.changeOf(&all[i]))
	}
	return some, hasMore, err
}

// changeOf returns a change as the user is shown it. Who has edited is for those with a name alone,
// and addresses for nobody if there is a name.
func (r *request) changeOf(e *history.Entry) change {
	e.Change = r.told(e.Change)
	return change{e, e.Missing == "" && r.whyNotWritable() == "" &&
		!slices.ContainsFunc(e.Keys, r.hasChangedSince), r.layout().Root}
}

// hasChangedSince reports whether a key's rule is another one than a change has left.
func (r *request) hasChangedSince(k history.KeyChange) bool {
	if serves, ok := r.links.Serving().Written(k.Key); ok {
		return !isAsLeft(k, &serves)
	}
	return !isAsLeft(k, nil)
}

// isAsLeft reports whether a key's rule, nil for none, is the one that a change has left.
func isAsLeft(k history.KeyChange, now *resolver.Rule) bool {
	after, err := past.RuleOf(k.Key, k.After)
	return err == nil && sameContent(after, now)
}

// told returns a change as the user is told of it.
func (r *request) told(c history.Change) history.Change {
	if c.Remote = hostOf(c.Remote); r.user == "" || c.User != "" {
		c.Remote = ""
	}
	if r.user == "" {
		c.User = ""
	}
	return c
}

// ruleIn returns a rule of a change, nil for none.
func ruleIn(value json.RawMessage) *rule {
	found, err := past.RuleOf("", value)
	switch {
	case err != nil:
		return &rule{To: history.Value(value)}
	case found == nil:
		return nil
	}
	return ruleOf(*found)
}

// ID identifies the change in URLs and forms.
func (c change) ID() string { return c.Old + "-" + c.New }

// Shown are the keys that are shown, and Unshown is how many others there are.
func (c change) Shown() []history.KeyChange { return c.Keys[:min(len(c.Keys), mostKeys)] }
func (c change) Unshown() int               { return c.Total() - len(c.Shown()) }

// Counts says how many links it has added, removed and changed.
func (c change) Counts() string { return show.Counts(&c.Change) }

func (changesPage) template() string { return "history" }

func (v changesPage) text(w io.Writer) {
	for _, c := range v.Changes {
		show.WriteEntry(w, c.Entry)
	}
	if v.NextPage != "" {
		fmt.Fprintln(w, "There are more:", v.NextPage)
	}
}

// lastChange is the last change of a key, as the user is told of it.
type lastChange struct {
	Time time.Time           `json:"time,omitzero"`
	What resolver.ChangeKind `json:"what,omitempty"`
	Who  string              `json:"who,omitempty"`
	By   string              `json:"-"`
	// TakeBack is the ID of the change if the form of a new link cannot make the rule again.
	TakeBack string `json:"-"`
	rank     uint64 // the later it was, the higher
}

// lastChangeOf returns a change as the last one of a key.
func (r *request) lastChangeOf(change *history.Change, what resolver.ChangeKind) *lastChange {
	c := r.told(*change)
	return &lastChange{Time: c.Time, What: what, Who: c.Who(), By: c.By()}
}

// lastChanges returns the last changes of rules by their numbers, looked up once.
func (r *request) lastChanges() map[int]lastChange {
	if r.changed == nil {
		r.changed = map[int]lastChange{}
		serving := r.links.Serving()
		ruleset, all := serving.Ruleset, r.links.Past().Changed(&serving.Rules, math.MaxInt)
		for i, c := range all {
			if n, ok := ruleset.NumberOf(c.Key); ok {
				last := r.lastChangeOf(c.Change, c.Kind)
				last.rank = uint64(len(all) - i)
				r.changed[n] = *last
			}
		}
	}
	return r.changed
}

// removal returns the removal of a key's rule, if that is the key's last change, and what the rule
// was.
func (r *request) removal(key string) (*lastChange, *resolver.Rule) {
	if key == "" {
		return nil, nil
	}
	all, _, err := r.changes(key, 0, 1)
	r.report("changes", err)
	if len(all) == 0 || all[0].Keys[0].Kind() != resolver.ChangeRemoved {
		return nil, nil
	}
	removed := all[0].Keys[0]
	was, err := past.RuleOf(removed.Key, removed.Before)
	if err != nil {
		r.report("changes", err)
		return nil, nil
	}
	last := r.lastChangeOf(&all[0].Change, removed.Kind())
	if was != nil && ruleOf(*was).Windows != "" {
		last.TakeBack = all[0].ID()
	}
	return last, was
}
