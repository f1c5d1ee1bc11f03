package resolver

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// Keys have 12 bytes and URLs 60, in every benchmark.

var benchSizes = []int{10, 1000, 100_000, 1_000_000}

func benchKey(i int) string { return fmt.Sprintf("k%05x%06x", uint32(i)*2654435761>>12, i) }

func benchURL(i int) string {
	return fmt.Sprintf("https://www.example.com/articles/%027d", i)
}

func benchRules(n int) []Rule {
	rules := make([]Rule, n)
	for i := range rules {
		rules[i] = Rule{Key: benchKey(i), Value: benchURL(i),
			Position: Position{Source: "links.json", Line: i + 2, Column: 3}}
	}
	return rules
}

// chainRules are n rules that all take 255 hops to their destination.
func chainRules(n int) []Rule {
	rules := make([]Rule, n, n+255)
	for i := range rules {
		rules[i] = Rule{Key: benchKey(i), Value: "/chain0"}
	}
	for i := range 254 {
		rules = append(rules, Rule{Key: fmt.Sprint("chain", i), Value: fmt.Sprint("/chain", i+1)})
	}
	return append(rules, Rule{Key: "chain254", Value: benchURL(0)})
}

// benchPaths are pathnames to ask for in turn: every one of n, in random order, one behind the
// other in memory, so that asking costs no cache misses of its own.
func benchPaths(n int, pathname func(int) string) []string {
	var all strings.Builder
	ends := make([]int, 0, n)
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(n) {
		all.WriteString(pathname(i))
		ends = append(ends, all.Len())
	}
	paths := make([]string, n)
	for i, start := 0, 0; i < n; i++ {
		paths[i] = all.String()[start:ends[i]]
		start = ends[i]
	}
	return paths
}

func mustCompile(b testing.TB, rules []Rule, opts Options) *Ruleset {
	b.Helper()
	rs, err := Compile(rules, opts)
	if err != nil {
		b.Fatal(err)
	}
	return rs
}

// hostileQuery has 16 KiB of distinct names.
func hostileQuery() string {
	var q strings.Builder
	q.WriteByte('?')
	for i := 0; q.Len() < 16<<10; i++ {
		fmt.Fprintf(&q, "n%x&", i)
	}
	return strings.TrimSuffix(q.String(), "&")
}

func BenchmarkResolve(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) { benchmarkResolve(b, n) })
	}
}

func benchmarkResolve(b *testing.B, n int) {
	hits := benchPaths(n, func(i int) string { return "/" + benchKey(i) })
	// One ruleset at a time is in memory, as in a server: of two, the later one lies less well.
	b.Run("chain255", func(b *testing.B) {
		resolveAll(b, mustCompile(b, chainRules(n), Options{}), hits, "", Redirect)
	})
	runtime.GC()
	rs := mustCompile(b, benchRules(n), Options{})
	b.Run("hit", func(b *testing.B) { resolveAll(b, rs, hits, "", Redirect) })
	b.Run("suffix", func(b *testing.B) {
		resolveAll(b, rs, benchPaths(n,
			func(i int) string { return "/" + benchKey(i) + "/guide/install" }), "", Redirect)
	})
	b.Run("query", func(b *testing.B) {
		resolveAll(b, rs, hits, "?utm_source=mail&page=2",
			Redirect)
	})
	b.Run("hostile_query", func(b *testing.B) { resolveAll(b, rs, hits, hostileQuery(), Redirect) })
	b.Run("miss", func(b *testing.B) {
		resolveAll(b, rs, benchPaths(n, func(i int) string { return "/" + benchKey(n+i) }), "",
			Pass)
	})
	b.Run("template", func(b *testing.B) {
		rules := benchRules(n)
		for i := range 1000 {
			rules = append(rules, Rule{Key: fmt.Sprintf("t%d/{owner}/{repo}", i),
				Value: "https://www.example.com/{owner}/{repo}"})
		}
		rs := mustCompile(b, rules, Options{})
		resolveAll(b, rs, benchPaths(1000,
			func(i int) string { return fmt.Sprintf("/t%03d/caddy%04d/caddy", i%900+100, i) }), "",
			Redirect)
	})
	b.Run("deep", func(b *testing.B) {
		deep := strings.Repeat("/s", 8000)
		few := min(n, 64)
		resolveAll(b, rs, benchPaths(few, func(i int) string { return "/" + benchKey(i) + deep }),
			"", Redirect)
	})
}

// resolveAll asks for one path after the other. Which one is next depends on the length of the
// answer, which is always the same: so a lookup waits for the one before, as requests do, and the
// processor cannot hide the cache misses of one behind those of the next.
func resolveAll(b *testing.B, rs *Ruleset, paths []string, search string, want Outcome) {
	req := Request{Scheme: "https", Host: "go.example", OverHTTP: true}
	req.Target = weburl.Target{Pathname: paths[0], Search: search}
	dst, _ := rs.AppendDestination(make([]byte, 0, 64<<10), &req)
	length := len(dst)
	next := 0
	b.ReportAllocs()
	for b.Loop() {
		req.Target.Pathname = paths[next]
		end, result := rs.AppendDestination(dst[:0], &req)
		if result.Outcome != want {
			b.Fatal(result)
		}
		if next += 1 + len(end) - length; next == len(paths) {
			next = 0
		}
	}
}

// bareTable is the floor: keys, each followed by its URL, in one arena, and a table of hash bits
// and offsets.
type bareTable struct {
	slots []uint64
	arena []byte
}

func newBareTable(n int) *bareTable {
	t := &bareTable{slots: make([]uint64, n*5/3+1)}
	for i := range n {
		key := benchKey(i)
		hash, _ := keyHash(1, key)
		at := t.home(hash)
		for t.slots[at] != 0 {
			at = (at + 1) % len(t.slots)
		}
		t.slots[at] = hash<<32 | uint64(len(t.arena)+1)
		t.arena = append(t.arena, byte(len(key)))
		t.arena = append(t.arena, key...)
		t.arena = append(t.arena, benchURL(i)...)
	}
	return t
}

func (t *bareTable) home(hash uint64) int {
	return int((hash >> 32) * uint64(len(t.slots)) >> 32)
}

// find returns the key's length as its entry has it, or 0.
func (t *bareTable) find(key string) int {
	hash, _ := keyHash(1, key)
	for at := t.home(hash); t.slots[at] != 0; {
		if s := t.slots[at]; s>>32 == hash&(1<<32-1) {
			entry := t.arena[s&(1<<32-1)-1:]
			if string(entry[1:1+entry[0]]) == key {
				return int(entry[0])
			}
		}
		if at++; at == len(t.slots) {
			at = 0
		}
	}
	return 0
}

// BenchmarkTable is the floor under BenchmarkResolve/…/hit: the same keys looked up in the same
// order, each waiting for the one before.
func BenchmarkTable(b *testing.B) {
	for _, n := range benchSizes {
		t := newBareTable(n)
		hits := benchPaths(n, func(i int) string { return "/" + benchKey(i) })
		length := len(benchKey(0))
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			next := 0
			for b.Loop() {
				found := t.find(hits[next][1:])
				if found == 0 {
					b.Fatal("not found")
				}
				if next += 1 + found - length; next == n {
					next = 0
				}
			}
		})
	}
}

// BenchmarkMap is what a plain Go map from key to URL costs, with the URL appended to a buffer.
func BenchmarkMap(b *testing.B) {
	for _, n := range benchSizes {
		m := make(map[string]string, n)
		for i := range n {
			m[benchKey(i)] = benchURL(i)
		}
		hits := benchPaths(n, func(i int) string { return "/" + benchKey(i) })
		length := len(benchURL(0))
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			dst := make([]byte, 0, 1024)
			next := 0
			for b.Loop() {
				url, ok := m[hits[next][1:]]
				if !ok {
					b.Fatal("not found")
				}
				dst = append(dst[:0], url...)
				if next += 1 + len(dst) - length; next == n {
					next = 0
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			rules := benchRules(n)
			var rs *Ruleset
			b.ReportAllocs()
			for b.Loop() {
				rs = mustCompile(b, rules, Options{})
			}
			b.ReportMetric(float64(rs.Size())/float64(n), "bytes/rule")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/rule")
		})
	}
}

// BenchmarkWith derives a ruleset by changes of rules that lead to URLs.
func BenchmarkWith(b *testing.B) {
	for _, n := range []int{10, 10_000, 1_000_000} {
		for _, internal := range []int{0, n / 10} {
			rules := benchRules(n)
			for i := range internal {
				rules[10*i].Value = "/" + rules[10*i+1].Key + "/x"
			}
			rs := mustCompile(b, rules, Options{NoLines: true, Digest: true})
			for _, changes := range []int{1, 1000} {
				for _, concerned := range []int{0, 1} {
					if internal == 0 && concerned > 0 || changes > n {
						continue
					}
					name := fmt.Sprintf("rules=%d/internal=%d/changes=%d/concerned=%d",
						n, internal, changes, concerned)
					b.Run(name, func(b *testing.B) { benchmarkWith(b, rs, changes, concerned) })
				}
			}
		}
	}
}

// BenchmarkWithTemplates changes a rule beside templates that lead to paths of the site.
func BenchmarkWithTemplates(b *testing.B) {
	rules := benchRules(10_000)
	for i := range 20_000 {
		target := benchKey(10*(i%1000) + 1)
		rules = append(rules, Rule{Key: fmt.Sprintf("t%d/{x}", i), Value: "/" + target + "/{x}"})
	}
	rs := mustCompile(b, rules, Options{NoLines: true, Digest: true})
	for concerned := range 2 {
		b.Run(fmt.Sprintf("concerned=%d", concerned), func(b *testing.B) {
			benchmarkWith(b, rs, 1, concerned)
		})
	}
}

// benchmarkWith changes rules that chains lead to, or the ones behind them.
func benchmarkWith(b *testing.B, rs *Ruleset, changes, concerned int) {
	n := rs.Len()
	b.ReportAllocs()
	for round := 0; b.Loop(); round++ {
		list := make([]RuleChange, changes)
		for i := range list {
			at := (i*(n/changes) + round*10) % n / 10 * 10
			key := benchKey(at + 2 - concerned)
			rule := Rule{Key: key, Value: benchURL(n + round)}
			list[i] = RuleChange{Key: key, Rule: &rule}
		}
		if _, _, err := rs.With(list); err != nil {
			b.Fatal(err)
		}
	}
}
