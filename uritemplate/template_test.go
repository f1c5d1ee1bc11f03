package uritemplate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func bytesReader(b []byte) io.Reader { return bytes.NewReader(b) }

func mustParse(t testing.TB, template string) *Template {
	t.Helper()
	parsed, err := Parse(template)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func mustMatcher(t testing.TB, template string) *Matcher {
	t.Helper()
	m, err := mustParse(t, template).Matcher()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestAMalformedTemplateIsRefusedWithThePlaceAndTheReason(t *testing.T) {
	for template, want := range map[string]string{
		"a{b":       `at byte 2: this "{" has no "}"`,
		"a}":        `at byte 2: a "}" without its "{"; write %7D for the character`,
		"a{b{c}}":   `at byte 4: a "{" inside an expression`,
		"{}":        "at byte 2: the expression is empty",
		"{=a}":      "at byte 2: the operator '=' is reserved",
		"{+}":       "at byte 3: the name of a variable is missing",
		"{a,}":      "at byte 4: the name of a variable is missing",
		"{a..b}":    "at byte 4: the name of a variable is missing",
		"{a.}":      "at byte 4: the name of a variable is missing",
		"{a b}":     "at byte 3: ' ' after a variable",
		"{a:0}":     "at byte 4: a prefix is a number from 1 to 9999",
		"{a:10000}": "at byte 4: a prefix is a number from 1 to 9999",
		"{a:1*}":    "at byte 5: '*' after a variable",
		"a%2":       `at byte 2: a "%" without two hex digits; write %25`,
		"a b":       `at byte 2: ' ' is not allowed in a URI`,
		"a\xff":     "at byte 2: not a Unicode character",
		"{é}":       "at byte 2: the name of a variable is missing",
	} {
		_, err := Parse(template)
		if _, is := errors.AsType[*SyntaxError](err); !is || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", template, err, want)
		}
	}
}

func TestATemplateShowsItsParts(t *testing.T) {
	template := mustParse(t, "/é{/owner,repo*}{?q:3,owner}")
	var got []string
	for _, part := range template.Parts() {
		if part.Expression == nil {
			got = append(got, part.Literal)
			continue
		}
		got = append(got, fmt.Sprintf("%d:%c%v", part.Offset, part.Expression.Operator, part.Expression.Variables))
	}
	want := []string{"/%C3%A9", "3:/[{owner 0 0 false} {repo 1 0 true}]", "17:?[{q 2 3 false} {owner 0 0 false}]"}
	if strings.Join(got, " ") != strings.Join(want, " ") || fmt.Sprint(template.Names()) != "[owner repo q]" || template.String() != "/é{/owner,repo*}{?q:3,owner}" {
		t.Errorf("the parts are %q of %q", got, template.Names())
	}
}

// What RFC 6570 leaves to be read out of its text.
func TestCasesThatTheOfficialSuiteLeavesOutExpandByTheText(t *testing.T) {
	for _, tt := range []struct {
		template string
		value    Value // of the variable x
		want     string
	}{
		{"{/x*}", Pairs("k", ""), "/k="},
		{"{;x*}", Pairs("k", ""), ";k"},
		{"{?x*}", Pairs("k", ""), "?k="},
		{"{;x}", List("", "a"), ";x=,a"},
		{"{;x}", List(""), ";x"},
		{"{+x:2}", String("A%2Fb"), "A%2F"},
		{"{x:2}", String("%41"), "%254"},
		{"{+x:1}", String("%C3%A9%2F"), "%C3%A9"},
		{"{x:2}", Raw("%C3%A9%2Fb"), "%C3%A9%2F"},
		{"{x}", Raw("a%2Fb/c%"), "a%2Fb%2Fc%25"},
		{"{x}", String("a%2Fb"), "a%252Fb"},
		{"{+x}", Raw("a/b?c#d%2f é"), "a/b?c#d%2f%20%C3%A9"},
		{"{#x}", String("a/b?c#d"), "#a/b?c#d"},
		{"{#x}", String(""), "#"},
		{"X{.x}", String(""), "X."},
		{"{x}", List(), ""},
		{"{?x}", Pairs(), ""},
		{"{x}", RawList("a%2F", "b"), "a%2F,b"},
		{"{?x*}", RawPairs("a%2F", "b%2F"), "?a%2F=b%2F"},
	} {
		got, err := mustParse(t, tt.template).Expand(map[string]Value{"x": tt.value})
		if err != nil || got != tt.want {
			t.Errorf("%s with %v gives %q, %v; want %q", tt.template, tt.value, got, err, tt.want)
		}
	}
}

func TestAPrefixIsForStringsAlone(t *testing.T) {
	for _, value := range []Value{List("a", "b"), Pairs("a", "b")} {
		_, err := mustParse(t, "{x:3}").Expand(map[string]Value{"x": value})
		if wrong, is := errors.AsType[*PrefixError](err); !is || wrong.Name != "x" {
			t.Errorf("%v: got %v", value, err)
		}
	}
}

func TestMatchingFindsWhatTheURIHoldsAsItStandsThere(t *testing.T) {
	for _, tt := range []struct {
		template, uri string
		want          string // as fmt prints the values, or "no"
	}{
		{"/u/{id}", "/u/a%2Fb", "[a%2Fb]"},
		{"/u/{id}", "/u/a/b", "no"},
		{"/u/{id}", "/u/%zz", "no"},
		{"/u/{id}", "/u/é", "no"},
		{"/u/{id}", "/u/", "[-]"},
		{"/u/{id}/x", "/u/1/x", "[1]"},
		{"/u/{id}/x", "/u/1/xx", "no"},
		{"/u/{id}.json", "/u/a.b.json", "[a.b]"},
		{"/repos{/owner,repo}{?q,lang}", "/repos/go/net?q=x&lang=en", "[go net x en]"},
		{"/repos{/owner,repo}{?q,lang}", "/repos/go?lang=en", "[go - - en]"},
		{"/repos{/owner,repo}{?q,lang}", "/repos", "[- - - -]"},
		{"/repos{/owner,repo}{?q,lang}", "/repos/a/b/c", "no"},
		{"/repos{/owner,repo}{?q,lang}", "/repos/go?lang=en&q=x", "no"},
		{"/repos{/owner,repo}{?q,lang}", "/repos/go?other=1", "no"},
		{"/files/{+path}", "/files/a/b%2Fc", "[a/b%2Fc]"},
		{"{+path}/edit/{n}", "a/edit/b/edit/7", "[a/edit/b 7]"},
		{"{+path}/edit", "a/edit/edit", "[a/edit]"},
		{"/{a}/{+b}/{c}", "/1/2/3/4", "[1 2/3 4]"},
		{"/{x}/{x}", "/a/a", "[a]"},
		{"/{x}/{x}", "/a/b", "no"},
		{"/{x:1}/{x}", "/v/value", "[value]"},
		{"/{x:1}/{x}", "/z/value", "no"},
		{"/{x:3}", "/abcd", "no"},
		{"{?list*}", "?list=a&list=b", "[list(a b)]"},
		{"{?m*}", "?a=1&b=2", "[pairs(a 1 b 2)]"},
		{"{?m*,z}", "?a=1&z=2", "[pairs(a 1) 2]"},
		{"{;x}", ";x", "[]"},
		{"{;x}", ";x=", "no"},
		{"{?x}", "?x=", "[]"},
		{"{?x}", "?x", "no"},
		{"{#x}", "#", "[]"},
		{"{x,y}", "1,2", "[1 2]"},
		{"{x,y}", "1", "[1 -]"},
		{"{x,y}", "1,2,3", "[1 list(2 3)]"},
		{"{/l*,x}", "/a/b/c", "[list(a b) c]"},
		{"X{.x,y}", "X.a.b", "[a b]"},
		{"X{.x,y}", "X.a", "[a -]"},
		{"é{x}", "%C3%A9y", "[y]"},
		{"", "", "[]"},
		{"a", "ab", "no"},
	} {
		got := "no"
		if found, ok := mustMatcher(t, tt.template).Match(tt.uri, nil); ok {
			got = "[" + strings.Join(texts(found), " ") + "]"
		}
		if got != tt.want {
			t.Errorf("%s on %s: got %s, want %s", tt.template, tt.uri, got, tt.want)
		}
	}
}

// texts returns values for people.
func texts(values []Value) (all []string) {
	for _, v := range values {
		switch v.kind {
		case undefined:
			all = append(all, "-")
		case text:
			all = append(all, v.text)
		case list:
			all = append(all, "list("+strings.Join(v.list, " ")+")")
		case pairs:
			all = append(all, "pairs("+strings.Join(v.list, " ")+")")
		}
	}
	return all
}

func TestATemplateWhoseExpressionsHaveNoClearEndIsNotMatched(t *testing.T) {
	for template, ambiguous := range map[string]bool{
		"{a}{b}":                     true,
		"{a}-{b}":                    true,
		"{+a}{?q}":                   true,
		"{+a}/{+b}":                  true,
		"{/a}{/b}":                   true,
		"{+a}/x{/b*}":                true,
		"{a}/{b}":                    false,
		"{a}.json":                   false,
		"{+a}/{b}":                   false,
		"/{a}/{+b}":                  false,
		"{/a,b}{?q}{#f}":             false,
		"{a}{?q}":                    false,
		"{+a}":                       false,
		"/x{?a,b}&fixed=1":           false,
		"/{a}/{+b}/x/{c}/{d}.{e}":    true,
		"/{a}/{+b}/x/{c}/{d}/{e}.js": false,
		"/{a}/{+b}/x/{c}/{d}/{e}/js": false,
	} {
		parsed := mustParse(t, template)
		_, err := parsed.Matcher()
		if (err != nil) != ambiguous {
			t.Errorf("%s: got %v", template, err)
		}
		wrong, is := errors.AsType[*AmbiguityError](err)
		isSaid := is && wrong.First < wrong.Second && wrong.Character != 0 &&
			strings.Contains(err.Error(), "is ambiguous")
		if ambiguous && !isSaid {
			t.Errorf("%s: got %v", template, err)
		}
		if _, err := parsed.Expand(map[string]Value{"a": String("x"), "b": String("y")}); err != nil {
			t.Errorf("%s does not expand: %v", template, err)
		}
	}
}

func TestCookedValuesAreDataThatSayWhatTheURIDoes(t *testing.T) {
	for _, tt := range []struct{ template, uri, want string }{
		{"/u/{id}", "/u/a%2Fb", "[a/b]"},
		{"/u/{id}", "/u/%7Ex", "[~x]"},
		{"/u/{id}", "/u/%FF", "no"},
		{"{+x}", "a%2Fb", "[a/b]"},
		{"{+x}", "%2541", "no"}, // decoded it is %41, which would be read as A
		{"{?q}", "?q=%C3%A9", "[é]"},
		{"{?m*}", "?a=%2F&b=", "[pairs(a / b )]"},
		{"{x}", "a%2Cb", "[a,b]"},
		{"{x}", "a,b", "[list(a b)]"},
	} {
		got := "no"
		if found, ok := mustMatcher(t, tt.template).Cooked(tt.uri); ok {
			got = "[" + strings.Join(texts(found), " ") + "]"
		}
		if got != tt.want {
			t.Errorf("%s on %s: got %s, want %s", tt.template, tt.uri, got, tt.want)
		}
	}
}

// What takes time in the square of its input does not end here before the tests are given up.
func TestAMebibyteOfHostileInputIsMatchedInOneGo(t *testing.T) {
	for name, input := range hostile(1 << 20) {
		t.Run(name, func(t *testing.T) {
			template := mustParse(t, input[0])
			if found, ok := template.GreedyMatcher().Match(input[1], nil); ok {
				if again, err := template.AppendExpand(nil, found); err != nil || string(again) != input[1] {
					t.Errorf("it gives another URI, %v", err)
				}
			}
		})
	}
}
