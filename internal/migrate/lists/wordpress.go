package lists

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// ReadWordPress reads what the plugin Redirection of WordPress exports as JSON.
func ReadWordPress(t *migrate.Table, r io.Reader) error {
	t.Program, t.Slashes = "WordPress Redirection", redirects.SlashesMerged
	t.Status = cmp.Or(t.Status, 301)
	t.Remark("WordPress Redirection can match either letter case, and ignores requests with a query " +
		"unless a redirect says otherwise; rules answer them, too, and fold case folds a site's keys")
	known := strings.Fields("id url match_url match_data action_code action_type action_data " +
		"match_type title hits regex group_id position last_access enabled")
	var all []*object
	err := readObjects(t, r, "redirects", known, func(o *object) { all = append(all, o) })
	position := func(o *object) int {
		n, _ := strconv.Atoi(o.Member("position").Text)
		return n
	}
	slices.SortStableFunc(all, func(a, b *object) int { return cmp.Compare(position(a), position(b)) })
	for _, o := range all {
		o.addRedirection()
	}
	return err
}

// addRedirection adds the lines of a redirect of WordPress.
func (o *object) addRedirection() {
	queries := map[string]resolver.QueryMode{
		"ignore": resolver.QueryIgnore, "pass": resolver.QueryPreserve,
	}
	o.line.Query = queries[o.Member("match_data").Member("source").Member("flag_query").Text]
	setStatus(&o.line, o.Member("action_code"))
	path, action, match := o.text("url"), o.text("action_type"), o.text("match_type")
	switch {
	case o.Member("enabled").Text == "false":
		o.Refuse(o.line.At, nil, errors.New("the redirect is disabled; enable it for a rule"))
		return
	case action != "url" && o.line.Answer != redirects.Gone:
		o.refuse("a rule redirects, and has no action %s; use Caddy's rewrite or error",
			printable.Quote(action))
	case match != "url" && match != "":
		o.refuse("a rule matches the path alone, not %s; use Caddy's redir with a matcher",
			printable.Quote(match))
	}
	to := o.text("action_data", "url")
	o.line.To = redirects.Literal(to)
	if o.Member("regex").Text == "true" || o.Member("regex").Text == "1" {
		o.AddMatch(o.line, path, to, pathexpr.Options{})
	} else {
		o.AddPath(o.line, path, false)
	}
}
