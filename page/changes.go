package page

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/internal/client"
	"github.com/caddy-shortlink/shortlink/internal/history"
	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

const (
	mostChanges  = 50  // on a page
	changesOfKey = 5   // on the page of a key
	mostLines    = 100 // of a change
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
	// IsTakenBack says that the newest change has just taken one back.
	IsTakenBack bool `json:"-"`
}

// change is a change as views show it.
type change struct {
	history.Entry
	// CanTakeBack says that the user may take it back, and its links are still as it has left them.
	CanTakeBack bool      `json:"can_take_back"`
	Lines       []keyLine `json:"-"`
	Root        string    `json:"-"`
}

// keyLine says in words what a change has done to a key. A rule is "" if there was none, or if it is
// not known.
type keyLine struct{ Key, Before, After string }

// changesPage returns the page of changes.
func (r *request) changesPage() view {
	query := r.URL.Query()
	v := changesPage{layout: r.layout(), Key: keyIn(query), WhyNot: r.whyNotWritable()}
	if v.Title = "Changes"; v.Key != "" {
		v.Title += " of " + v.Key
	}
	shown := 0
	_, _ = fmt.Sscan(query.Get("shown"), &shown)
	shown = max(shown, 0)
	all, hasMore, err := r.changes(v.Key, shown, mostChanges)
	if err != nil {
		return failure(r.layout(), client.StatusOf(err), err.Error())
	}
	if v.Changes = all; hasMore {
		older := url.Values{"shown": {fmt.Sprint(shown + len(all))}}
		if v.Key != "" {
			older.Set("key", v.Key)
		}
		v.NextPage = v.Root + "changes?" + older.Encode()
	}
	v.IsTakenBack = len(all) > 0 && query.Get("done") == all[0].New &&
		time.Since(all[0].Time) < time.Minute
	return v
}

// changes returns changes behind the first ones, newest first, and whether there are more. With a
// key, they are those of the key.
func (r *request) changes(key string, skip, most int) (all []change, hasMore bool, err error) {
	ctx, cancel := context.WithTimeout(r.Context(), hitsTime)
	defer cancel()
	q := history.Query{Keys: mostLines, Skip: skip, Most: most + 1}
	entries, err := r.links.Changes(ctx, key, q)
	for _, e := range entries[:min(len(entries), most)] {
		all = append(all, r.changeOf(&e))
	}
	return all, len(entries) > most, err
}

// changeOf returns a change as the user is shown it.
func (r *request) changeOf(e *history.Entry) change {
	c := change{Entry: *e, Root: r.layout().Root}
	c.Change = r.told(e.Change)
	c.CanTakeBack = e.Missing == "" && r.whyNotWritable() == "" &&
		!slices.ContainsFunc(e.Keys, r.hasChangedSince)
	for _, k := range e.Keys[:min(len(e.Keys), mostLines)] {
		c.Lines = append(c.Lines, keyLine{k.Key, ruleText(k.Key, k.Before), ruleText(k.Key, k.After)})
	}
	if e.Keys == nil {
		for _, first := range e.First {
			c.Lines = append(c.Lines, keyLine{Key: first.Key})
		}
	}
	return c
}

// hasChangedSince reports whether a key's rule is another one than a change has left.
func (r *request) hasChangedSince(k history.KeyChange) bool {
	text := ""
	if serves, ok := servingRule(r.links.Serving().Ruleset, k.Key); ok {
		text = live.RuleText(&serves)
	}
	return text != history.Value(k.After)
}

// told returns a change as the user is told of it. Who has edited is for those with a name alone,
// and addresses for nobody if there is a name.
func (r *request) told(c history.Change) history.Change {
	if c.Remote = hostOf(c.Remote); r.user == "" || c.User != "" {
		c.Remote = ""
	}
	if r.user == "" {
		c.User = ""
	}
	return c
}

// ruleText returns a rule of a change in words, "" for none.
func ruleText(key string, value []byte) string {
	rule, err := live.RuleOf(key, value)
	switch {
	case err != nil:
		return history.Value(value)
	case rule == nil:
		return ""
	}
	words := append([]string{rule.Value}, rulefile.Words(*rule)...)
	if rule.Note != "" {
		words = append(words, "“"+rule.Note+"”")
	}
	return strings.Join(words, " ")
}

// ID identifies the change in URLs and forms.
func (c change) ID() string { return c.Old + "-" + c.New }

// Who is who has made it, as far as that is told.
func (c change) Who() string { return c.Change.Who() }

// Total is how many keys it has changed, and Unnamed how many of these are not listed.
func (c change) Total() int   { return c.Added + c.Removed + c.Changed }
func (c change) Unnamed() int { return max(0, c.Total()-len(c.Lines)) }

// Summary says how many links it has added, changed and removed.
func (c change) Summary() string {
	var counts []string
	for _, kind := range []struct {
		n    int
		name string
	}{{c.Added, "added"}, {c.Changed, "changed"}, {c.Removed, "removed"}} {
		if kind.n > 0 {
			counts = append(counts, number(uint64(kind.n))+" "+kind.name)
		}
	}
	return strings.Join(counts, ", ")
}

func (c change) text(w io.Writer) {
	fmt.Fprintf(w, "%s  %s  %s\n", c.Time.UTC().Format(time.RFC3339), c.Who(), c.Summary())
	for _, line := range c.Lines {
		fmt.Fprintf(w, "  %s:", line.Key)
		if line.Before != "" {
			fmt.Fprintf(w, " was %s", line.Before)
		}
		if line.After != "" {
			fmt.Fprintf(w, " now %s", line.After)
		}
		fmt.Fprintln(w)
	}
}

func (changesPage) template() string { return "history" }

func (v changesPage) text(w io.Writer) {
	for _, c := range v.Changes {
		c.text(w)
	}
	if v.NextPage != "" {
		fmt.Fprintln(w, "There are more:", v.NextPage)
	}
}

// by says who has made a change, to end a sentence with: " by ann"; "" if that is not told.
func by(c history.Change) string {
	switch {
	case c.User != "":
		return " by " + c.User
	case c.Remote != "":
		return " from " + c.Remote
	case c.Source != "":
		return " in " + c.Source
	}
	return ""
}

// ago says in words how long ago something was.
func ago(passed time.Duration) string {
	minutes := int(passed.Minutes())
	switch {
	case minutes < 1:
		return "just now"
	case minutes < 60:
		return printable.Count(minutes, "minute") + " ago"
	case minutes < 24*60:
		return printable.Count(minutes/60, "hour") + " ago"
	}
	return printable.Count(minutes/60/24, "day") + " ago"
}

// whoWasFaster says who has changed a link last, and when: ": it was changed by ann 2 minutes ago";
// "" if that is not known.
func (r *request) whoWasFaster(key string) string {
	c, ok := r.links.LastChange(key)
	if !ok {
		return ""
	}
	return fmt.Sprintf(": it was %s%s %s", c.Kind, by(r.told(*c.Change)), ago(time.Since(c.Time)))
}

// removal says when a link was removed, and by whom.
type removal struct {
	Time time.Time `json:"time"`
	Who  string    `json:"who,omitempty"`
	By   string    `json:"-"`
}

// removal returns what a key's rule was, if its removal is the key's last change.
func (r *request) removal(key string) (was *resolver.Rule, removed *removal) {
	if key == "" {
		return nil, nil
	}
	all, _, err := r.changes(key, 0, 1)
	r.reportHistory(err)
	if len(all) == 0 || all[0].Keys[0].Kind() != resolver.ChangeRemoved {
		return nil, nil
	}
	k := all[0].Keys[0]
	if was, err = live.RuleOf(k.Key, k.Before); err != nil {
		return nil, nil
	}
	return was, &removal{all[0].Time, all[0].Who(), by(all[0].Change)}
}

// reportHistory logs that changes are missing on a page.
func (r *request) reportHistory(err error) {
	if err != nil {
		r.page.logger.Warn("changes are left out of the links page", zap.Error(err))
	}
}
