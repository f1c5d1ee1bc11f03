package resolver

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// nodeBinary returns the Node.js to compare with, or skips the test.
func nodeBinary(t *testing.T) string {
	t.Helper()
	node := os.Getenv("SHORTLINK_NODE")
	if node == "" {
		t.Skip("compares with Node.js: set SHORTLINK_NODE to the binary of Node 24 or later to run this")
	}
	version, err := exec.Command(node, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(string(version), "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < 24 {
		t.Fatalf("%s is Node %s; its URL is the URL Standard's only from 24 on (R1)", node, version)
	}
	return node
}

func TestNodeFindsEveryConformanceVectorToHoldForTheTranscription(t *testing.T) {
	output, err := exec.Command(nodeBinary(t),
		"testdata/transcription/conformance.mjs").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	t.Logf("%s", output)
}

func TestTheRunnerForOthersAgreesWithTheTranscription(t *testing.T) {
	const function = "testdata/transcription/function.mjs"
	output, err := exec.Command(nodeBinary(t), runner, function).CombinedOutput()
	if err != nil || !strings.HasSuffix(string(output), "vectors agree\n") {
		t.Fatalf("%v\n%s", err, output)
	}
}

const runner = "testdata/conformance/run.mjs"

func TestTheRunnerForOthersTellsWhatDiffersByReading(t *testing.T) {
	node, module := nodeBinary(t), t.TempDir()+"/others.mjs"
	const functions = `
export async function passes(url, ruleset) { ruleset.x = "changed"; return url; }
export function fails() { throw new Error("no"); }
export const other = 1;`
	if err := os.WriteFile(module, []byte(functions), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		exit int
		want string // a regular expression
	}{
		{[]string{module, "passes"}, 1, `^54 of \d+ vectors agree\n` +
			`differences: R1 \d+, R3 \d+, .*section 3\.6\.5 1\n\nR1\n  .*\n    request  https?:.*\n    ruleset  \{.*\n` +
			`    expected https?:.*\n    answer   https?:`},
		{[]string{module, "fails"}, 1, `^48 of \d+ vectors agree\n`},
		{[]string{module}, 2, `has several functions; write one of these behind it: fails, passes\n$`},
		{[]string{module, "other"}, 2, `^.* has no function other; write one of these`},
		{[]string{"nowhere.mjs"}, 2, `^nowhere.mjs: `},
		{nil, 2, `^write: node run.mjs MODULE \[EXPORT\]\n$`},
	} {
		cmd := exec.Command(node, append([]string{runner}, test.args...)...)
		output, _ := cmd.CombinedOutput()
		exit := cmd.ProcessState.ExitCode()
		if exit != test.exit || !regexp.MustCompile(test.want).Match(output) {
			t.Errorf("%q: exit status %d\n%s", test.args, exit, output)
		}
	}
}

func TestNodeAnswersRandomRequestsAsTheCompiledRulesetDoes(t *testing.T) {
	const rulesets, requests = 12_000, 10
	node := startNode(t)
	refused := 0
	for seed := range uint64(rulesets) {
		c := randomComparison(seed, requests)
		if node.agrees(t, c) {
			if _, err := Compile(c.rules, c.opts); err != nil {
				refused++
			}
			continue
		}
		c = node.smallest(t, c)
		t.Fatalf("seed %d; the smallest case with a difference:\nrules %+v\noptions %+v\nrequests "+
			"%q\ncompiled %s\nNode     %s",
			seed, c.rules, c.opts, c.requests, ours(c), node.ask(t, c))
	}
	t.Logf("seeds 0 to %d: %d pairs of ruleset and request, and %d rulesets that both refuse",
		rulesets-1, (rulesets-refused)*requests, refused)
	if pairs := (rulesets - refused) * requests; pairs < 100_000 || refused < 100 {
		t.Errorf("too few: %d pairs, %d invalid rulesets", pairs, refused)
	}
}

// comparison is a question that both sides answer.
type comparison struct {
	rules    []Rule
	opts     Options
	requests []string
}

func randomComparison(seed uint64, requests int) comparison {
	r := newRandom(seed)
	c := comparison{opts: r.options()}
	if r.IntN(10) == 0 {
		c.rules = r.carelessRules()
	} else {
		c.rules = r.ruleset(c.opts)
	}
	// which the draft does not have
	c.rules = slices.DeleteFunc(c.rules, func(rule Rule) bool {
		return isOutcome(rule.Value) || IsTemplate(CanonicalKey(rule.Key, false))
	})
	for range requests {
		c.requests = append(c.requests, r.mutated(r.requestURL(c.rules)))
	}
	return c
}

// transcription is a process that runs testdata/transcription/serve.mjs.
type transcription struct {
	questions *json.Encoder
	answers   *json.Decoder
}

func startNode(t *testing.T) *transcription {
	t.Helper()
	cmd := exec.Command(nodeBinary(t), "testdata/transcription/serve.mjs")
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
	t.Cleanup(func() {
		_ = stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	questions := json.NewEncoder(stdin)
	questions.SetEscapeHTML(false)
	return &transcription{questions, json.NewDecoder(stdout)}
}

// answer is what either side says to a comparison: what is wrong with the rules, or a result for
// each request.
type answer struct {
	Invalid []invalidityOfRule `json:"invalid"`
	Results []resultOfRequest  `json:"results"`
}

type resultOfRequest struct {
	Outcome     string `json:"outcome"`
	Destination string `json:"destination"`
	Key         string `json:"key"`
	Hops        int    `json:"hops"`
	Status      int    `json:"status"`
	Error       string `json:"error"`
}

func (a answer) String() string {
	var b strings.Builder
	for _, e := range a.Invalid {
		fmt.Fprintf(&b, "%+q ", e)
	}
	for _, r := range a.Results {
		fmt.Fprintf(&b, "%+v ", r)
	}
	return b.String()
}

func (n *transcription) ask(t *testing.T, c comparison) answer {
	t.Helper()
	question := struct {
		Ruleset  json.RawMessage `json:"ruleset"`
		Options  vectorOptions   `json:"options"`
		Requests []string        `json:"requests"`
	}{rulesetForNode(c.rules), optionsForNode(c.opts), c.requests}
	if err := n.questions.Encode(question); err != nil {
		t.Fatal(err)
	}
	var a answer
	if err := n.answers.Decode(&a); err != nil {
		t.Fatalf("%v after the question %+v", err, c)
	}
	return a
}

func (n *transcription) agrees(t *testing.T, c comparison) bool {
	t.Helper()
	own, node := ours(c), n.ask(t, c)
	sortInvalidities(own.Invalid)
	sortInvalidities(node.Invalid)
	return slices.Equal(own.Invalid, node.Invalid) && slices.Equal(own.Results, node.Results)
}

// sortInvalidities leaves the order out of a comparison: duplicates are found when all rules are
// known, and JavaScript moves members with the name of a number to the front.
func sortInvalidities(all []invalidityOfRule) {
	slices.SortFunc(all, func(a, b invalidityOfRule) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Error, b.Error))
	})
}

// smallest takes away from a comparison with a difference what the difference does not need.
func (n *transcription) smallest(t *testing.T, c comparison) comparison {
	t.Helper()
	differs := func(c comparison) bool { return !n.agrees(t, c) }
	for _, request := range c.requests {
		if one := (comparison{c.rules, c.opts, []string{request}}); differs(one) {
			c = one
			break
		}
	}
	for {
		next := slices.IndexFunc(c.smaller(), differs)
		if next < 0 {
			return c
		}
		c = c.smaller()[next]
	}
}

// smaller returns comparisons with one rule or option less, or with a shorter request.
func (c comparison) smaller() (all []comparison) {
	for i := range c.rules {
		all = append(all, comparison{slices.Delete(slices.Clone(c.rules), i, i+1), c.opts,
			c.requests})
	}
	if !reflect.ValueOf(c.opts).IsZero() {
		all = append(all, comparison{c.rules, Options{}, c.requests})
	}
	if len(c.requests) != 1 {
		return all
	}
	for _, request := range shorter(c.requests[0]) {
		all = append(all, comparison{c.rules, c.opts, []string{request}})
	}
	return all
}

// shorter returns what is left of a URL without some of its characters, as far as that is a URL.
func shorter(requestURL string) (all []string) {
	characters := []rune(requestURL)
	for n := len(characters) / 2; n > 0; n /= 2 {
		for i := 0; i+n <= len(characters); i++ {
			left := string(characters[:i]) + string(characters[i+n:])
			if _, err := ParseRequest(left); err == nil {
				all = append(all, left)
			}
		}
	}
	return all
}

// ours answers as serve.mjs does.
func ours(c comparison) (a answer) {
	rs, err := Compile(c.rules, c.opts)
	if invalid, ok := errors.AsType[RuleErrors](err); ok {
		return answer{Invalid: invalidities(invalid)}
	}
	for _, request := range c.requests {
		destination, result := resolve(rs, request)
		r := resultOfRequest{Outcome: result.Outcome.String(), Destination: destination,
			Key: result.Key, Hops: result.Hops, Status: result.Status}
		if result.Err != nil {
			r.Error = nameOfError(result.Err)
		}
		a.Results = append(a.Results, r)
	}
	return a
}

func invalidities(errs RuleErrors) (all []invalidityOfRule) {
	for _, e := range errs {
		all = append(all, invalidityOfRule{e.Key, nameOfError(e)})
	}
	return all
}

func nameOfError(err error) string {
	for name, kind := range kindsOfError {
		if errors.Is(err, kind) {
			return name
		}
	}
	return err.Error()
}

// rulesetForNode writes rules as an object from key to rule, in their order.
func rulesetForNode(rules []Rule) []byte {
	object := []byte{'{'}
	for i, rule := range rules {
		if i > 0 {
			object = append(object, ',')
		}
		object = append(object, jsonOf(rule.Key)...)
		object = append(object, ':')
		object = append(object, jsonOf(struct {
			To     string `json:"to"`
			Status int    `json:"status,omitempty"`
			Exact  bool   `json:"exact"`
			Query  string `json:"query,omitempty"`
		}{valueForNode(rule.Value), rule.Status, rule.Exact, rule.Query.String()})...)
	}
	return append(object, '}')
}

func jsonOf(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// valueForNode encodes what is beyond ASCII in an embedded query. To the standard a character is as
// good as its bytes as %XX, but Node's URLSearchParams decodes it wrongly beside ill-formed %XX (it
// takes U+00E9 for the byte E9). All other queries have come through URL, which encodes them.
func valueForNode(value string) string {
	if !isInternal(value) {
		return value
	}
	before, fragment := cutBefore(value, '#')
	path, query := cutBefore(before, '?')
	var encoded strings.Builder
	for _, character := range query {
		if character < utf8.RuneSelf {
			encoded.WriteRune(character)
		} else {
			encoded.WriteString(url.PathEscape(string(character)))
		}
	}
	return path + encoded.String() + fragment
}

func optionsForNode(opts Options) vectorOptions {
	return vectorOptions{
		Status: opts.Status, Query: opts.Query.String(), Protect: opts.Protect, Fold: opts.FoldCase,
		MaxRedirects: opts.MaxRedirects, Origin: opts.Origin,
	}
}
