package weburl

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/idna"
)

//go:embed testdata/reference.mjs
var referenceProgram string

// question is a line for testdata/reference.mjs; encoding/json writes the bytes in base64.
type question struct {
	Ask   string `json:"ask"`
	Input []byte `json:"input"`
	Base  []byte `json:"base"`
	Name  []byte `json:"name"`
	Value []byte `json:"value"`
}

func (q question) String() string {
	return fmt.Sprintf("%s %q base %q name %q value %q", q.Ask, q.Input, q.Base, q.Name, q.Value)
}

// askNode gives Node's answers, in order; an empty one stands for "Invalid URL".
func askNode(t *testing.T, questions []question) [][]string {
	t.Helper()
	node := os.Getenv("SHORTLINK_NODE")
	if node == "" {
		t.Skip("compares with Node.js 24: set SHORTLINK_NODE to its binary to run this")
	}
	cmd := exec.Command(node, "--input-type=module", "--eval", referenceProgram)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go writeQuestions(stdin, questions)
	answers := make([][]string, len(questions))
	decoder := json.NewDecoder(bufio.NewReader(stdout))
	for i := range answers {
		if err := decoder.Decode(&answers[i]); err != nil {
			t.Fatalf("answer %d, to %v: %v", i, questions[i], err)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return answers
}

// writeQuestions leaves errors to the reader, who then misses an answer.
func writeQuestions(stdin io.WriteCloser, questions []question) {
	w := bufio.NewWriter(stdin)
	encoder := json.NewEncoder(w)
	for _, q := range questions {
		_ = encoder.Encode(q)
	}
	_ = w.Flush()
	_ = stdin.Close()
}

// ours answers a question as reference.mjs does.
func ours(t *testing.T, q question) []string {
	t.Helper()
	input := string(q.Input)
	switch q.Ask {
	case "url":
		u, err := Parse(input)
		if err != nil {
			return nil
		}
		return []string{
			u.Href(), u.Origin(), u.Username, u.Password,
			u.Host, u.Port, u.Path, u.Search(), u.Hash(),
		}
	case "reference":
		base, err := Parse(string(q.Base))
		if err != nil {
			t.Fatal(err)
		}
		u, err := base.Resolve(input)
		if err != nil {
			return nil
		}
		return []string{u.Href()}
	case "target":
		target, ok := SplitTarget(input)
		if !ok {
			return nil
		}
		return []string{target.Pathname, target.Search, target.Hash}
	case "params":
		params := ParseParams(input)
		before := params.String()
		params.Set(string(q.Name), string(q.Value))
		return []string{before, params.String()}
	case "merge":
		var m Merger
		return []string{string(m.AppendSet(nil, string(q.Base), input, nil))}
	}
	t.Fatalf("nobody answers %q", q.Ask)
	return nil
}

// difference is a question with two answers.
type difference struct {
	question   question
	ours, node []string
}

func compareWithNode(t *testing.T, questions []question) []difference {
	t.Helper()
	var found []difference
	for i, answer := range askNode(t, questions) {
		if own := ours(t, questions[i]); !slices.Equal(own, answer) {
			found = append(found, difference{questions[i], own, answer})
		}
	}
	return found
}

// failOnDifference shows the shortest difference, which is the easiest to understand.
func failOnDifference(t *testing.T, found []difference) {
	t.Helper()
	if len(found) == 0 {
		return
	}
	d := slices.MinFunc(found, func(a, b difference) int {
		return len(a.question.Input) - len(b.question.Input)
	})
	t.Errorf("%d differences; the shortest: %v\nours %+q\nNode %+q", len(found), d.question, d.ours, d.node)
}

func TestGeneratedURLsParseAsInNode(t *testing.T) {
	g := newGenerator(t, 1)
	questions := make([]question, 50_000)
	for i := range questions {
		questions[i] = question{Ask: "url", Input: []byte(g.url())}
	}
	var unexplained []difference
	found := compareWithNode(t, questions)
	for _, d := range found {
		if !hasUnicodeHost(string(d.question.Input)) {
			unexplained = append(unexplained, d)
		}
	}
	failOnDifference(t, unexplained)
	// What is left is the Bidi rule. Node lets labels without right-to-left letters pass it where
	// another label of the domain has some, which RFC 5893 does not.
	t.Logf("%d of %d differ, all by a host beyond ASCII", len(found), len(questions))
	if len(found)*200 > len(questions) {
		t.Errorf("less than 99.5 %% agree")
		failOnDifference(t, found)
	}
}

func TestGeneratedReferencesResolveAsInNode(t *testing.T) {
	g := newGenerator(t, 2)
	var questions []question
	for range 20_000 {
		ref := g.target()
		if g.IntN(4) == 0 {
			ref = "/" + g.pick("/", `\`, "\t/", "\n\\") + g.asciiAuthority() + ref
		}
		questions = append(questions, question{Ask: "reference", Input: []byte(ref), Base: []byte("https://u:p@h:81/b/c?d#e")})
	}
	failOnDifference(t, compareWithNode(t, questions))
}

func TestGeneratedTargetsSplitAsInNode(t *testing.T) {
	g := newGenerator(t, 3)
	questions := make([]question, 100_000)
	for i := range questions {
		questions[i] = question{Ask: "target", Input: []byte(g.target())}
	}
	failOnDifference(t, compareWithNode(t, questions))
}

func TestGeneratedParametersAreReadSetAndWrittenAsInNode(t *testing.T) {
	g := newGenerator(t, 4)
	questions := make([]question, 40_000)
	for i := range questions {
		questions[i] = question{
			Ask: "params", Input: []byte(g.query()), Name: []byte(g.word(formPieces)), Value: []byte(g.word(formPieces)),
		}
	}
	failOnDifference(t, compareWithNode(t, questions))
}

func TestGeneratedQueriesMergeAsInNode(t *testing.T) {
	g := newGenerator(t, 7)
	questions := make([]question, 40_000)
	for i := range questions {
		base, over := g.query(), g.query()
		if i%8 == 0 {
			base, over = base+"&"+numbered(g.IntN(20), "x"), over+"&"+numbered(g.IntN(20), "y")
		}
		questions[i] = question{Ask: "merge", Input: []byte(over), Base: []byte(base)}
	}
	failOnDifference(t, compareWithNode(t, questions))
}

func TestEachCharacterThatGoKnowsMapsInAHostAsInNode(t *testing.T) {
	var questions []question
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if unicode.In(r, unicode.Cn, unicode.Co, unicode.Cs) {
			continue
		}
		if r == 0x1806 && idna.UnicodeVersion == "15.0.0" {
			continue // the one that Unicode 16 allows without mapping it, which remap cannot do
		}
		// A mark needs a letter before it; all others stand alone, as letters written from right to
		// left may not stand beside an a.
		label := string(r)
		if unicode.Is(unicode.M, r) {
			label = "a" + label
		}
		questions = append(questions, question{Ask: "url", Input: []byte("http://" + label + ".example")})
	}
	t.Logf("%d characters", len(questions))
	failOnDifference(t, compareWithNode(t, questions))
}

// hasUnicodeHost reports whether the host of a URL, decoded, is beyond ASCII.
func hasUnicodeHost(input string) bool {
	_, rest, _ := strings.Cut(clean(input), ":")
	rest = strings.TrimLeft(rest, `/\`)
	if end := strings.IndexAny(rest, `/\?#`); end >= 0 {
		rest = rest[:end]
	}
	host, _ := cutPort(rest[strings.LastIndexByte(rest, '@')+1:])
	return !isASCII(percentDecoded(host))
}

// generator makes URLs that are mostly well-formed, and breaks some of them.
type generator struct{ *rand.Rand }

func newGenerator(t *testing.T, seed uint64) generator {
	t.Logf("seed %d", seed)
	return generator{rand.New(rand.NewPCG(seed, 0))}
}

var (
	hostPieces = strings.Split("a b.c example . .. - _ xn-- xn--zca 0 1 256 0x7f 00 08 4294967296 %41 %2e %2F %00 %zz % A * ! $ ' ( ) , ; = { } ` \" + ~ & [::1] [", " ")
	// wide are hosts and parts of hosts beyond ASCII.
	wide       = strings.Split("bücher faß 日本語 ☃ Ω ς ａ．ｂ １ 。 %C3%BC %ff \u00ad \u200d \uFFFD é\u0301 א ｘn--a Ⅷ ℀", " ")
	pathPieces = strings.Split("a b / / / // . .. ... %2e %2E .%2e %2e%2e \\ \\.. /./ /../ /.. %2F %5c %zz % %4 é \xff \xe2\x82 \xed\xa0\x80 \t \n \x00 \x7f \u0080 ^ | ` { } \" ' < > [ ] ; = & + @ : ~ ! $ * ( ) , _ - 𝄞 .git", " ")
	tailPieces = append(strings.Split("? # ?a=b #f ?? ## ?# '", " "), pathPieces...)
	formPieces = append(strings.Split("a b a=1 b=2 a=3 & && = == + %20 %2B %26 %3D %C3%A9 %c3 %E2%82 %ED%A0%80 %F0%9F%92 %F0%9F%92%A9 %EF%BB%BF %61 ? ??", " "), pathPieces...)
)

func (g generator) pick(choices ...string) string { return choices[g.IntN(len(choices))] }

func (g generator) word(pieces []string) string {
	var b strings.Builder
	for range g.IntN(7) {
		b.WriteString(g.pick(pieces...))
	}
	return b.String()
}

func (g generator) target() string {
	target := "/" + g.word(pathPieces) + g.word(tailPieces)
	if g.IntN(8) == 0 {
		target += g.pick(" ", "\t", "\n ", "\x00", "#", "?", "?#")
	}
	return target
}

func (g generator) query() string {
	return g.pick("", "", "?") + g.word(formPieces) + g.word(formPieces)
}

func (g generator) asciiAuthority() string {
	authority := ""
	if g.IntN(4) == 0 {
		authority = g.pick("u@", "u:p@", ":@", "@", "u:p:q@r@", "é^|[:@", "\xff'\t`@")
	}
	authority += g.asciiHost()
	if g.IntN(4) == 0 {
		authority += ":" + g.pick("", "0", "80", "443", "0443", "8080", "65535", "65536", "99999999999", "8a", "-1", " 1", "1\t")
	}
	return authority
}

func (g generator) asciiHost() string {
	switch g.IntN(6) {
	case 0:
		return "[" + g.address() + "]"
	case 1:
		return g.word(hostPieces)
	case 2:
		return g.pick("1.2.3.4", "0x7f.1", "1.2.3", "010.0xFF.", "0x", "4294967295", "256.1", "1.2.3.4.5")
	}
	return g.pick("example.org", "Example.ORG.", "a-b_c.example", "xn--zca", "%41.b", "h")
}

// address makes something like an IPv6 address.
func (g generator) address() string {
	var b strings.Builder
	for range 1 + g.IntN(8) {
		b.WriteString(g.pick("0", "0", "1", "a", "FfFf", "00ab", "12345", "", "0:0", "1.2.3.4", "::", "%25", "g"))
		b.WriteString(g.pick(":", ":", ":", ":", "::", ""))
	}
	return g.pick(strings.TrimSuffix(b.String(), ":"), b.String(), "::"+b.String())
}

func (g generator) url() string {
	authority := g.asciiAuthority()
	if g.IntN(5) == 0 {
		authority = g.pick("", "u@") + g.pick("", "a.", g.word(hostPieces)) + g.pick(wide...) + g.pick("", ".b", g.word(hostPieces)) + g.pick("", ":81")
	}
	target := g.target()
	if g.IntN(6) == 0 {
		target = g.word(tailPieces) // may as well continue the authority
	}
	u := g.pick("http", "https", "HTTPS", "hTtp") + ":" + g.pick("//", "//", "//", "//", "", "/", `\\`, "///", "/\t/") + authority + target
	if g.IntN(5) == 0 {
		return g.mutated(u)
	}
	return u
}

// mutated changes bytes behind the scheme, which would otherwise not be http or https.
func (g generator) mutated(u string) string {
	b := []byte(u)
	colon := strings.IndexByte(u, ':') + 1
	for range 1 + g.IntN(3) {
		at := colon + g.IntN(len(b)-colon+1)
		end := min(at+g.IntN(3), len(b))
		b = slices.Replace(b, at, end, []byte(g.pick("", string(byte(g.IntN(256))), g.pick(tailPieces...), g.pick(hostPieces...)))...)
	}
	return string(b)
}
