package resolver

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// at is where rules of these tests stand.
var at = Position{Source: "links.json", Line: 3, Column: 5}

const where = `links.json:3:5: key `

func TestABadKeyIsRefusedWithItsPlaceAndAdvice(t *testing.T) {
	for _, test := range []struct{ name, key, message string }{
		{"an empty key", "", `the key is empty; "/" itself cannot be a shortlink`},
		{"a leading slash", "/docs", `the key begins with "/"; write docs`},
		{"several leading slashes", "//docs/a", `the key begins with "/"; write docs/a`},
		{"a leading slash and more that is wrong", "/docs?a",
			`the key begins with "/"; remove it`},
		{"nothing but a slash", "/", `the key begins with "/"; "/" itself cannot be a shortlink`},
		{"more bytes than a request line holds", strings.Repeat("a", 1<<16),
			`the key is longer than 65535 bytes, which no request line holds; shorten it`},
		{"bytes that are not UTF-8", "caf\xe9",
			`the key is not valid UTF-8; write its bytes percent-encoded`},
		{"a line feed", "a\nb", `the key contains a control character; remove it, or write it percent-encoded`},
		{"a zero octet", "\x00", `the key contains a control character; remove it, or write it percent-encoded`},
		{"a delete character", "a\x7f",
			`the key contains a control character; remove it, or write it percent-encoded`},
		{"a control character beyond ASCII", "a\u0085",
			`the key contains a control character; remove it, or write it percent-encoded`},
		{"one in a template", "{a}/\u009b",
			`the key contains a control character; remove it, or write it percent-encoded`},
		{"a leading space", " a",
			`the key begins or ends with a space; remove it, or write %20`},
		{"a trailing space", "a ",
			`the key begins or ends with a space; remove it, or write %20`},
		{"a question mark", "a?b",
			`the key contains "?", but is compared with the path alone; for a question mark in the path write %3F`},
		{"a number sign", "a#b", `the key contains "#", but is compared with the path alone; for a number sign in the path write %23`},
		{"a backslash", `a\b`, `the key contains "\", which a URL's path never does; write "/", or %5C for a backslash`},
		{"an opening brace", "a{b",
			`unmatched "{"; write %7B for { and %7D for }, or a variable like {name}`},
		{"a closing brace", "a}b",
			`unmatched "}"; write %7B for { and %7D for }, or a variable like {name}`},
		{"a dot segment", "a/./b",
			`the key has a segment "." or "..", perhaps percent-encoded, which a URL's path never has; leave it out`},
		{"a double-dot segment", "a/..",
			`the key has a segment "." or "..", perhaps percent-encoded, which a URL's path never has; leave it out`},
		{"an escaped dot segment", "%2e",
			`the key has a segment "." or "..", perhaps percent-encoded, which a URL's path never has; leave it out`},
		{"a half-escaped double-dot segment", ".%2E/a",
			`the key has a segment "." or "..", perhaps percent-encoded, which a URL's path never has; leave it out`},
	} {
		t.Run(test.name, func(t *testing.T) {
			refused(t, Rule{Key: test.key, Value: "/x", Position: at}, ErrInvalidKey, test.message)
		})
	}
}

func TestABadValueIsRefusedWithItsPlaceAndAdvice(t *testing.T) {
	const dots = `the path of the destination has a segment "." or "..", perhaps percent-encoded; write the path that it leads to`
	const neither = ` is neither a URL that begins with http:// or https:// nor a path that begins with /; `
	for _, test := range []struct{ name, value, message string }{
		{"nothing", "", `the destination is empty; write a URL like https://example.com/docs or a path like /docs`},
		{"bytes that are not UTF-8", "https://x.example/\xff",
			`the destination is not valid UTF-8; write its bytes percent-encoded`},
		{"a tab", "https://x.example/\t",
			`the destination contains a control character; remove it, or write it percent-encoded`},
		{"a line feed in a fragment", "/a#\n",
			`the destination contains a control character; remove it, or write it percent-encoded`},
		{"a control character beyond ASCII", "/a?\u009b",
			`the destination contains a control character; remove it, or write it percent-encoded`},
		{"a leading space", " /a",
			`the destination begins or ends with a space; remove it, or write %20`},
		{"a trailing space", "https://x.example ",
			`the destination begins or ends with a space; remove it, or write %20`},
		{"a port alone", ":8080",
			`the destination ":8080"` + neither +
				`write the host, too, as in https://localhost:8080`},
		{"no port", ":99999/x", `the destination ":99999/x"` + neither +
			`write a URL like https://example.com/docs or a path like /docs`},
		{"a URL in marks", "'https://x.example'",
			`the destination "'https://x.example'"` + neither + `write https://x.example`},
		{"a URL in marks of a text program", "„https://x.example“,",
			`the destination "„https://x.example“,"` + neither + `write https://x.example`},
		{"a URL in angle brackets", "<https://x.example>",
			`the destination "<https://x.example>"` + neither + `write https://x.example`},
		{"a word in marks", "'docs',", `the destination "'docs',"` + neither + `write /docs`},
		{"a scheme without a colon", "https//x.example",
			`the destination "https//x.example"` + neither + `write https://x.example`},
		{"a host that is none", "x..example/a",
			`the destination "x..example/a"` + neither +
				`write https://x..example/a or /x..example/a`},
		{"a scheme without a host", "https:",
			`the destination "https:"` + neither +
				`write a URL like https://example.com/docs or a path like /docs`},
		{"slashes alone", "//", `the destination begins with "//"; write / for a path of this one`},
		{"slashes and dots", "//a/../b",
			`the destination begins with "//"; write https://a/../b for another host`},
		{"a host alone", "x.example/a",
			`the destination "x.example/a"` + neither +
				`write https://x.example/a or /x.example/a`},
		{"a relative path", "docs/v2", `the destination "docs/v2"` + neither + `write /docs/v2`},
		{"a path from here", "./docs", `the destination "./docs"` + neither + `write /docs`},
		{"a path from above", "../../docs",
			`the destination "../../docs"` + neither + `write /docs`},
		{"nothing but dots", "..", `the destination ".."` + neither + `write /`},
		{"a relative path with backslashes", `docs\v2`,
			`the destination "docs\\v2"` + neither + `write /docs/v2`},
		{"a name that begins with a dot", ".well-known/x",
			`the destination ".well-known/x"` + neither + `write /.well-known/x`},
		{"the status of what is gone", "410", `the destination "410"` + neither + `write gone`},
		{"the status of what is not there", "404", `the destination "404"` + neither +
			`write pass, which lets the next handler answer, or gone for 410`},
		{"a query alone", "?a=b", `the destination "?a=b"` + neither + `write /?a=b`},
		{"a host with a port", "localhost:8080/a",
			`the destination "localhost:8080/a"` + neither +
				`write https://localhost:8080/a or /localhost:8080/a`},
		{"a script", "javascript:alert(1)",
			`the destination "javascript:alert(1)"` + neither +
				`other schemes are not redirected to`},
		{"a mail address", "mailto:ann@x.example",
			`the destination "mailto:ann@x.example"` + neither +
				`other schemes are not redirected to`},
		{"a scheme without slashes", "http:x.example",
			`the destination "http:x.example"` + neither + `write http://x.example`},
		{"a scheme with one slash", "https:/x.example",
			`the destination "https:/x.example"` + neither + `write https://x.example`},
		{"a scheme with backslashes", `https:\\x.example`,
			`the destination "https:\\\\x.example"` + neither + `write https://x.example`},
		{"a scheme in upper case", "HTTPS://x.example/A",
			`the destination "HTTPS://x.example/A"` + neither + `write https://x.example/A`},
		{"another scheme", "ftp://x.example",
			`the destination "ftp://x.example"` + neither + `other schemes are not redirected to`},
		{"no host", "https://", `the destination "https://" is not a URL: the host is missing`},
		{"a port that is too large", "https://x.example:65536",
			`the destination "https://x.example:65536" is not a URL: the port is above 65535`},
		{"two leading slashes", "//x.example/a",
			`the destination begins with "//"; write https://x.example/a for another host, or /x.example/a for a path of this one`},
		{"a backslash in the path", `/a\b`,
			`the path of the destination contains "\"; write "/", or %5C for a backslash`},
		{"a dot segment", "/a/./b", dots},
		{"a double-dot segment before a query", "/a/..?b", dots},
		{"an escaped double-dot segment", "/%2E%2e/a", dots},
		{"a path that ends in a space before a query", "/a ?b=1",
			`the path of the destination ends in a space; remove it, or write %20`},
		{"a path that ends in a space before a fragment", "/a #b",
			`the path of the destination ends in a space; remove it, or write %20`},
		{"two number signs", "/a#b#c",
			`the destination has more than one "#", of which the last one is taken; for the others write %23`},
		{"two question marks", "/a?b?c",
			`the destination has more than one "?" before any "#", of which the last one is taken; for the others write %3F`},
	} {
		t.Run(test.name, func(t *testing.T) {
			refused(t, Rule{Key: "k", Value: test.value, Position: at}, ErrInvalidValue,
				test.message)
		})
	}
}

func TestKeyAndDestinationInExchangedPlacesAreToldTogether(t *testing.T) {
	for _, test := range []struct{ name, key, value, meantKey string }{
		{"a word", "https://docs.example", "docs", "docs"},
		{"a path", "https://docs.example/v2?a=b#c", "team/docs", "team/docs"},
		{"a name with a dot", "http://docs.example", "docs.txt", "docs.txt"},
		{"a template", "https://docs.example/{x}", "docs/{x}", "docs/{x}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			refused(t, Rule{Key: test.key, Value: test.value, Position: at}, ErrInvalidValue,
				"key and destination are exchanged: write the key "+test.meantKey+
					" and the destination "+test.key)
		})
	}
	for key, value := range map[string]string{
		"https://a.example": "a?b", "docs.example": "docs", "https://": "docs",
	} {
		_, err := Compile([]Rule{{Key: key, Value: value}}, Options{})
		if err == nil || strings.Contains(err.Error(), "exchanged") {
			t.Errorf("%s %s: %v", key, value, err)
		}
	}
}

func TestAStatusThatRedirectsNobodyIsRefused(t *testing.T) {
	for _, status := range []int{-1, 1, 200, 300, 304, 305, 306, 309, 404, 3010} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			refused(t, Rule{Key: "k", Value: "/x", Status: status, Position: at}, ErrInvalidStatus,
				fmt.Sprintf("%d is not the status of a redirect; write 301, 302, 303, 307 or 308",
					status))
		})
	}
}

// refused fails unless exactly this one thing is wrong with a rule.
func refused(t *testing.T, rule Rule, kind error, message string) {
	t.Helper()
	_, err := Compile([]Rule{rule}, Options{})
	if !errors.Is(err, kind) {
		t.Fatalf("error %v, want %v", err, kind)
	}
	e, ok := errors.AsType[*RuleError](err)
	if !ok {
		t.Fatalf("%T is no RuleError", err)
	}
	if e.Position != rule.Position || e.Key != rule.Key || e.Message != message {
		t.Errorf("%+v\nwant the message %s", *e, message)
	}
	if want := where + quote(rule.Key) + ": " + message; err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

func TestAllErrorsAreReportedAtOnceInTheOrderOfTheRules(t *testing.T) {
	_, err := Compile([]Rule{
		{Key: "good", Value: "/x", Position: Position{"links.json", 2, 3}},
		{Key: "/a", Value: "x", Status: 200, Position: Position{"links.json", 3, 3}},
		{Key: "b", Value: "/b#c#d", Position: Position{"links.json", 4, 3}},
		{Key: "good", Value: "/y", Position: Position{"links.json", 5, 3}},
		{Key: "c?", Value: "https://x.example", Position: Position{"links.json", 6, 3}},
		{Key: "%67ood", Value: "/z", Position: Position{"links.json", 7, 3}},
	}, Options{})
	const want = `links.json:3:3: key "/a": the key begins with "/"; write a
links.json:3:3: key "/a": the destination "x" is neither a URL that begins with http:// or https:// nor a path that begins with /; write /x
links.json:3:3: key "/a": 200 is not the status of a redirect; write 301, 302, 303, 307 or 308
links.json:4:3: key "b": the destination has more than one "#", of which the last one is taken; for the others write %23
links.json:5:3: key "good": the key is already defined at links.json:2:3; remove one of the two rules
links.json:6:3: key "c?": the key contains "?", but is compared with the path alone; for a question mark in the path write %3F
links.json:7:3: key "%67ood": the key is the same as "good", which is already defined at links.json:2:3; remove one of the two rules`
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
	for _, kind := range []error{ErrInvalidKey, ErrInvalidValue, ErrInvalidStatus,
		ErrDuplicateKey} {
		if !errors.Is(err, kind) {
			t.Errorf("the errors are no %v", kind)
		}
	}
	for _, kind := range []error{ErrHostNotAllowed, ErrLoop} {
		if errors.Is(err, kind) {
			t.Errorf("the errors are a %v", kind)
		}
	}
}

func TestADuplicateKeyNamesBothPlaces(t *testing.T) {
	first, second := Position{"links.json", 2, 3}, Position{"links.json", 7, 3}
	for _, test := range []struct {
		name       string
		key, again string
		opts       Options
		message    string
	}{
		{"in the same spelling", "docs", "docs", Options{},
			`the key is already defined at links.json:2:3; remove one of the two rules`},
		{"raw and escaped", "café", "caf%c3%a9", Options{},
			`the key is the same as "café", which is already defined at links.json:2:3; remove one of the two rules`},
		{"with an unreserved octet escaped", "~a", "%7ea", Options{},
			`the key is the same as "~a", which is already defined at links.json:2:3; remove one of the two rules`},
		{"in another case that is folded", "Docs", "dOCS", Options{FoldCase: true},
			`the key is the same as "Docs", which is already defined at links.json:2:3; remove one of the two rules`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Compile([]Rule{
				{Key: test.key, Value: "https://x.example", Position: first},
				{Key: "other", Value: "https://x.example", Position: Position{"links.json", 3, 3}},
				{Key: test.again, Value: "/x", Position: second},
			}, test.opts)
			e, ok := errors.AsType[*RuleError](err)
			if !ok || !errors.Is(err, ErrDuplicateKey) {
				t.Fatalf("error %v", err)
			}
			want := RuleError{Kind: ErrDuplicateKey, Position: second, Key: test.again,
				Message: test.message, First: first}
			if *e != want {
				t.Errorf("%+v\nwant\n%+v", *e, want)
			}
		})
	}
}

func TestADuplicateOfARuleWithoutAPlaceIsReportedWithoutIt(t *testing.T) {
	_, err := Compile([]Rule{{Key: "a", Value: "/x"}, {Key: "a", Value: "/y"}}, Options{})
	const want = `key "a": the key is already defined; remove one of the two rules`
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestEveryDuplicateIsReportedWithTheFirstRule(t *testing.T) {
	var rules []Rule
	for line := range 4 {
		rules = append(rules, Rule{Key: "a", Value: fmt.Sprint("/", line),
			Position: Position{Line: line + 1, Source: "s"}})
	}
	_, err := Compile(rules, Options{})
	const want = `s:2: key "a": the key is already defined at s:1; remove one of the two rules
s:3: key "a": the key is already defined at s:1; remove one of the two rules
s:4: key "a": the key is already defined at s:1; remove one of the two rules`
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
}

func TestKeysThatFoldTogetherAreTwoKeysWithoutFolding(t *testing.T) {
	rules := []Rule{{Key: "A", Value: "https://x.example/1"},
		{Key: "a", Value: "https://x.example/2"}}
	if got, _ := resolve(mustCompile(t, rules, Options{}),
		"https://go.example/a"); got != "https://x.example/2" {
		t.Errorf("a leads to %q", got)
	}
}

func TestTheLongestDestinationIsTakenAndALongerOneIsNot(t *testing.T) {
	long := "https://x.example/"
	long += strings.Repeat("a", maxDestination-len(long))
	if _, err := Compile([]Rule{{Key: "b", Value: long + "a"}}, Options{}); !errors.Is(err,
		ErrInvalidValue) {
		t.Errorf("longer: %v", err)
	}
	rules := []Rule{{Key: "a", Value: "https://x.example/1"}, {Key: "b", Value: long},
		{Key: "c", Value: "/b"}, {Key: "d", Value: "https://x.example/2"}}
	rs := mustCompile(t, rules, Options{})
	for key, want := range map[string]string{"a": "https://x.example/1", "b": long, "c": long,
		"d": "https://x.example/2"} {
		if got, _ := resolve(rs, "https://go.example/"+key); got != want {
			t.Errorf("%s leads to %d bytes, want %d", key, len(got), len(want))
		}
	}
}

func TestAChainThatAppendsTooMuchIsAnError(t *testing.T) {
	part := "/" + strings.Repeat("a", maxDestination/2)
	rules := []Rule{{Key: "a", Value: "/b" + part}, {Key: "b", Value: "/c" + part},
		{Key: "c", Value: "https://x.example"}}
	_, err := Compile(rules, Options{})
	e, ok := errors.AsType[*RuleError](err)
	if !ok || e.Kind != ErrInvalidValue || e.Key != "a" {
		t.Errorf("%v", err)
	}
}

func TestTheLongestKeyIsTaken(t *testing.T) {
	key := strings.Repeat("a", maxKey)
	rs := mustCompile(t, []Rule{{Key: key, Value: "https://x.example"}}, Options{})
	if got, _ := resolve(rs, "https://go.example/"+key); got != "https://x.example/" {
		t.Errorf("it leads to %q", got)
	}
}

func TestARulesetReturnsItsRulesAsTheyWereWritten(t *testing.T) {
	rules := []Rule{
		{Key: "a", Value: "https://x.example", Status: 301, Position: Position{"s", 1, 2}},
		{Key: "B/%c3%a9", Value: "HTTPS", Exact: true},
		{Key: "c", Value: "https://X.example:443/é?a b#c d", Unlisted: true,
			Position: Position{"s", 2, 0}},
		{Key: "d", Value: "https://u:p@x.example/?", Exact: true, Unlisted: true,
			Position: Position{"s", 3, 0}},
		{Key: "e", Value: "/é?#", Status: 308, Position: Position{"s", 4, 0}},
		{Key: "f", Value: "/f", Position: Position{"s", 1 << 20, 1 << 10}},
		{Key: "g", Value: "https://x.example/a?b=c#d"},
		{Key: "h", Value: "https://x.example/a?b&c#d", Query: QueryIgnore, Status: 303},
		{Key: "i", Value: "https://x.example/a?é&&b", Query: QueryPreserve, Exact: true},
		{Key: "j", Value: "/g?b", Query: QueryMerge, Status: 308, Unlisted: true},
		{Key: "k/{x}", Value: "/g?{x}", Query: QueryIgnore},
	}
	rules[1].Value = "https://x.example/"
	rs := mustCompile(t, rules, Options{FoldCase: true, Status: 307})
	got := slices.SortedFunc(rs.Rules(),
		func(a, b Rule) int {
			return strings.Compare(strings.ToLower(a.Key),
				strings.ToLower(b.Key))
		})
	if !slices.Equal(got, rules) || rs.Len() != len(rules) {
		t.Errorf("%d rules\n%+v\nwant\n%+v", rs.Len(), got, rules)
	}
}

func TestRulesStopWhenNobodyWantsMore(t *testing.T) {
	rs := mustCompile(t, []Rule{{Key: "a", Value: "/x"}, {Key: "b", Value: "/y"}}, Options{})
	n := 0
	for range rs.Rules() {
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d rules", n)
	}
}

func TestAnEmptyRulesetLetsEverythingPass(t *testing.T) {
	rs := mustCompile(t, nil, Options{})
	for _, request := range []string{"https://go.example", "https://go.example/a/b",
		"https://go.example/%61?b#c"} {
		if destination, result := resolve(rs, request); destination != "" || result != (Result{}) {
			t.Errorf("%s: %q %+v", request, destination, result)
		}
	}
}

func TestARequestThatIsNoURLIsAnError(t *testing.T) {
	rs := mustCompile(t, nil, Options{})
	if destination, result := resolve(rs, "go.example/a"); destination != "" ||
		result.Outcome != Failed || result.Err == nil {
		t.Errorf("%q %+v", destination, result)
	}
}

func TestOfAMillionBadRulesTheFirstErrorsAreTold(t *testing.T) {
	c, err := NewCompiler(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 * maxErrors {
		c.Add(Rule{Key: "/" + strconv.Itoa(i), Value: "nonsense"})
	}
	_, err = c.Compile()
	errs, _ := errors.AsType[RuleErrors](err)
	if len(errs) != maxErrors || errs[0].Key != "/0" ||
		errs[maxErrors-1].Key != "/"+strconv.Itoa(maxErrors/2-1) {
		t.Errorf("%d errors", len(errs))
	}
}
