package resolver

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// manyTemplates are templates with keys of some 120 bytes.
func manyTemplates(n int) (rules []Rule) {
	for i := range n {
		rules = append(rules, Rule{
			Key:   fmt.Sprintf("team-%05d/{x}/%s", i, strings.Repeat("p", 100)),
			Value: fmt.Sprintf("https://example.com/%d/{x}", i),
		})
	}
	return rules
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestEditsOfTemplatesLeaveNoOldRecordsInMemory(t *testing.T) {
	rs := mustCompile(t, manyTemplates(2000), Options{NoLines: true})
	before := heapInUse()
	for i := range 100 {
		rule := Rule{Key: fmt.Sprintf("new-%d/{x}", i), Value: "https://example.com/{x}"}
		next, _, err := rs.With([]RuleChange{{Rule: &rule}})
		if err != nil {
			t.Fatal(err)
		}
		rs = next
	}
	if more := heapInUse() - before; more > 8<<20 {
		t.Errorf("100 edits take %d bytes more", more)
	}
	runtime.KeepAlive(rs)
}

func TestAnEditOfAKeyWithoutVariablesTakesNoMemoryForEachTemplate(t *testing.T) {
	rs := mustCompile(t, append(manyTemplates(5000), benchRules(1000)...), Options{NoLines: true})
	rule := Rule{Key: "a", Value: "https://b.example"}
	allocated := testing.AllocsPerRun(5, func() {
		if _, _, err := rs.With([]RuleChange{{Rule: &rule}}); err != nil {
			t.Fatal(err)
		}
	})
	if allocated > 500 {
		t.Errorf("an edit allocates %v times beside 5,000 templates", allocated)
	}
}

func TestAnEmptySegmentOfATemplateFitsBehindAFullChunk(t *testing.T) {
	var rules []Rule
	for left := chunkSize - recordAlign; left > 0; left -= 1020 {
		rules = append(rules, Rule{
			Key: fmt.Sprintf("%0*d/{x}", min(left, 1020), len(rules)), Value: "https://a.example/{x}",
		})
	}
	rules = append(rules, Rule{Key: "{x}/", Value: "https://b.example/{x}"})
	rs := mustCompile(t, rules, Options{})
	if _, got := resolve(rs, "https://go.example/abc/"); got.Key != "{x}/" {
		t.Errorf("/abc/ is answered by %q", got.Key)
	}
}

func TestASearchTakesTheSameEffortWhateverOtherTemplatesBeginWith(t *testing.T) {
	long := Rule{Key: "unrelated/" + strings.Repeat("long", 15) + "/{x}", Value: "https://u.example"}
	rules := []Rule{{Key: "o/{+p}", Value: "/{+p}"},
		{Key: "{+x}/b/{y}", Value: "https://x.example/{y}"},
		{Key: "end/{+r}", Value: "https://end.example/ok"}}
	few := []Rule{{Key: "p{x}", Value: "/{x}"}, {Key: "q{x}", Value: "https://q.example/{x}"}}
	many := few
	for i := range 4 {
		many = append(many, Rule{Key: fmt.Sprintf("u%d-{x}", i), Value: "https://u.example/{x}"})
	}
	encoded := "/" + strings.Repeat("o/", 31) + "end" +
		strings.Repeat("/%41"+strings.Repeat("a", 36), 40)
	folded := "/" + strings.Repeat("o/", 5) + "end" +
		strings.Repeat("/abcdefghijklmnopqrstuvwxyzabcdefghijkl", 160)
	around := "/" + strings.Repeat("p", 10) + "q%41" + strings.Repeat("a", 7900)
	for name, tt := range map[string]struct {
		before, after []Rule
		fold          bool
		path          string
	}{
		"long literal":  {rules, append(rules, long), false, encoded},
		"folded":        {rules, append(rules, long), true, folded},
		"text in front": {few, many, false, around},
	} {
		for _, rules := range [][]Rule{tt.before, tt.after} {
			rs := mustCompile(t, rules, Options{FoldCase: tt.fold})
			if _, got := resolve(rs, "https://go.example"+tt.path); got.Outcome != Redirect {
				t.Errorf("%s: with %d rules the outcome is %v, %v", name, len(rules), got.Outcome, got.Err)
			}
		}
	}
}
