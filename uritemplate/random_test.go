package uritemplate

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// randomTemplate returns a template of literals and expressions whose variables stand once.
func randomTemplate(r *rand.Rand) string {
	var b strings.Builder
	names := "abcdefgh"
	for range 1 + r.IntN(2) {
		b.WriteString([]string{"", "/u/", "x-", "!"}[r.IntN(4)])
		b.WriteString("{" + []string{"", "+", "#", ".", "/", ";", "?", "&"}[r.IntN(8)])
		for i := range 1 + r.IntN(4) {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(names[:1] + []string{"", "", "*", ":3"}[r.IntN(4)])
			names = names[1:]
		}
		b.WriteByte('}')
	}
	b.WriteString([]string{"", "/u/", "!end"}[r.IntN(3)])
	return b.String()
}

// randomValue returns a value for a variable: undefined, a string, a list or pairs.
func randomValue(r *rand.Rand, prefix bool) Value {
	text := func() string {
		return []string{"", "x", "a=b", "a.b", "a/b,c", "é &?", "%41", "k", "c", "100%"}[r.IntN(10)]
	}
	kind := r.IntN(5)
	if prefix {
		kind = min(kind, 1)
	}
	switch kind {
	case 0:
		return Value{}
	case 1, 2:
		return String(text())
	case 3:
		var list []string
		for range r.IntN(4) {
			list = append(list, text())
		}
		return List(list...)
	}
	var pairs []string
	for i := range r.IntN(4) {
		pairs = append(pairs, fmt.Sprint([]string{"k", "a", "c", "d."}[r.IntN(4)], i), text())
	}
	return Pairs(pairs...)
}

func TestPairsBehindAnUndefinedVariableAreFound(t *testing.T) {
	for _, tt := range []struct {
		template, uri string
		want          []string // of each variable; "" for undefined
	}{
		{"/u/{b,c*}", "/u/k2=a%3Db,k1=x", []string{"", "k2 a%3Db k1 x"}},
		{"{.c*,d}", ".k=v.k2=w", []string{"k v k2 w", ""}},
		{"{/b,c*}/u/", "/k=v/k2=w/u/", []string{"", "k v k2 w"}},
		{"{?a,c*,d}", "?x=1&d=2&y=3", []string{"", "x 1 d 2 y 3", ""}},
	} {
		found, ok := mustMatcher(t, tt.template).Match(tt.uri, nil)
		if !ok {
			t.Errorf("%s does not match %s", tt.template, tt.uri)
			continue
		}
		for i, v := range found {
			namesAndValues, _ := v.NamesAndValues()
			if got := strings.Join(namesAndValues, " "); got != tt.want[i] || v.Defined() != (got != "") {
				t.Errorf("%s on %s: variable %d has %q", tt.template, tt.uri, i, got)
			}
		}
	}
}

func TestWhatATemplateMakesOfAnyValuesMatchesIt(t *testing.T) {
	r := rand.New(rand.NewPCG(6570, 4))
	matched := 0
	for range 20_000 {
		template := randomTemplate(r)
		parsed := mustParse(t, template)
		m, err := parsed.Matcher()
		if err != nil {
			continue
		}
		values := make([]Value, len(parsed.Names()))
		for i := range values {
			values[i] = randomValue(r, strings.Contains(template, parsed.Names()[i]+":"))
		}
		uri, err := parsed.AppendExpand(nil, values)
		if err != nil {
			t.Fatal(err)
		}
		matched++
		found, ok := m.Match(string(uri), nil)
		if !ok {
			t.Errorf("%q does not match its own %q", template, uri)
			continue
		}
		if again, err := parsed.AppendExpand(nil, found); err != nil || string(again) != string(uri) {
			t.Errorf("%q on %q finds %q, which gives %q, %v", template, uri, texts(found), again, err)
		}
	}
	if matched < 5_000 {
		t.Errorf("only %d templates can be matched", matched)
	}
}
