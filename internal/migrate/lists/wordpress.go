package lists

import (
	"cmp"
	"io"
	"slices"
	"strconv"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// ReadWordPress reads what the plugin Redirection of WordPress exports as JSON.
func ReadWordPress(t *migrate.Table, r io.Reader) error {
	t.Program, t.Slashes = "WordPress Redirection", redirects.SlashesMerged
	t.Status = cmp.Or(t.Status, 301)
	known := []string{"id", "url", "match_url", "match_data", "action_code", "action_type",
		"action_data", "match_type", "title", "hits", "regex", "group_id", "position", "last_access",
		"enabled"}
	var all []*object
	err := readObjects(t, r, "redirects", known, func(o *object) { all = append(all, o) })
	slices.SortStableFunc(all, func(a, b *object) int { return cmp.Compare(a.position(), b.position()) })
	disabled := 0
	for _, o := range all {
		if isEnabled, ok := o.member("enabled").Truth(); ok && !isEnabled {
			t.Count(o.At)
			disabled++
			continue
		}
		o.addWordPress()
	}
	if disabled > 0 {
		t.Remark("%d redirects are disabled, and left out", disabled)
	}
	if t.Entries() > 0 {
		t.Remark("WordPress Redirection can match either letter case, and ignores requests with a query " +
			"unless a redirect says otherwise; rules answer them, too; fold case folds a site's keys")
	}
	return err
}

// position returns the place of a redirect in the order in which they are tried.
func (o *object) position() int {
	n, _ := strconv.Atoi(o.member("position").Text)
	return n
}

// addWordPress adds the lines of a redirect.
func (o *object) addWordPress() {
	var line redirects.Line
	source := memberOf(o.member("match_data"), "source")
	switch memberOf(source, "flag_query").Text {
	case "ignore":
		line.Query = resolver.QueryIgnore
	case "pass":
		line.Query = resolver.QueryPreserve
	}
	o.answer(&line, "action_code")
	path, kind := o.text("url"), o.text("action_type")
	if kind != "url" && line.Answer != redirects.Gone {
		o.refuse("a rule redirects, and has no action " + strconv.Quote(kind) + "; use Caddy's rewrite " +
			"or error")
	}
	if match := o.text("match_type"); match != "url" && match != "" {
		o.refuse("a rule matches the path alone, not " + strconv.Quote(match) + "; use Caddy's redir " +
			"with a matcher")
	}
	to := memberOf(o.member("action_data"), "url").Text
	if is, _ := o.member("regex").Truth(); is || o.member("regex").Text == "1" {
		o.addMatch(line, path, to)
	} else {
		o.add(line, path, to, false)
	}
}
