package resolver

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// collision returns two segments that behind prefix have the same tag, and the same home in the
// table of a ruleset of that many rules, so that one is found where the other one is looked up.
func collision(t *testing.T, seed uint64, prefix string, rules int) (stored, asked string) {
	t.Helper()
	var table table
	table.slots = makePages[slot](slotsFor(rules))
	type place struct {
		tag  slot
		home int
	}
	seen := map[place]string{}
	for i := range 1 << 20 {
		segment := fmt.Sprintf("%x", i)
		hash, _ := keyHash(seed, prefix+segment)
		at := place{tagOf(hash), table.home(hash)}
		if other, ok := seen[at]; ok {
			return other, segment
		}
		seen[at] = segment
	}
	t.Fatal("no two keys collide, of a million")
	return "", ""
}

// compileWithSeed compiles rules into a table whose hashes the test knows.
func compileWithSeed(t *testing.T, seed uint64, rules []Rule, opts Options) *Ruleset {
	t.Helper()
	c, err := NewCompiler(opts)
	if err != nil {
		t.Fatal(err)
	}
	c.table.seed = seed
	for _, rule := range rules {
		c.Add(rule)
	}
	rs, err := c.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return rs
}

// mustCollide fails unless the first walk over the path takes the wrong entry for the longest
// prefix.
func mustCollide(t *testing.T, rs *Ruleset, path string) {
	t.Helper()
	found := rs.table.walk(path, window{1, math.MaxInt}, false)
	if found.slot == 0 || rs.table.key(found.slot.ref()) == path[:found.end] {
		t.Fatalf("the walk over %s is not led astray", path)
	}
}

func TestAPathWhoseHashIsThatOfAnotherKeyIsNotThatKey(t *testing.T) {
	const seed = 7
	stored, asked := collision(t, seed, "", 1)
	rs := compileWithSeed(t, seed, []Rule{{Key: stored, Value: "https://x.example"}}, Options{})
	mustCollide(t, rs, asked)
	for _, below := range []string{"", "/", "/a/b"} {
		if got, result := resolve(rs, "https://go.example/"+asked+below); result.Outcome != Pass {
			t.Errorf("%s%s leads to %q %+v", asked, below, got, result)
		}
		if got, _ := resolve(rs, "https://go.example/"+stored+below); !strings.HasPrefix(got,
			"https://x.example/") {
			t.Errorf("%s%s leads to %q", stored, below, got)
		}
	}
}

func TestBelowAHashThatIsAnotherKeysTheShorterKeyIsFound(t *testing.T) {
	const seed = 7
	stored, asked := collision(t, seed, "a/", 2)
	for _, exact := range []bool{false, true} {
		t.Run(fmt.Sprintf("exact=%v", exact), func(t *testing.T) {
			rs := compileWithSeed(t, seed, []Rule{
				{Key: "a", Value: "https://short.example"},
				{Key: "a/" + stored, Value: "https://long.example", Exact: exact},
			}, Options{})
			mustCollide(t, rs, "a/"+asked)
			for request, want := range map[string]string{
				"a/" + asked:          "https://short.example/" + asked,
				"a/" + asked + "/b?c": "https://short.example/" + asked + "/b?c=",
				"%61/" + asked:        "https://short.example/" + asked,
				"a/" + asked + "/%zz": "https://short.example/" + asked + "/%zz",
				"a/" + stored:         "https://long.example/",
			} {
				if got, _ := resolve(rs, "https://go.example/"+request); got != want {
					t.Errorf("%s leads to %q, want %q", request, got, want)
				}
			}
		})
	}
}

func TestTwoKeysWithOneHashBothServe(t *testing.T) {
	const seed = 7
	first, second := collision(t, seed, "", 2)
	rs := compileWithSeed(t, seed, []Rule{
		{Key: first, Value: "https://first.example"},
		{Key: second, Value: "https://second.example"},
	}, Options{})
	mustCollide(t, rs, second)
	for key, want := range map[string]string{first: "https://first.example/b",
		second: "https://second.example/b"} {
		if got, _ := resolve(rs, "https://go.example/"+key+"/b"); got != want {
			t.Errorf("%s leads to %q, want %q", key, got, want)
		}
	}
}

func TestASegmentIsItsBytesAndItsLengthToTheHash(t *testing.T) {
	seen := map[uint64]string{}
	note := func(path string) {
		hash, depth := keyHash(1, path)
		if other, ok := seen[hash]; ok && other != path {
			t.Errorf("%q and %q have one hash", other, path)
		}
		seen[hash] = path
		if want := strings.Count(path, "/") + 1; depth != want {
			t.Errorf("%q has %d segments, want %d", path, depth, want)
		}
	}
	for length := range 40 {
		for _, c := range []string{"a", "\x00", "\xff", ".", "0"} { // "." and "0" stand beside "/"
			note(strings.Repeat(c, length))
			for slash := range length {
				note(strings.Repeat(c, slash) + "/" + strings.Repeat(c, length-slash))
			}
		}
	}
}

func TestEveryOfManyRulesIsFoundAndNoOther(t *testing.T) {
	const n = 20_000
	rules := benchRules(n)
	for i := range rules {
		// also deeper than the bits for depths
		rules[i].Key = strings.Repeat("d/", i%70) + rules[i].Key
	}
	rs := mustCompile(t, rules, Options{})
	for i, rule := range rules {
		if got, result := resolve(rs, "https://go.example/"+rule.Key); got != rule.Value ||
			result.Key != rule.Key {
			t.Fatalf("%s leads to %q %+v", rule.Key, got, result)
		}
		if _, result := resolve(rs, "https://go.example/"+rule.Key+"x"); result.Outcome != Pass {
			t.Fatalf("%sx: %+v", rule.Key, result)
		}
		if _, result := resolve(rs, "https://go.example/d/"+rule.Key); i%70 != 69 &&
			result.Outcome != Pass {
			t.Fatalf("d/%s: %+v", rule.Key, result)
		}
	}
}
