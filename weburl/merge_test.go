package weburl

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// plainSet is AppendSet with lists: set of each pair of over, except for protected names that base
// has.
func plainSet(base, over string, protected ...string) string {
	params := ParseParams("?" + base)
	guarded := namesAmong(base, protected)
	for _, param := range ParseParams("?" + over) {
		if !guarded[param.Name] {
			params.Set(param.Name, param.Value)
		}
	}
	return params.String()
}

// plainPreserving is AppendPreserving with lists of pieces.
func plainPreserving(base, over string, protected ...string) string {
	guarded, ofOver := namesAmong(base, protected), namesAmong(over, []string{"*"})
	var kept []string
	for _, piece := range piecesOf(base) {
		if name := nameOf(piece); guarded[name] || !ofOver[name] {
			kept = append(kept, piece)
		}
	}
	for _, piece := range piecesOf(over) {
		if !guarded[nameOf(piece)] {
			kept = append(kept, piece)
		}
	}
	return strings.Join(kept, "&")
}

func piecesOf(query string) (pieces []string) {
	for piece := range strings.SplitSeq(query, "&") {
		if piece != "" {
			pieces = append(pieces, piece)
		}
	}
	return pieces
}

func nameOf(piece string) string { return ParseParams("?" + piece)[0].Name }

// namesAmong returns the names that query has and names has, too; "*" stands for all.
func namesAmong(query string, names []string) map[string]bool {
	among := map[string]bool{}
	for _, param := range ParseParams("?" + query) {
		for _, name := range names {
			if name == "*" || wellFormed(name) == param.Name {
				among[param.Name] = true
			}
		}
	}
	return among
}

// sameMerge compares both ways to merge with the plain ones. What stands in the buffer stays.
func sameMerge(t *testing.T, m *Merger, base, over string, protected ...string) {
	t.Helper()
	names := NewNames(protected...)
	if len(protected) == 0 {
		names = nil
	}
	const before = "https://x.example/?"
	got := string(m.AppendSet([]byte(before), base, over, names))
	if want := before + plainSet(base, over, protected...); got != want {
		t.Errorf("set of %q over %q, protected %q\n     %q\nwant %q", over, base, protected, got, want)
	}
	got = string(m.AppendPreserving([]byte(before), base, over, names))
	if want := before + plainPreserving(base, over, protected...); got != want {
		t.Errorf("preserved %q over %q, protected %q\n     %q\nwant %q", over, base, protected, got, want)
	}
}

func TestTwoQueriesMergeAsTheirListsDo(t *testing.T) {
	g := newGenerator(t, 5)
	var m Merger
	protections := [][]string{nil, nil, {"*"}, {"a"}, {"b", " ", "é", ""}, {"\uFFFD", "?"}}
	for range 30_000 {
		sameMerge(t, &m, g.query(), g.query(), protections[g.IntN(len(protections))]...)
		if t.Failed() {
			return
		}
	}
}

func TestQueriesOfAnyLengthMergeAsTheirListsDo(t *testing.T) {
	g := newGenerator(t, 6)
	var m Merger
	many := func(pieces int) string {
		query := make([]string, pieces)
		for i := range query {
			query[i] = fmt.Sprintf("n%%%x=%d", 0x30+g.IntN(10), i)
			if g.IntN(3) == 0 {
				query[i] = fmt.Sprintf("other%d", g.IntN(2*pieces))
			}
		}
		return strings.Join(query, "&")
	}
	// Around the length from which on an index is made, and far above it.
	for ofBase := range 20 {
		for ofOver := range 20 {
			sameMerge(t, &m, many(ofBase), many(ofOver))
			sameMerge(t, &m, many(ofBase), many(ofOver), "n1", "other2")
		}
	}
	sameMerge(t, &m, many(500), many(700))
	sameMerge(t, &m, many(700), many(500), "*")
	sameMerge(t, &m, many(1000), "")
	sameMerge(t, &m, "", many(1000))
	sameMerge(t, &m, "a=1", "a=2") // after a large one nothing of it is left
}

func TestAHundredThousandNamesMergeInNoTime(t *testing.T) {
	const n = 100_000
	var m Merger
	base, over, merged := numbered(n, "1"), numbered(n, "2"), numbered(n, "2")
	if got := string(m.AppendSet(nil, base, over, nil)); got != merged {
		t.Error("set differs")
	}
	if got := string(m.AppendSet(nil, base, over, NewNames("*"))); got != base {
		t.Error("set of protected names differs")
	}
	if got := string(m.AppendPreserving(nil, base, over, nil)); got != merged {
		t.Error("preserved differs")
	}
	same := strings.Repeat("a=1&", n)
	if got := string(m.AppendSet(nil, same, same+"a=3", nil)); got != "a=3" {
		t.Error("set of one name differs")
	}
	if got := string(m.AppendPreserving(nil, same, "a", nil)); got != "a" {
		t.Error("one name preserved differs")
	}
}

// numbered returns a query of n names with one value.
func numbered(n int, value string) string {
	var query strings.Builder
	for i := range n {
		if i > 0 {
			query.WriteByte('&')
		}
		fmt.Fprintf(&query, "n%d=%s", i, value)
	}
	return query.String()
}

func TestOneMergerServesManyAtOnce(t *testing.T) {
	var m Merger
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i := range 60 {
				sameMerge(t, &m, numbered(i, "1"), numbered(40-worker, fmt.Sprint(worker)), "n3")
			}
		})
	}
	group.Wait()
}

func TestANameIsProtectedInEverySpelling(t *testing.T) {
	for _, test := range []struct {
		name       string
		protected  []string
		base, over string
		want       string
	}{
		{"a space", []string{"a b"}, "a+b=1", "a%20b=2&c", "a+b=1&c="},
		{"beyond ASCII", []string{"é"}, "%C3%A9=1", "é=2&%c3%a9=3", "%C3%A9=1"},
		{"the empty name", []string{""}, "=1", "=2&a", "=1&a="},
		{"a star among others", []string{"z", "*"}, "a=1", "a=2&b=2", "a=1&b=2"},
		{"a parameter named star", []string{"*"}, "*=1", "*=2", "*=1"},
		{"a name that the base lacks", []string{"a"}, "b=1", "a=1&a=2", "b=1&a=2"},
		{"another case", []string{"A"}, "a=1", "a=2", "a=2"},
		{"nothing", nil, "a=1", "a=2", "a=2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var m Merger
			names := NewNames(test.protected...)
			if got := string(m.AppendSet(nil, test.base, test.over, names)); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestPreservedPiecesKeepTheirSpelling(t *testing.T) {
	for _, test := range []struct{ name, base, over, want string }{
		{"flags and escapes", "flag&x=a%20b~", "y=c+d&z=", "flag&x=a%20b~&y=c+d&z="},
		{"repeated names of one query", "a=1&a=2", "b=1&b=2", "a=1&a=2&b=1&b=2"},
		{"all of a name give way to all of it", "a=1&c&a=2", "%61=3&a=4", "c&%61=3&a=4"},
		{"empty pieces go", "&a&&b&", "&&c&", "a&b&c"},
		{"nothing and nothing", "", "&&", ""},
		{"a name without a value and one with an empty value", "a=&b", "a", "b&a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var m Merger
			if got := string(m.AppendPreserving(nil, test.base, test.over, nil)); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func FuzzMerge(f *testing.F) {
	f.Add("a=1&b=2", "%61=3&&c", "a")
	f.Add("", "a=%zz&%=\xff+", "*")
	f.Add(strings.Repeat("a=1&b&", 20), strings.Repeat("b=2&", 20), "")
	f.Add("=&=&==", "\xe2\x82&%E2\x82=1", "\uFFFD")
	var m Merger
	f.Fuzz(func(t *testing.T, base, over, protected string) {
		sameMerge(t, &m, base, over)
		sameMerge(t, &m, base, over, protected)
		sameMerge(t, &m, numbered(20, "1")+"&"+base, over, protected)
	})
}
