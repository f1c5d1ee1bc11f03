package resolver

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// aliases are rules that lead to the rule "long".
func aliases(n int, value string) []Rule {
	rules := []Rule{{Key: "long", Value: value}}
	for i := range n {
		rules = append(rules, Rule{Key: fmt.Sprint("a", i), Value: "/long"})
	}
	return rules
}

func TestManyKeysOfOneLongURLStoreItOnce(t *testing.T) {
	path, query := "/"+strings.Repeat("p", 20_000), strings.Repeat("q", 20_000)
	for name, value := range map[string]string{
		"absolute": "https://x.example" + path + "?" + query + "#" + query,
		"internal": path + "?" + query + "#" + query,
	} {
		t.Run(name, func(t *testing.T) {
			rs := mustCompile(t, aliases(2000, value), Options{})
			if size := rs.Size(); size > 1<<20 {
				t.Errorf("the ruleset takes %d bytes", size)
			}
			want, _ := resolve(rs, "https://go.example/long/x?r=1")
			if got, result := resolve(rs, "https://go.example/a7/x?r=1"); got != want ||
				result.Outcome != Redirect {
				t.Errorf("got %d bytes and %v, want %d", len(got), result.Err, len(want))
			}
		})
	}
}

func TestAWholeRuleIsReadBackWhereItsPartsAreShared(t *testing.T) {
	rules := aliases(3, "/"+strings.Repeat("p", 1000)+"?"+strings.Repeat("q", 1000))
	rs := mustCompile(t, rules, Options{})
	for rule := range rs.Rules() {
		if rule.Key != "long" && rule.Value != "/long" || rule.Key == "long" && rule != rules[0] {
			t.Errorf("%s leads to %.20s", rule.Key, rule.Value)
		}
	}
}

func TestChainsThatMakeFarMoreThanIsWrittenAreErrors(t *testing.T) {
	rules := []Rule{{Key: "end", Value: "https://x.example"},
		{Key: "long", Value: "/end/" + strings.Repeat("p", 50_000)}}
	for i := range 20_000 {
		rules = append(rules, Rule{Key: fmt.Sprint("a", i), Value: fmt.Sprint("/long/", i)})
	}
	_, err := Compile(rules, Options{})
	e, ok := errors.AsType[*RuleError](err)
	if !ok || !errors.Is(err, ErrTooLarge) ||
		!strings.Contains(e.Message, "lead the rule to a URL") {
		t.Errorf("%.200v", err)
	}
}

func TestChainsThroughTemplatesThatMakeFarMoreThanIsWrittenAreErrors(t *testing.T) {
	rules := numberedChain("g%d/{+x}", "/g%d/{+x}")
	for i := range 13 {
		rules[i].Value += "/{+x}"
	}
	for i := range 4000 {
		rules = append(rules, Rule{Key: fmt.Sprint("a", i), Value: fmt.Sprint("/g0/b/c/", i)})
	}
	_, err := Compile(rules, Options{})
	e, ok := errors.AsType[*RuleError](err)
	if !ok || !errors.Is(err, ErrTooLarge) ||
		!strings.Contains(e.Message, "make its chain shorter") {
		t.Errorf("%.200v", err)
	}
}

func TestATemplateTakesLittleMemory(t *testing.T) {
	const n, most = 50_000, 400
	compile := func() *Ruleset {
		c := mustNewCompiler(t)
		for i := range n {
			c.Add(Rule{Key: fmt.Sprintf("a%d/{x}", i), Value: "https://h.example/{x}",
				Position: Position{"links.json", i + 1, 3}})
		}
		rs, err := c.Compile()
		if err != nil {
			t.Fatal(err)
		}
		return rs
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	rs := compile()
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := int(after.HeapAlloc-before.HeapAlloc) / n
	if each > most {
		t.Errorf("a template takes %d bytes", each)
	}
	if size := rs.Size() / n; size < each*3/4 || size > each*5/4 {
		t.Errorf("a template takes %d bytes, and Size says %d", each, size)
	}
	if got, _ := resolve(rs, "https://go.example/a777/y"); got != "https://h.example/y" {
		t.Errorf("got %s", got)
	}
}

func TestRulesTakeNoMoreMemoryThanTheyMay(t *testing.T) {
	var rules []Rule
	for i := range 10_000 {
		rules = append(rules, Rule{Key: fmt.Sprint("key", i), Value: "https://x.example/"})
	}
	size := mustCompile(t, rules, Options{}).Size()
	if _, err := Compile(rules, Options{MaxSize: int64(size) * 2}); err != nil {
		t.Errorf("twice as much as they take is too little: %v", err)
	}
	_, err := Compile(rules, Options{MaxSize: int64(size) / 2})
	if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "max_size") {
		t.Errorf("half of what they take is enough: %v", err)
	}
	templates := []Rule{{Key: "t/{x}", Value: "https://x.example/{x}"}}
	if _, err := Compile(templates, Options{MaxSize: 100}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("templates take nothing: %v", err)
	}
}

// Each byte that is no UTF-8 becomes nine in a Location.
func TestWhatARequestMakesTooLongIsAnError(t *testing.T) {
	rs := mustCompile(t, []Rule{{Key: "a", Value: "https://x.example"}, {Key: "b", Value: "/page"}},
		Options{})
	for _, target := range []string{
		"/a/" + strings.Repeat("\xff", 20_000),
		"/a?q=" + strings.Repeat("\xff", 20_000),
		"/b/" + strings.Repeat("p", maxDestination),
	} {
		request, ok := NewRequest("https", "go.example", target)
		if !ok {
			t.Fatal("no request")
		}
		if got, result := rs.AppendDestination(nil, &request); result.Err != ErrTooLong ||
			len(got) != 0 {
			t.Errorf("%.10s: %v with %d bytes", target, result.Err, len(got))
		}
		if e := rs.Explain(request); e.Err != ErrTooLong {
			t.Errorf("%.10s is explained as %v", target, e.Err)
		}
	}
	const origin = "https://x.example"
	longest := "/" + strings.Repeat("p", maxDestination-len(origin)-1)
	if got, result := resolve(rs, "https://go.example/a"+longest); got != origin+longest {
		t.Errorf("the longest: %v", result.Err)
	}
}

func TestAMaxSizeIsReportedAsPeopleWriteIt(t *testing.T) {
	for size, want := range map[int64]string{
		1000: "1kB", 1001: "1001 bytes", 1 << 10: "1KiB", 3 << 20: "3MiB", 1536 << 20: "1536MiB",
		500e6: "500MB", 2 << 30: "2GiB", 4e9: "4GB", 3: "3 bytes",
	} {
		if got := sizeText(size); got != want {
			t.Errorf("%d: got %s, want %s", size, got, want)
		}
	}
	templates := keysTo("/b/{x}", "a/{x}", "b/{x}", "c/{x}", "d/{x}", "e/{x}", "f/{x}")
	_, err := Compile(templates, Options{MaxSize: 1 << 10})
	if err == nil || !strings.Contains(err.Error(),
		"take more than 1KiB; allow more with max_size") {
		t.Errorf("got %v", err)
	}
}
