package lint

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// findings returns what is found, by position.
func findings(rs *resolver.Ruleset, hosts ...string) []Finding {
	var all []Finding
	Check(rs, Ruleset(rs), hosts, func(f Finding) { all = append(all, f) })
	slices.SortFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Position.Line, b.Position.Line), cmp.Compare(a.Kind, b.Kind))
	})
	return all
}

func TestCheckFindsWhatARuleDoesThatItsAuthorMayNotWant(t *testing.T) {
	for name, tt := range map[string]struct {
		rules []resolver.Rule
		opts  resolver.Options
		want  []string
	}{
		"nothing": {
			[]resolver.Rule{{Key: "a", Value: "https://example.com/?q=1#x"}, {Key: "b", Value: "/a"},
				{Key: "c", Value: "/elsewhere"}}, resolver.Options{}, nil,
		},
		"a loop is an error": {
			[]resolver.Rule{{Key: "a", Value: "/b"}, {Key: "b", Value: "/a"}}, resolver.Options{},
			[]string{"error loop a: loop a -> b -> a: its requests are answered with an error; change the destination of one of the rules"},
		},
		"a chain that is too long is an error": {
			[]resolver.Rule{{Key: "a", Value: "/b"},
				{Key: "b", Value: "https://example.com"}}, resolver.Options{MaxRedirects: new(0)},
			[]string{"error too many redirects a: the chain takes more than 0 internal redirects, so its requests are answered with an error; lead the rule to the chain's end"},
		},
		"a chain that could be none": {
			[]resolver.Rule{{Key: "a", Value: "/b/x"}, {Key: "b", Value: "/c"},
				{Key: "c", Value: "https://example.com/?q=1#f"}}, resolver.Options{},
			[]string{"note long chain a: the chain has 2 internal redirects; in the end it leads to https://example.com/x?q=1#f"},
		},
		"a destination that is not encrypted": {
			[]resolver.Rule{{Key: "a", Value: "http://example.com"}}, resolver.Options{},
			[]string{"note plain http a: the destination is not encrypted; write https:// if the site has it"},
		},
		"a query that merge spells in another way": {
			[]resolver.Rule{{Key: "a", Value: "https://example.com/?flag&q=1&q=2"},
				{Key: "b", Value: "https://example.com/?q=a%20b"},
				{Key: "c", Value: "/d?q=1&q=2"}}, resolver.Options{},
			[]string{
				"warning query is changed a: the query ?flag&q=1&q=2 becomes ?flag=&q=1&q=2; write it so, or choose query preserve",
				"warning query is changed b: the query ?q=a%20b becomes ?q=a+b; write it so, or choose query preserve",
				"warning query is changed c: the query ?q=1&q=2 becomes ?q=2; write it so, or choose query preserve",
			},
		},
		"a query that preserve leaves as it is": {
			[]resolver.Rule{{Key: "a", Value: "https://example.com/?flag&q=1&q=2"}},
			resolver.Options{Query: resolver.QueryPreserve}, nil,
		},
		"a query and a fragment that lose along a chain": {
			[]resolver.Rule{{Key: "a", Value: "/b?x=1#one"}, {Key: "b", Value: "/c?y=2#two"},
				{Key: "c", Value: "https://example.com/"}}, resolver.Options{},
			[]string{
				"note long chain a: the chain has 2 internal redirects; in the end it leads to https://example.com/?x=1#one",
				`warning lost in a chain a: the query ?y=2 of the key "b" along the chain is not used, as an earlier value has a query; write all of it there`,
				`warning lost in a chain a: the fragment #two of the key "b" along the chain is not used, as an earlier value has a fragment`,
			},
		},
		"a circle over the site's own host": {
			[]resolver.Rule{{Key: "a", Value: "https://go.example/b"},
				{Key: "b", Value: "https://go.example/a"}}, resolver.Options{},
			[]string{
				"error circle a: clients are redirected in a circle: https://go.example/a -> https://go.example/b -> https://go.example/a; change the destination of one of the rules",
				"error circle b: clients are redirected in a circle: https://go.example/b -> https://go.example/a -> https://go.example/b; change the destination of one of the rules",
			},
		},
		"a circle over an internal destination that ends unmatched": {
			[]resolver.Rule{{Key: "b/x", Value: "https://go.example/a/x"},
				{Key: "a", Value: "/b"}}, resolver.Options{},
			[]string{
				"error circle b/x: clients are redirected in a circle: https://go.example/b/x -> https://go.example/a/x -> https://go.example/b/x; change the destination of one of the rules",
				`warning meets another key a: clients are redirected to /b, and at or below it the key "b/x" redirects them again, perhaps in a circle; lead the rule to where that key leads, or mark it exact where nothing below it is meant`,
			},
		},
		"a circle below the key alone": {
			[]resolver.Rule{{Key: "a", Value: "https://go.example/b/c"},
				{Key: "b", Value: "https://go.example/a"},
				{Key: "b/c", Value: "https://example.com", Exact: true}}, resolver.Options{},
			[]string{
				"error circle a: clients are redirected more than 20 times, and give up: https://go.example/a/… -> https://go.example/b/c/… -> https://go.example/a/c/… and so on; change the destination of one of the rules",
				"error circle b: clients are redirected more than 20 times, and give up: https://go.example/b/… -> https://go.example/a/… -> https://go.example/b/c/… and so on; change the destination of one of the rules",
			},
		},
		"URLs that get longer and longer": {
			[]resolver.Rule{{Key: "a", Value: "https://go.example/a/x"}}, resolver.Options{},
			[]string{"error circle a: clients are redirected more than 20 times, and give up: https://go.example/a -> https://go.example/a/x -> https://go.example/a/x/x and so on; change the destination of one of the rules"},
		},
		"a destination that another key redirects": {
			[]resolver.Rule{{Key: "a", Value: "https://go.example/b/x?y=1#z"},
				{Key: "b", Value: "https://example.com/c"}, {Key: "d", Value: "/a"},
				{Key: "e", Value: "https://go.example/nothing"},
				{Key: "f", Value: "https://go.example//b"}}, resolver.Options{},
			[]string{
				`note redirected again a: clients are redirected to https://go.example/b/x?y=1, where the key "b" redirects them again, to https://example.com/c/x?y=1; lead the rule there, or write /b/x?y=1#z`,
			},
		},
		"a destination that an exact key redirects": {
			[]resolver.Rule{{Key: "a", Value: "https://go.example/b"},
				{Key: "b", Value: "https://example.com/c", Exact: true}}, resolver.Options{},
			[]string{`note redirected again a: clients are redirected to https://go.example/b, where the key "b" redirects them again, to https://example.com/c; lead the rule there`},
		},
		"a template's destination that another key redirects": {
			[]resolver.Rule{{Key: "a/{x}", Value: "https://go.example/b/{x}"},
				{Key: "b", Value: "https://example.com/c"}}, resolver.Options{},
			[]string{`note redirected again a/{x}: clients are redirected to https://go.example/b/{x}, where the key "b" redirects them again, to https://example.com/c/{x}; lead the rule there, or write /b/{x}`},
		},
		"a destination that is answered with an error": {
			[]resolver.Rule{{Key: "a", Value: "https://go.example/b"}, {Key: "b", Value: "/b"}},
			resolver.Options{},
			[]string{
				`warning leads to an error a: clients are redirected to https://go.example/b, where the key "b" answers with an error: too many internal redirects: loop b -> b; change the destination of this rule`,
				`error loop b: loop: "/b" lies at or below the key: the rule redirects to itself forever, so its requests are answered with an error; change its destination, or remove it`,
			},
		},
		"a destination that is gone or passes": {
			[]resolver.Rule{{Key: "a", Value: "https://go.example/b"}, {Key: "b", Value: "gone"},
				{Key: "c", Value: "https://go.example/d/x"}, {Key: "d", Value: "https://example.com"},
				{Key: "d/x", Value: "pass"}}, resolver.Options{}, nil,
		},
		"a key but for an escape": {
			[]resolver.Rule{{Key: "a", Value: "/b%28c)?d=1#e"}, {Key: "x",
				Value: "https://go.example/b%28c%29/"},
				{Key: "b(c)", Value: "https://example.com"}}, resolver.Options{},
			[]string{
				`warning differs in an escape a: the destination's path is no key, and differs from the key "b(c)" in the escape of a reserved character, which counts as another character; write /b(c)?d=1#e, unless the path is a page of the site`,
				`warning differs in an escape x: the destination's path is no key, and differs from the key "b(c)" in the escape of a reserved character, which counts as another character; write https://go.example/b(c), unless the path is a page of the site`,
			},
		},
		"the request itself is none": {
			[]resolver.Rule{{Key: "a", Value: "https://go.example/a"}}, resolver.Options{}, nil,
		},
		"the request itself in another spelling is none": {
			[]resolver.Rule{{Key: "a", Value: "https://go.example/%61"}}, resolver.Options{}, nil,
		},
		"another port is another server": {
			[]resolver.Rule{{Key: "a", Value: "https://go.example:8443/a"}}, resolver.Options{}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range tt.rules {
				tt.rules[i].Position = resolver.Position{Source: "links.json", Line: i + 1}
			}
			var got []string
			for _, f := range findings(mustCompile(t, tt.rules, tt.opts), "go.example") {
				got = append(got, fmt.Sprintf("%s %s %s: %s", f.Severity, f.Kind, f.Key, f.Message))
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// Every client that goes round in a circle, whatever it asks for, shows in a finding, and every
// finding is what a client meets.
func TestCheckFindsEveryCircleAndNoOther(t *testing.T) {
	const site = "https://go.example"
	segments := []string{"a", "b", "c"}
	random := rand.New(rand.NewPCG(6, 6))
	path := func(most int) string {
		var parts []string
		for range 1 + random.IntN(most) {
			parts = append(parts, segments[random.IntN(len(segments))])
		}
		return strings.Join(parts, "/")
	}
	circles := 0
	for range 3000 {
		rules := map[string]resolver.Rule{}
		for range 1 + random.IntN(5) {
			value := "/" + path(3)
			if random.IntN(2) == 0 {
				value = site + value
			}
			key := path(3)
			rules[key] = resolver.Rule{Key: key, Value: value, Exact: random.IntN(4) == 0}
		}
		var list []resolver.Rule
		for _, key := range slices.Sorted(maps.Keys(rules)) {
			list = append(list, rules[key])
		}
		rs := mustCompile(t, list, resolver.Options{})
		found := false
		Check(rs, Ruleset(rs), []string{"go.example"}, func(f Finding) {
			if f.Kind != FindCircle {
				return
			}
			found = true
			for i, url := range f.URLs[1:] {
				any := func(url string) string { return strings.ReplaceAll(url, resolver.Below, "/any") }
				if got, _ := resolve(rs, any(f.URLs[i])); got != any(url) {
					t.Fatalf("%v: the finding %v is no way, as %s leads to %s", list, f.URLs,
						f.URLs[i], got)
				}
			}
		})
		lost := ""
		for _, requested := range paths(segments, 4) {
			if goesRound(rs, site+requested) {
				lost = requested
			}
		}
		if found != (lost != "") {
			t.Fatalf("%+v: found: %t, but a client who asks for %q is lost", list, found, lost)
		}
		if found {
			circles++
		}
	}
	if circles < 100 {
		t.Errorf("only %d rulesets had a circle", circles)
	}
}

// A client asks for each key, and again where it is sent to if that is on the site.
func TestCheckNotesWhereClientsAreRedirectedAgain(t *testing.T) {
	noted := 0
	for seed := range seeds(4000) {
		r := newRandom(seed)
		opts := r.options()
		rules := r.ruleset(opts)
		for i := range rules {
			if r.IntN(2) == 0 {
				rules[i].Value = "https://go.example/" + rules[r.IntN(len(rules))].Key + r.query()
				rules[i].Status = 0
			}
		}
		rs := mustCompile(t, rules, opts)
		again, circles := map[string]string{}, map[string]bool{}
		Check(rs, Ruleset(rs), []string{"https://go.example"}, func(f Finding) {
			switch f.Kind {
			case FindAgain:
				again[f.Key] = f.Destination
			case FindCircle:
				circles[f.Key] = true
			}
		})
		for _, rule := range rules {
			want := ""
			if !isInternal(rule.Value) && !circles[rule.Key] {
				want = redirectedAgain(rs, rule.Key, opts)
			}
			if again[rule.Key] != want {
				t.Fatalf("seed %d, %+v: got %q, want %q, of %+v, %+v", seed, rule, again[rule.Key], want,
					rules, opts)
			}
			if want != "" {
				noted++
			}
		}
	}
	if noted < 40 {
		t.Errorf("only %d were redirected again", noted)
	}
}

// redirectedAgain returns where a client that asks for a key is redirected to in the second place,
// or "" if it is not.
func redirectedAgain(rs *resolver.Ruleset, key string, opts resolver.Options) string {
	site := cmp.Or(opts.Origin, "https://go.example")
	first := askOverHTTP(rs, site+"/"+resolver.CanonicalKey(key, false))
	if first == "" {
		return ""
	}
	if !strings.HasPrefix(first, site+"/") && !strings.HasPrefix(first, "https://go.example/") {
		return ""
	}
	return askOverHTTP(rs, first)
}

// askOverHTTP returns where a client is redirected to that asks for a URL.
func askOverHTTP(rs *resolver.Ruleset, url string) string {
	url, _, _ = strings.Cut(url, "#")
	request, err := resolver.ParseRequest(url)
	if err != nil {
		return ""
	}
	request.OverHTTP = true
	destination, result := rs.AppendDestination(nil, &request)
	if result.Outcome != resolver.Redirect {
		return ""
	}
	return string(destination)
}

func TestEscapesAreFoundWhereComparingAllPairsFindsThem(t *testing.T) {
	const site = "https://go.example"
	found := 0
	for seed := range seeds(8000) {
		r := newRandom(seed)
		path := func() string {
			return r.one("a", "b") + r.one("(", "%28", "%2f", "/", "%7e", "é") + r.one("", "!", "%21", "%zz")
		}
		byKey := map[string]resolver.Rule{}
		for range 5 {
			key := path()
			value := r.one("", site, "https://x.example") + "/" + path() + r.one("", "", "/", "?(")
			byKey[resolver.CanonicalKey(key, false)] = resolver.Rule{
				Key: key, Value: r.one(value, value, "gone"),
			}
		}
		rules := slices.Collect(maps.Values(byKey))
		rs := mustCompile(t, rules, resolver.Options{})
		got := map[string]bool{}
		Check(rs, Ruleset(rs), []string{"go.example"}, func(f Finding) {
			got[f.Key] = got[f.Key] || f.Kind == FindEscape
		})
		for _, rule := range rules {
			want := differsInEscape(rule, rules)
			if got[rule.Key] != want {
				t.Fatalf("seed %d, %+v: want %t, of %+v", seed, rule, want, rules)
			}
			if want {
				found++
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d differed in an escape", found)
	}
}

// differsInEscape compares the destination of a rule with all keys.
func differsInEscape(rule resolver.Rule, all []resolver.Rule) bool {
	sitePath := func(rule resolver.Rule) string {
		path, _, _ := strings.Cut(strings.TrimPrefix(rule.Value, "https://go.example"), "?")
		if !strings.HasPrefix(path, "/") {
			return ""
		}
		return resolver.CanonicalKey(strings.Trim(path, "/"), false)
	}
	decoded := strings.NewReplacer("%28", "(", "%21", "!")
	path := sitePath(rule)
	var first resolver.Rule // of the keys that differ in escapes
	for _, other := range all {
		key := resolver.CanonicalKey(other.Key, false)
		if key == path {
			return false
		}
		if decoded.Replace(key) == decoded.Replace(path) && (first.Key == "" || other.Key < first.Key) {
			first = other
		}
	}
	return path != "" && first.Key != "" && first.Value != "gone" && sitePath(first) != path
}

// paths returns all paths of up to depth segments, with and without a slash at the end.
func paths(segments []string, depth int) []string {
	all := []string{""}
	for from := 0; depth > 0; depth-- {
		to := len(all)
		for _, path := range all[from:to] {
			for _, segment := range segments {
				all = append(all, path+"/"+segment)
			}
		}
		from = to
	}
	for _, path := range all {
		all = append(all, path+"/")
	}
	return all[1:]
}

// goesRound reports whether a client has no end of redirects on the site.
func goesRound(rs *resolver.Ruleset, url string) bool {
	for range clientRedirects + 1 {
		destination, result := resolve(rs, url)
		if result.Outcome != resolver.Redirect {
			return false
		}
		url = destination
	}
	return true
}

func TestAHostWithASchemeIsOfTheSiteForThatSchemeAlone(t *testing.T) {
	rs := mustCompile(t, []resolver.Rule{
		{Key: "up", Value: "https://go.example/up/x"},
		{Key: "round", Value: "http://go.example/round/x"},
	}, resolver.Options{})
	for host, want := range map[string]string{
		"go.example": "round up", "http://go.example": "round", "https://go.example": "up",
		"http://go.example:8080": "", "": "",
	} {
		var keys []string
		Check(rs, Ruleset(rs), []string{host}, func(f Finding) {
			if f.Kind == FindCircle {
				keys = append(keys, f.Key)
			}
		})
		slices.Sort(keys)
		if got := strings.Join(keys, " "); got != want {
			t.Errorf("%q: got circles of %q, want %q", host, got, want)
		}
	}
}

func TestATemplatesDestinationWithTheHostOfTheSiteIsFollowedOnce(t *testing.T) {
	rs := mustCompile(t, []resolver.Rule{
		{Key: "a/{x}", Value: "https://x.example/" + strings.Repeat("{x}", 1000)},
		{Key: "k/{x}", Value: "https://e.example/k/{x}{x}{x}"},
	}, resolver.Options{})
	var kinds []Kind
	Check(rs, Ruleset(rs), []string{"e.example"}, func(f Finding) { kinds = append(kinds, f.Kind) })
	if !slices.Equal(kinds, []Kind{FindAgain}) {
		t.Errorf("check finds %v", kinds)
	}
}

func TestCheckMeasuresAQueryByItsRulesOwnMode(t *testing.T) {
	rs := mustCompile(t, []resolver.Rule{
		{Key: "a", Value: "https://x.example/?flag", Query: resolver.QueryIgnore},
		{Key: "b", Value: "https://x.example/?flag", Query: resolver.QueryMerge},
		{Key: "c/{x}", Value: "https://x.example/?{x}", Query: resolver.QueryPreserve},
		{Key: "d", Value: "/e?x=1", Query: resolver.QueryIgnore},
		{Key: "e", Value: "/a?y=1"},
	}, resolver.Options{Query: resolver.QueryPreserve})
	var got []string
	for _, f := range findings(rs) {
		got = append(got, string(f.Kind)+" "+f.Key)
	}
	slices.Sort(got)
	if want := []string{"long chain d", "query is changed b"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
