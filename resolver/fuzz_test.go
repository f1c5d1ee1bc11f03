package resolver

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// freeRules reads rules from fuzzed text: a line each, key and value apart at the first "=>". A "!"
// in front makes a rule exact, a "+" permanent. A "1", "2" or "3" and a ":" there is a query mode.
func freeRules(text string) (rules []Rule) {
	for line := range strings.SplitSeq(text, "\n") {
		key, value, found := strings.Cut(line, "=>")
		if !found || len(rules) == 16 || len(line) > 500 || IsTemplate(key) &&
			IsTemplate(plainVariable.ReplaceAllString(line, "")) {
			continue // the plain algorithm knows no other expressions
		}
		rule := Rule{Position: Position{Source: "fuzz", Line: len(rules) + 1}}
		key, rule.Exact = strings.CutPrefix(key, "!")
		key, permanent := strings.CutPrefix(key, "+")
		if permanent {
			rule.Status = 308
		}
		if mode, rest, says := strings.Cut(key, ":"); says && len(mode) == 1 &&
			"1" <= mode && mode <= "3" {
			rule.Query, key = QueryMode(mode[0]-'0'), rest
		}
		rule.Key, rule.Value = key, value
		rules = append(rules, rule)
	}
	return rules
}

var plainVariable = regexp.MustCompile(`\{\+?[a-z]+\}`)

// validAmong returns the rules that can be compiled beside the ones before them.
func validAmong(rules []Rule, opts Options) (valid []Rule) {
	for _, rule := range rules {
		if rs, err := Compile(append(valid, rule), opts); err == nil && !isAmbiguous(rs) {
			valid = append(valid, rule)
		}
	}
	return valid
}

// fuzzedRuleset is a ruleset of the generators under a seed, with rules from free text.
func fuzzedRuleset(seed uint64, text string) ([]Rule, Options) {
	r := newRandom(seed)
	opts := r.options()
	var rules []Rule
	if r.IntN(2) == 0 {
		rules = r.ruleset(opts)
	}
	return validAmong(append(rules, freeRules(text)...), opts), opts
}

const exampleRules = `a=>/b/x?e=1#f
!b=>https://x.example/p?d=2
+b/x=>/é/%zz
é=>https://go.example/{y}?a=1&a=2
c/d/=>/c//
t/{x}=>https://x.example/{x}?y={x}
b/c=>pass
a/b=>gone
t/{x}/w=>gone
!{+z}/w=>/t/{+z}#{z}
3:q=>/é?&=+&%zz
3:q/{x}=>/t/{x}?e=1
2:p/{x}=>/b/x?{x}
a{y}=>/b/x/{y}
%2e=>/..`

func FuzzResolve(f *testing.F) {
	for _, request := range []string{"a/r?q=1#h", "b/", "b/y", "%C3%A9/%2e%2e%2f", "c/d//e",
		"a//b?&&=&e=%zz", "\xff/\t?#", "c\\d\\", "t/u|v%2f/w?y=2", "1/2/w", "ab/%zz", "t/t/w"} {
		f.Add(uint64(0), exampleRules, request)
		f.Add(uint64(0), exampleRules, "q/"+request)
		f.Add(uint64(2), "a=>/a\nb=>/c\nc=>/b", request)
	}
	f.Add(uint64(0), "t{x}=>/{x}{x}\nt{y}t=>/t{y}{y}t", "tttttttt")
	f.Add(uint64(0), "{+x}=>/{+x}/{+x}", "a/b")
	for seed := range uint64(40) {
		r := newRandom(seed)
		f.Add(seed, exampleRules,
			strings.TrimPrefix(r.mutated(r.requestURL(r.ruleset(r.options()))),
				"https://go.example/"))
	}
	f.Fuzz(func(t *testing.T, seed uint64, text, request string) {
		if len(request) > 2000 {
			return // the plain one takes its time
		}
		rules, opts := fuzzedRuleset(seed, text)
		sameAnswer(t, rules, opts, "https://go.example/"+request)
	})
}

// FuzzHost holds the promise that nothing a client sends chooses the host: scheme and host of a
// destination are a rule's, or the configured origin's, or those under which the request came in.
func FuzzHost(f *testing.F) {
	for _, target := range []string{
		"/a//evil.test", `/a/\evil.test`, "/a/@evil.test", "/home//evil.test", "/home/%2Fevil.test", "/a.evil.test", "/a:80", "/a/../..//evil.test",
		"//evil.test/a", "/a?://evil.test", "/a#@evil.test", "/home/..//evil.test", "/home/\t/evil.test", "/%61%40evil.test",
	} {
		for _, host := range []string{"go.example", "", "go.example/", "go.example:8080",
			"evil.test@go.example", "go.example\\x", "[::1]:81", "g\to"} {
			f.Add(uint64(1), "home=>/\na=>https://x.example\nb=>/a/b", host, target)
			f.Add(uint64(1), "home{x}=>/{x}\na/{+y}=>/{+y}\n{+z}=>https://x.example/{+z}", host,
				target)
		}
	}
	f.Fuzz(func(t *testing.T, seed uint64, text, host, target string) {
		rules, opts := fuzzedRuleset(seed, text)
		request, ok := NewRequest("https", host, target)
		if !ok {
			return
		}
		request.OverHTTP = true
		rs := mustCompile(t, rules, opts)
		destination, result := rs.AppendDestination(nil, &request)
		if result.Outcome != Redirect {
			return
		}
		u, err := weburl.Parse(string(destination))
		if err != nil || u.Href() != string(destination) {
			t.Fatalf("%q is no URL as it is spelled: %v", destination, err)
		}
		if !slices.Contains(originsOf(rules, opts, host), u.Origin()) {
			t.Errorf("rules %+v, host %q, target %q: %q", rules, host, target, destination)
		}
	})
}

// originsOf returns the origins that destinations may have: the rules' own, and the configured one
// or else the host's.
func originsOf(rules []Rule, opts Options, host string) (origins []string) {
	for _, rule := range rules {
		literal := rule.Value
		if IsTemplate(rule.Key) {
			literal, _, _ = strings.Cut(literal, "{") // expressions are behind the host
		}
		if u, err := weburl.Parse(literal); err == nil {
			origins = append(origins, u.Origin())
		}
	}
	if opts.Origin != "" {
		return append(origins, opts.Origin)
	}
	if u, err := weburl.Parse("https://" + host); err == nil &&
		!strings.ContainsAny(host, "/\\?#@\t\n\r") {
		origins = append(origins, u.Origin())
	}
	return origins
}

func FuzzCompile(f *testing.F) {
	f.Add(exampleRules, "k", "/k/below", false)
	for _, key := range []string{"", "/", "a//b", "%", "%zz/é", "a\x00", "\u009b", "\xff", ".",
		"a/..", "{x}", "a\u2028 b", "A", "a/"} {
		f.Add("a=>/a ?b\nA=>https://\na/=>x", key, "https://x.example", true)
	}
	for _, value := range []string{"", "/", "//", "/a#b#c", "/a?b?c#d", "https://", "https://[",
		"http:x", "/\\", "/\x7f", "https:///x", "/%2e", "/é ?"} {
		f.Add("a=>/b\nb=>/a", "a", value, false)
	}
	f.Fuzz(func(t *testing.T, text, key, value string, fold bool) {
		rule := Rule{Key: key, Value: value}
		rs, err := Compile([]Rule{rule}, Options{FoldCase: fold})
		if err == nil {
			if _, result := resolve(rs, "https://go.example/"+key); result.Key != key {
				t.Errorf("the rule %+v is accepted, and its key finds %+v", rule, result)
			}
		}
		acceptedTogetherAsAlone(t, append(freeRules(text), rule), Options{FoldCase: fold})
	})
}

// acceptedTogetherAsAlone fails unless rules are accepted just when each is alone and no two have
// one key, and unless every error is of a rule and says something.
func acceptedTogetherAsAlone(t *testing.T, rules []Rule, opts Options) {
	t.Helper()
	good := true
	seen := map[string]bool{}
	for i := range rules {
		rules[i].Position = Position{Source: "fuzz", Line: i + 1}
		_, err := Compile(rules[i:i+1], opts)
		key := plainKey(rules[i].Key, opts)
		good = good && err == nil && !seen[key]
		seen[key] = true
	}
	_, err := Compile(rules, opts)
	if good != (err == nil) {
		t.Fatalf("%+v\nare all good: %v; together: %v", rules, good, err)
	}
	if err == nil {
		return
	}
	errs, ok := errors.AsType[RuleErrors](err)
	if !ok || len(errs) == 0 {
		t.Fatalf("%T %v", err, err)
	}
	for _, e := range errs {
		if rules[e.Position.Line-1].Key != e.Key || e.Message == "" || e.Kind == nil {
			t.Errorf("%+v is the error of no rule", e)
		}
	}
}

// What an error suggests instead of a bad value is good.
func FuzzSuggestion(f *testing.F) {
	for _, value := range []string{":8080", "'https://a.example'", "https//a", "a..b:1/x", "..\\a",
		"x:y", "<a>", "a b?c?d", "'", "http:"} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		_, err := parseValue(value)
		if err == nil {
			return
		}
		_, suggestion, found := strings.Cut(err.Error(), "; write ")
		if !found || strings.ContainsAny(value, " ;\u00a0\u2003") {
			return
		}
		for _, word := range strings.Fields(suggestion) {
			if !isAbsolute(word) && !isInternal(word) {
				continue
			}
			if _, err := parseValue(word); err != nil {
				t.Errorf("%q is bad, and so is %q: %s", value, word, err)
			}
		}
	})
}
