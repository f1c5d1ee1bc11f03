package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/report"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
)

// CheckPage returns an error if a links page names a handler that is not among these public names.
// A page that names none shows the links of all.
func CheckPage(handler string, public []string) error {
	names, _ := UniqueNames(public)
	switch {
	case len(names) == 0:
		return errors.New("shortlink_page has no links to show: there is no shortlink handler in " +
			"this configuration; write a shortlink directive in front of it")
	case handler == "" || slices.Contains(names, handler):
		return nil
	}
	there := slices.Compact(slices.Sorted(slices.Values(public)))
	return fmt.Errorf("there is no shortlink handler named %s; there are: %s; write handler %s, or "+
		"name %[1]s into the block of the handler that you mean", handler, strings.Join(there, ", "),
		there[0])
}

// OnceStarted calls a function when Caddy has started with a configuration. The function must
// return at once.
func OnceStarted(ctx caddy.Context, run func()) error {
	events, err := report.EventsApp(ctx)
	if err == nil {
		report.OnceStarted(events, run)
	}
	return err
}

// warnPage: a rule answers requests below the path of a links page.
const warnPage lint.Kind = "hides the links page"

// PageWarnings returns the warnings about rules that answer a links page. Its path has no slash at
// the end.
func PageWarnings(ruleset *resolver.Ruleset, path string) []lint.Warning {
	warnings := warningsOfPage(ruleset, path)
	if warnings != nil || path == "" {
		return warnings
	}
	for rule := range ruleset.RulesBelow(strings.Trim(path, "/")) {
		if rule.Value != resolver.PassValue {
			return []lint.Warning{pageWarning(rule, path, "/"+rule.Key)}
		}
	}
	return nil
}

// warningsOfPage is PageWarnings for the page's own paths, without the keys that it shows.
func warningsOfPage(ruleset *resolver.Ruleset, path string) (warnings []lint.Warning) {
	told := map[string]bool{}
	for _, below := range []string{
		"", "/", "/key/a", "/key/a/b", "/new", "/changes", "/import", "/try", "/serving",
		"/export.json", "/export.csv", "/opensearch.xml", "/assets/style.css",
	} {
		result := ruleset.Resolve("http://links.invalid" + path + below)
		if result.Outcome == resolver.Pass || told[result.Key] {
			continue
		}
		told[result.Key] = true
		rule, _ := ruleset.Numbered(result.Rule)
		warnings = append(warnings, pageWarning(rule, path, path+below))
	}
	return warnings
}

// HidesPage reports whether a warning says that a rule answers a links page.
func HidesPage(w lint.Warning) bool { return w.Kind == warnPage }

func pageWarning(rule resolver.Rule, path, request string) lint.Warning {
	instead := "give the page another path, or remove the rule"
	if path != "" && !strings.HasPrefix("/"+rule.Key, path) {
		instead = "put a rule \"" + strings.Trim(path, "/") + " pass\" beside it"
	}
	return lint.Warning{
		Kind: warnPage, Position: rule.Position, Key: rule.Key,
		Message: "the rule answers " + printable.Text(request) + ", so the links page does not get it; " +
			instead,
	}
}

// DeadEnd says that requests for a path end at one of the site that no link answers; "" if they do
// not.
func (rs *Ruleset) DeadEnd(ruleset *resolver.Ruleset, path string) string {
	end, is := lint.DeadEnd(ruleset, path)
	switch {
	case !is || rs.Pages != nil && rs.Pages.Answer(end) || rs.shared.pages.contain(end):
		return ""
	case rs.Pages != nil:
		return "dead end: no link answers " + end
	}
	return "no link answers " + end + "; the site itself must"
}

// adoptPages makes the warnings of rules that an earlier configuration has loaded those of this
// one.
func (rs *Ruleset) adoptPages() {
	_ = rs.alone(func() error {
		next := newCandidate(rs.Serving())
		list, fresh := next.Warnings.Beside(rs.Pages, next.Ruleset)
		if list != next.Warnings {
			next.Warnings = list
			rs.put(next)
			rs.shared.addNotice(report.Notice{Warnings: fresh})
		}
		return nil
	})
}

// pagePaths are the paths of the links pages that show a ruleset.
type pagePaths struct {
	mu    sync.Mutex
	paths []string
}

// KeepFree warns of rules that answer a links page at a path: now, and at each swap until the
// configuration is unloaded.
func (rs *Ruleset) KeepFree(ctx caddy.Context, path string) {
	serving := rs.Serving()
	rs.reporter.Warn(serving.versions, PageWarnings(serving.Ruleset, path))
	pages := &rs.shared.pages
	pages.mu.Lock()
	defer pages.mu.Unlock()
	pages.paths = append(pages.paths, path)
	context.AfterFunc(ctx, func() {
		pages.mu.Lock()
		defer pages.mu.Unlock()
		i := slices.Index(pages.paths, path)
		pages.paths = slices.Delete(pages.paths, i, i+1)
	})
}

// warnings returns the warnings that a ruleset has and the previous one does not have.
func (p *pagePaths) warnings(before, next *resolver.Ruleset) (warnings []lint.Warning) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, path := range slices.Compact(slices.Sorted(slices.Values(p.paths))) {
		known := warningsOfPage(before, path)
		for _, w := range warningsOfPage(next, path) {
			isKnown := func(k lint.Warning) bool { return k.Key == w.Key }
			if !slices.ContainsFunc(known, isKnown) {
				warnings = append(warnings, w)
			}
		}
	}
	return warnings
}

// contain reports whether a path is that of a page, or below it.
func (p *pagePaths) contain(path string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.paths, func(page string) bool {
		return path == page || strings.HasPrefix(path, page+"/")
	})
}
