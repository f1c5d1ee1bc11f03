package lint

import (
	"slices"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// pagesAt are pages at some paths.
type pagesAt []string

func (p pagesAt) Answer(path string) bool { return slices.Contains(p, path) }

// withPages returns the list of a ruleset on a site that has no other pages than these.
func withPages(rs *resolver.Ruleset, pages Pages) *List {
	l := New(rs.Options()).WithPages(pages)
	l.addAll(rs)
	return l
}

func TestADeadEndIsAPathThatNothingOnTheSiteAnswers(t *testing.T) {
	const text = ", and nothing else stands on the site, so clients get 404; "
	others := []resolver.Rule{
		{Key: "docs", Value: "https://docs.example/"},
		{Key: "u/{name}", Value: "https://u.example/{name}"},
		{Key: "keep", Value: "pass"},
		{Key: "old", Value: "gone"},
		{Key: "far/b/c", Value: "https://c.example/"},
		{Key: "only", Value: "https://only.example/", Exact: true},
		{Key: "next", Value: "/nowhere#f"},
	}
	for name, test := range map[string]struct {
		rule resolver.Rule
		want string // of the message, in front of and behind text; "" for none
		end  string // what DeadEnd says of it, which knows no pages
	}{
		"a page of the site": {rule("a", "/page"), "", "/page"},
		"the site's root":    {rule("a", "/?q=1"), "", ""},
		"a key":              {rule("a", "/docs/x"), "", ""},
		"a template":         {rule("a", "/u/jo"), "", ""},
		"pass":               {rule("a", "/keep/x"), "", ""},
		"gone":               {rule("a", "/old/x"), "", ""},
		"a URL":              {rule("a", "https://go.example/x"), "", ""},
		"a loop":             {rule("a", "/a/x"), "", ""},
		"nothing": {
			rule("a", "/x%20y/z?q#f"),
			"no link answers /x%20y/z" + text + "lead the rule to a link, or add the key x%20y/z",
			"/x%20y/z",
		},
		"a key with a slip": {
			rule("a", "/dosc?q"),
			"no link answers /dosc" + text +
				"write /docs?q, whose key is one letter away, or add the key dosc",
			"/dosc",
		},
		"below an exact key": {
			rule("a", "/only/x"),
			"no link answers /only/x" + text + "lead the rule to a link, or add the key only/x",
			"/only/x",
		},
		"along a chain": {
			rule("a", "/next"),
			"no link answers /nowhere" + text + "lead the rule to a link, or add the key nowhere",
			"/nowhere",
		},
		"along a chain, with what remains": {
			rule("a", "/next/x"),
			"no link answers /nowhere/x" + text + "lead the rule to a link, or add the key nowhere/x",
			"/nowhere/x",
		},
		"above a key": {rule("a", "/far"), "", "/far"}, // as WarnMeetsKey tells
		"above a key, and nothing below is meant": {
			resolver.Rule{Key: "a", Value: "/far", Exact: true},
			"no link answers /far" + text + "lead the rule to a link, or add the key far", "/far",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, origin := range []string{"", "https://go.test"} {
				rs := mustCompile(t, append([]resolver.Rule{test.rule}, others...),
					resolver.Options{Origin: origin})
				of := map[Kind]string{}
				for _, w := range withPages(rs, pagesAt{"/page"}).Warnings() {
					if w.Key == "a" {
						of[w.Kind] = w.Message
					}
				}
				if of[WarnDeadEnd] != test.want || test.want != "" && len(of) > 1 {
					t.Errorf("%v\nwant %q", of, test.want)
				}
				if end, is := DeadEnd(rs, "/a"); is != (test.end != "") || is && end != test.end {
					t.Errorf("the end is %q, %t", end, is)
				}
				for _, w := range Ruleset(rs).Warnings() {
					if w.Kind == WarnDeadEnd {
						t.Errorf("where other pages may be: %v", w)
					}
				}
			}
		})
	}
}

func rule(key, value string) resolver.Rule { return resolver.Rule{Key: key, Value: value} }
