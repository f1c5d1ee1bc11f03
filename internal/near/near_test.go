package near

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// list are texts that are used as often as listed.
type list []listed

type listed struct {
	text     string
	uses     uint64
	isHidden bool
}

func (l list) Numbers() int                   { return len(l) }
func (l list) KeyOf(number int) string        { return l[number].text }
func (l list) Uses(number int) (uint64, bool) { return l[number].uses, !l[number].isHidden }

func (l list) texts(all []Found) (texts []string) {
	for _, found := range all {
		texts = append(texts, l[found.Number].text)
	}
	return texts
}

// listOf returns texts that nobody has used.
func listOf(texts ...string) (l list) {
	for _, text := range texts {
		l = append(l, listed{text: text})
	}
	return l
}

// The other way to find, slow and plain.

var triplet = regexp.MustCompile("%(?i:[013-9a-f][0-9a-f]|2[0-9a-e])")

func plainForm(text string) string {
	b := []byte(triplet.ReplaceAllStringFunc(text, func(triplet string) string {
		octet, _ := url.PathUnescape(triplet)
		return octet
	}))
	for i, c := range b {
		if strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZ", c) >= 0 {
			b[i] = c + 32
		}
	}
	return strings.TrimSuffix(string(b), "/")
}

// plainDistance is the distance of the dynamic programme, in which a swap counts one.
func plainDistance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			if i == 0 || j == 0 {
				rows[i][j] = i + j
				continue
			}
			replaced := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			rows[i][j] = min(replaced, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// plainNearness returns how near two texts are, and whether they are.
func plainNearness(path, text string) (nearness int, isNear bool) {
	isAllowed := func(distance int, meant string) bool { return distance <= min(2, len(meant)/3) }
	whole := plainDistance(path, text)
	if isAllowed(whole, text) {
		return whole, true
	}
	segments, others := strings.Split(path, "/"), strings.Split(text, "/")
	last, other := segments[len(segments)-1], others[len(others)-1]
	distance := plainDistance(last, other)
	if min(len(last), len(other)) < 3 || !isAllowed(distance, other) {
		return 0, false
	}
	if min(len(segments), len(others)) > 1 && segments[0] == others[0] {
		return 10 + distance, true
	}
	return 20 + distance, true
}

// plainSearch returns all texts that a path may have meant, nearest first.
func plainSearch(l list, path string) (texts []string) {
	type near struct {
		listed
		nearness int
	}
	var all []near
	path = plainForm(strings.TrimPrefix(path, "/"))
	for _, this := range l {
		text := plainForm(this.text)
		if text == "" || path == "" || this.isHidden {
			continue
		}
		if nearness, ok := plainNearness(path, text); ok {
			all = append(all, near{this, nearness})
		}
	}
	slices.SortStableFunc(all, func(a, b near) int {
		return cmp.Or(a.nearness-b.nearness, cmp.Compare(b.uses, a.uses), strings.Compare(a.text, b.text))
	})
	for _, this := range all {
		texts = append(texts, this.text)
	}
	return texts
}

// randomTexts are made of few words, so that many are alike.
type randomTexts struct{ *rand.Rand }

func (r randomTexts) pick(from ...string) string { return from[r.IntN(len(from))] }

func (r randomTexts) text() string {
	var text strings.Builder
	for range 1 + r.IntN(3) {
		text.WriteString(r.pick("do", "doc", "docs", "DOCS", "dosc", "release", "re", "l", "caf%C3%A9",
			"%64ocs", "a%2Fb", "a%2fb", "100%", "x%00", "handbook", ""))
		text.WriteString(r.pick("", "", "/", "/", "-notes", "s", "1", "23"))
	}
	return strings.TrimPrefix(text.String(), "/")
}

func (r randomTexts) list(n int) (l list) {
	for range n {
		l = append(l, listed{r.text(), uint64(r.IntN(3)), r.IntN(6) == 0})
	}
	return l
}

// slip returns a text in which up to two letters are others, missing, too much or swapped.
func (r randomTexts) slip(text string) string {
	for range r.IntN(3) {
		at := r.IntN(len(text) + 1)
		before, behind := text[:at], text[at:]
		switch kind := r.IntN(4); {
		case kind == 0:
			text = before + "x" + behind
		case kind == 1 && behind != "":
			text = before + "x" + behind[1:]
		case kind == 2 && behind != "":
			text = before + behind[1:]
		case len(behind) > 1:
			text = before + behind[1:2] + behind[:1] + behind[2:]
		}
	}
	return text
}

// check compares what is found among all texts, and by an index, with the plain way.
func check(t *testing.T, l list, x *Index, path string) {
	t.Helper()
	want := plainSearch(l, path)
	for _, most := range []int{0, 1, 5, 100} {
		first := want[:min(len(want), most)]
		if got := l.texts(Search(l, path, most)); !slices.Equal(got, first) {
			t.Fatalf("%q: found are %q, want %q", path, got, first)
		}
		if got := l.texts(x.Search(l, path, most)); !slices.Equal(got, first) {
			t.Fatalf("%q: the index finds %q, want %q", path, got, first)
		}
	}
}

func TestWhatIsNearIsWhatComparingAllFindsByAnIndexToo(t *testing.T) {
	for seed := range uint64(400) {
		r := randomTexts{rand.New(rand.NewPCG(seed, 1))}
		l := r.list(1 + r.IntN(40))
		x := NewIndex(l, func() {})
		for range 4 {
			check(t, l, x, r.pick("/", "")+r.text())
			check(t, l, x, r.slip(l[r.IntN(len(l))].text))
			first := len(l)
			l = append(l, r.list(1+r.IntN(4))...)
			var added []uint32
			for n := first; n < len(l); n++ {
				added = append(added, uint32(n))
			}
			x = x.With(added)
		}
	}
}

func FuzzNear(f *testing.F) {
	r := randomTexts{rand.New(rand.NewPCG(1, 4))}
	for range 30 {
		f.Add(r.text(), r.text(), "/"+r.text())
	}
	f.Fuzz(func(t *testing.T, text, other, path string) {
		if len(text)+len(other)+len(path) > longestText {
			return
		}
		l := listOf(text, "docs", "re", "other/%2f", "x", other)
		check(t, l, NewIndex(l[:5], func() {}).With([]uint32{5}), path)
	})
}

func TestTheWholePathComesFirstThenTheSameStartThenTheLastSegment(t *testing.T) {
	handbooks := list{
		{text: "eng/infra/handbook", uses: 9}, {text: "hr/handbook"}, {text: "it/handbook", uses: 5},
		{text: "eng/handbook"}, {text: "handbook"}, {text: "handbooks"}, {text: "secret", uses: 99},
		{text: "handbok", isHidden: true}, {text: "sre/oncall"}, {text: "ops/oncall", uses: 50},
	}
	for path, want := range map[string]string{
		"/hanbook":          "handbook handbooks eng/infra/handbook it/handbook eng/handbook",
		"/eng/hanbook":      "eng/handbook eng/infra/handbook it/handbook handbook hr/handbook",
		"/eng/data/hanbook": "eng/infra/handbook eng/handbook it/handbook handbook hr/handbook",
		"/it/x/handbook":    "it/handbook eng/infra/handbook eng/handbook handbook hr/handbook",
		"/srw/oncall":       "sre/oncall ops/oncall",
		"/oncall":           "ops/oncall sre/oncall",
		"/Eng/Handbook":     "eng/handbook eng/infra/handbook it/handbook handbook hr/handbook",
		"/nothing":          "",
	} {
		check(t, handbooks, NewIndex(handbooks, func() {}), path)
		if got := strings.Join(handbooks.texts(Search(handbooks, path, 5)), " "); got != want {
			t.Errorf("%s: found are %q, want %q", path, got, want)
		}
	}
}

func TestSlipsAreTakenForWhatWasMeant(t *testing.T) {
	l := listOf("go", "api", "docs", "release-notes", "team/handbook", "caf%C3%A9")
	for path, want := range map[string]string{
		"/doc": "docs", "/dosc": "docs", "/Docs": "docs", "/docss": "docs", "/dcos/": "docs",
		"/dc": "", "/apj": "api", "/aj": "", "/go": "go", "/g": "", "/gp": "",
		"/realease-note": "release-notes", "/release_nots": "release-notes", "/relase-nodez": "",
		"/teams/handbok": "team/handbook", "/handbook": "team/handbook", "/x/y/hndbook": "team/handbook",
		"/team-handbook": "team/handbook", "/cafe": "", "/caf%C3%A8": "caf%C3%A9", "/secret/docs": "docs",
		"/completely": "",
	} {
		if got := strings.Join(l.texts(Search(l, path, 5)), " "); got != want {
			t.Errorf("%s: found is %q, want %q", path, got, want)
		}
	}
}

// With an index only so many texts are compared, so those come first that may be the whole path.
func TestAmongManyAlikeTextsTheOneThatWasMeantIsFound(t *testing.T) {
	l := listOf("handbook", "sre/oncall")
	for i := range 50_000 {
		l = append(l, listed{text: fmt.Sprintf("team-%05d/handbook", i)},
			listed{text: fmt.Sprintf("page-%05d", i)})
	}
	x := NewIndex(l, func() {})
	for path, want := range map[string]string{
		"/hanbook": "handbook", "/srw/oncall": "sre/oncall", "/team-03120/hndbook": "team-03120/handbook",
		"/paeg-03127": "page-03127", "/oncal": "sre/oncall",
	} {
		got := l.texts(x.Search(l, path, 1))
		if strings.Join(got, " ") != want {
			t.Errorf("%s: found is %q, want %q", path, got, want)
		}
	}
}

// Only so many texts are compared, and all servers and commands have to compare the same.
func TestTwoIndexesOfTheSameTextsFindTheSame(t *testing.T) {
	var l list
	for i := range 20_000 {
		l = append(l, listed{text: fmt.Sprintf("team-%04d/page-%d", i, i%7)})
	}
	one, other := NewIndex(l, func() {}), NewIndex(l, func() {})
	r := randomTexts{rand.New(rand.NewPCG(1, 5))}
	for range 300 {
		path := r.slip(l[r.IntN(len(l))].text)
		got, want := l.texts(other.Search(l, path, 5)), l.texts(one.Search(l, path, 5))
		if !slices.Equal(got, want) {
			t.Fatalf("%s: one finds %q, the other %q", path, want, got)
		}
	}
}

func TestToFindNothingTakesHardlyAnyMemory(t *testing.T) {
	var l list
	for i := range 1000 {
		l = append(l, listed{text: fmt.Sprintf("key%05d", i), isHidden: true})
	}
	x := NewIndex(l, func() {})
	texts := Texts(l)
	for _, path := range []string{"/key00500", "/a/" + strings.Repeat("key0", 60), "/%zz"} {
		if n := testing.AllocsPerRun(10, func() { x.Search(texts, path, 5) }); n > 1 {
			t.Errorf("%s: %v allocations", path, n)
		}
	}
}

func TestForAPathThatIsLongNothingIsFound(t *testing.T) {
	text := strings.Repeat("k", longestText)
	l := listOf(text, text+"k")
	x := NewIndex(l, func() {})
	for path, want := range map[string]int{
		text: 1, text[2:]: 1, text + "k": 0, strings.Repeat("%6B", longestText): 1,
		strings.Repeat("k", 1<<16): 0, strings.Repeat("/", 1000): 0, "": 0, "/": 0, "//": 0,
	} {
		for _, got := range [][]Found{x.Search(l, path, 5), Search(l, path, 5)} {
			if len(got) != want {
				t.Errorf("%.20s, of %d bytes: found are %v", path, len(path), got)
			}
		}
	}
}

func TestTheNearestWordOfAListIsNamed(t *testing.T) {
	for written, want := range map[string]string{
		"stauts": "status", "Orgin": "origin", "resovle": "resolve", "nothing": "", "": "",
	} {
		if got := Word(written, []string{"origin", "status", "resolve", "reverse"}); got != want {
			t.Errorf("%q: got %q, want %q", written, got, want)
		}
	}
}

func TestOfTwoTextsTheNearerOneIsLess(t *testing.T) {
	long := strings.Repeat("x", 2*longestText)
	for _, test := range []struct{ path, less, more string }{
		{"hanbook", "handbook", "a/handbook"}, {"hanbook", "handbook", "handbooks"},
		{"hanbook", "handbook", "nothing"}, {"hanbook", "a", "b"}, {long, "a", "b"},
		{"docz", "doca", "docs"}, {"docz", "docs", long},
	} {
		if Compare(test.path, test.less, test.more) >= 0 ||
			Compare(test.path, test.more, test.less) <= 0 ||
			Compare(test.path, test.less, test.less) != 0 {
			t.Errorf("%.9s: %.9s is not less than %.9s", test.path, test.less, test.more)
		}
	}
}

func TestSlipsAreThoseThatComparingAllPairsFinds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	path := func() string {
		path := []byte("docs/guide")
		for range random.IntN(3) {
			path[random.IntN(len(path))] = "dogs/x1"[random.IntN(7)]
		}
		return strings.Trim(string(path[random.IntN(2):]), "/")
	}
	count := 0
	for range 200 {
		s := NewSlips()
		var paths []string
		for range 20 {
			paths = append(paths, path())
			s.Add(paths[len(paths)-1])
		}
		text := path()
		found := map[int]bool{}
		s.Find(text, func(n int) { found[n] = true })
		for n, path := range paths {
			if found[n] != oneLetterAway(path, text) {
				t.Fatalf("%s and %s: found is %t", path, text, found[n])
			}
		}
		count += len(found)
	}
	if count < 100 {
		t.Errorf("only %d were found", count)
	}
}

func TestPathsAreNotWithoutEnd(t *testing.T) {
	s := NewSlips()
	n := 0
	for ; !s.IsFull(); n++ {
		s.Add(fmt.Sprintf("some/path-%06d", n))
	}
	if n < 20_000 || n > 50_000 {
		t.Errorf("there are %d", n)
	}
}

func TestPathsThatDifferInEscapesAloneAreEqualWithoutThem(t *testing.T) {
	for path, want := range map[string]string{
		"a%28b%29": "a(b)", "a(b)": "a(b)", "%2F%21": "%2F!", "a%20b": "", "100%": "", "plain": "",
	} {
		got, hasReserved := WithoutEscapes(path)
		if hasReserved != (want != "") || hasReserved && (got != want || !HasReserved(path)) {
			t.Errorf("%s: got %s, %t", path, got, hasReserved)
		}
	}
}

func TestReservedCharactersAreThoseOfPathsThatEscapesDifferFrom(t *testing.T) {
	for c := range 256 {
		want := strings.IndexByte("!$&'()*+,;=:@[]|", byte(c)) >= 0
		if got := isReserved(byte(c)); got != want {
			t.Errorf("%#x: got %t", c, got)
		}
	}
}

func TestTextsThatAreMistakenForEachOtherAreAlike(t *testing.T) {
	for _, tt := range []struct {
		a, b  string
		alike bool
	}{
		{"docs", "doc", true}, {"docs", "dosc", true}, {"Docs", "docs", true},
		{"on-call", "oncall", true}, {"on_call", "on-call", true}, {"wiki/plan", "wiki/plam", true},
		{"%64ocs", "docs", true}, {"On-Call", "onkall", true},
		{"docs", "dots-and-lines", false}, {"roadmap-2026", "roadmap-2027", false},
		{"hr/handbook", "it/handbook", false}, {"gh", "go", false}, {"a1", "a2", false},
	} {
		if got := Alike(tt.a, tt.b); got != tt.alike {
			t.Errorf("%s and %s: %t", tt.a, tt.b, got)
		}
		if got := Alike(tt.b, tt.a); got != tt.alike {
			t.Errorf("%s and %s: %t", tt.b, tt.a, got)
		}
	}
}
