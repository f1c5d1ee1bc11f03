package lint

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// longRules are n rules with keys or values of tens of thousands of bytes each, of which each one
// leads to the next.
func longRules(n int) map[string][]resolver.Rule {
	slashes, text := strings.Repeat("/", 60_000), strings.Repeat("x", 50_000)
	var variables, parameters strings.Builder
	for i := range 60 {
		fmt.Fprintf(&variables, "/{v%d}", i)
	}
	for i := 0; parameters.Len() < len(text); i++ {
		fmt.Fprintf(&parameters, "n%x=&", i)
	}
	shapes := map[string][]resolver.Rule{}
	for i := range n {
		this, next := fmt.Sprint("k", i), fmt.Sprint("k", (i+1)%n)
		add := func(shape, key, value string) {
			shapes[shape] = append(shapes[shape], resolver.Rule{Key: key, Value: value})
		}
		if i < n-1 {
			add("chain", this+slashes+"y", "/"+next+slashes+"y")
			add("chain with queries", this, "/"+next+"?"+text)
		} else {
			add("chain", this+slashes+"y", "https://example.com")
			add("chain with queries", this, "https://example.com")
		}
		add("circle", this+"/"+text, "https://go.example/"+next+"/"+text)
		add("circle with queries", this, "https://go.example/"+next+"?"+parameters.String())
		add("circle with variables", this+variables.String(),
			"https://go.example/"+next+variables.String()+"?"+text)
	}
	return shapes
}

// BenchmarkCheckOfLongRules is what a check of 250 rules costs whose keys or values are long.
func BenchmarkCheckOfLongRules(b *testing.B) {
	for shape, rules := range longRules(250) {
		b.Run(shape, func(b *testing.B) {
			rs := mustCompile(b, rules, resolver.Options{})
			b.ReportAllocs()
			for b.Loop() {
				Check(rs, Ruleset(rs), []string{"go.example"}, func(Finding) {})
			}
		})
	}
}

func TestACheckTakesMemoryInProportionToWhatIsWritten(t *testing.T) {
	long := "/" + strings.Repeat("x", 60_000)
	for _, shape := range []struct {
		name  string
		rule  func(i int) resolver.Rule
		rest  []resolver.Rule
		bytes uint64 // that each rule may take
	}{
		{"a chain", func(i int) resolver.Rule {
			return resolver.Rule{Key: fmt.Sprint("k", i), Value: fmt.Sprint("/k", i+1)}
		}, nil, 5_000},
		{"a chain of long queries", func(i int) resolver.Rule {
			return resolver.Rule{Key: fmt.Sprint("k", i), Value: fmt.Sprint("/k", i+1, "?a=", long)}
		}, nil, 1_000_000},
		{"clients whose way goes over a long URL", func(i int) resolver.Rule {
			return resolver.Rule{Key: fmt.Sprint("k", i), Value: "https://go.example/a"}
		}, []resolver.Rule{{Key: "a", Value: "https://go.example/b"},
			{Key: "b", Value: "https://go.example/c" + long},
			{Key: "c", Value: "https://example.com"}}, 5_000},
	} {
		bytesFor := func(n int) uint64 {
			rules := slices.Clone(shape.rest)
			for i := range n {
				rules = append(rules, shape.rule(i))
			}
			rs := mustCompile(t, rules, resolver.Options{})
			return allocated(func() { Check(rs, Ruleset(rs), []string{"go.example"}, func(Finding) {}) })
		}
		if each := (bytesFor(240) - bytesFor(60)) / 180; each > shape.bytes {
			t.Errorf("%s: a rule takes %d bytes", shape.name, each)
		}
	}
}

func TestAQueryIsLostHoweverLongTheChainToItTakes(t *testing.T) {
	rules := []resolver.Rule{{Key: "a", Value: "/t0/" + strings.Repeat("x/", 20_000) + "?q=1"}}
	for i := range 100 {
		rules = append(rules,
			resolver.Rule{Key: fmt.Sprintf("t%d/{+x}", i), Value: fmt.Sprintf("/t%d/{+x}", i+1)})
	}
	rules = append(rules, resolver.Rule{Key: "t100/{+x}", Value: "/end?q=2"})
	rs := mustCompile(t, rules, resolver.Options{})
	var lost []string
	Check(rs, Ruleset(rs), nil, func(f Finding) {
		if f.Kind == FindLost {
			lost = append(lost, f.Message)
		}
	})
	if len(lost) != 1 {
		t.Errorf("got %q", lost)
	}
}
