package resolver

import (
	"reflect"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// explain explains a request to rules, which have to be valid.
func explain(t *testing.T, rules []Rule, opts Options, requestURL string) Explanation {
	t.Helper()
	rs, err := Compile(rules, opts)
	if err != nil {
		t.Fatal(err)
	}
	req, err := ParseRequest(requestURL)
	if err != nil {
		t.Fatal(err)
	}
	return rs.Explain(req)
}

func TestAnExplanationNamesEachHopWithItsRuleAndPosition(t *testing.T) {
	rules := []Rule{
		{Key: "docs", Value: "/guide/start",
			Position: Position{Source: "links.json", Line: 2, Column: 3}},
		{Key: "guide", Value: "https://docs.example/g",
			Position: Position{Source: "links.json", Line: 3, Column: 3}},
	}
	e := explain(t, rules, Options{}, "https://go.example/docs/x")
	want := []Step{
		{Pathname: "/docs/x", Rule: rules[0], Value: rules[0].Value, Remaining: "/x"},
		{Pathname: "/guide/start", Rule: rules[1], Value: rules[1].Value, Remaining: "/start"},
	}
	if !reflect.DeepEqual(e.Walk, want) {
		t.Errorf("walk %+v\nwant %+v", e.Walk, want)
	}
	if e.Destination != "https://docs.example/g/start/x" || e.Appended != "/start/x" ||
		e.Hops != 1 {
		t.Errorf("destination %q, appended %q, hops %d", e.Destination, e.Appended, e.Hops)
	}
	if e.Origin != (From{FromDestination, "guide"}) {
		t.Errorf("origin from %+v", e.Origin)
	}
}

func TestAnExplanationNamesTheSourceOfEachParameter(t *testing.T) {
	rules := []Rule{
		{Key: "a", Value: "/b?x=embedded&y=embedded#part"},
		{Key: "b", Value: "https://example.com?x=destination&z=destination&z=again#top"},
	}
	e := explain(t, rules, Options{}, "https://go.example/a?x=request&w=request")
	request, embedded, destination := From{Kind: FromRequest}, From{FromEmbedded, "a"},
		From{FromDestination, "b"}
	want := []Parameter{
		{Given: Given{"x", "request", request},
			Displaced: []Given{{"x", "destination", destination}, {"x", "embedded", embedded}}},
		{Given: Given{"z", "destination", destination}},
		{Given: Given{"z", "again", destination}},
		{Given: Given{"y", "embedded", embedded}},
		{Given: Given{"w", "request", request}},
	}
	if !reflect.DeepEqual(e.Parameters, want) {
		t.Errorf("parameters %+v\nwant       %+v", e.Parameters, want)
	}
	wantFragment := Fragment{Given{"", "#part", embedded}, []Given{{"", "#top", destination}}}
	if !reflect.DeepEqual(e.Fragment, wantFragment) {
		t.Errorf("fragment %+v", e.Fragment)
	}
}

func TestAnExplanationNamesWhatAProtectedParameterDisplaced(t *testing.T) {
	rules := []Rule{{Key: "a", Value: "https://example.com?x=destination"}}
	e := explain(t, rules, Options{Protect: []string{"x"}}, "https://go.example/a?x=request")
	want := []Parameter{{
		Given:     Given{"x", "destination", From{FromDestination, "a"}},
		Displaced: []Given{{"x", "request", From{Kind: FromRequest}}},
	}}
	if !reflect.DeepEqual(e.Parameters, want) {
		t.Errorf("parameters %+v", e.Parameters)
	}
}

func TestAnExplanationNamesTheParametersThatAreIgnored(t *testing.T) {
	rules := []Rule{{Key: "a", Value: "https://example.com?x=1"}}
	e := explain(t, rules, Options{Query: QueryIgnore}, "https://go.example/a?y=2")
	if want := []Given{{"y", "2", From{Kind: FromRequest}}}; !reflect.DeepEqual(e.Dropped, want) {
		t.Errorf("dropped %+v", e.Dropped)
	}
}

func TestAnExplanationNamesWhatTheClientOfAStrippedRequestAsked(t *testing.T) {
	rs := mustCompile(t, []Rule{{Key: "x", Value: "https://go.example/links/x"}}, Options{})
	e := rs.Explain(Request{
		Scheme: "https", Host: "go.example", OverHTTP: true,
		Target: weburl.Target{Pathname: "/x"}, Asked: weburl.Target{Pathname: "/links/x"},
	})
	if e.Outcome != Pass || e.Destination != "https://go.example/links/x" ||
		e.Request != "https://go.example/x" {
		t.Errorf("%+v", e)
	}
}

func TestAnExplanationOfALoopShowsItsWalkOnce(t *testing.T) {
	rules := []Rule{{Key: "a", Value: "/b"}, {Key: "b", Value: "/c"}, {Key: "c", Value: "/b/x"}}
	e := explain(t, rules, Options{}, "https://go.example/a")
	var keys []string
	for _, step := range e.Walk {
		keys = append(keys, step.Rule.Key)
	}
	if got := strings.Join(keys, " "); got != "a b c b" {
		t.Errorf("walk %s", got)
	}
	if e.Outcome != Failed || e.Err == nil {
		t.Errorf("result %+v", e.Result)
	}
}

func TestTheExplainedPartsMakeTheDestination(t *testing.T) {
	for seed := range uint64(2000) {
		r := newRandom(seed)
		opts := r.options()
		rules := r.ruleset(opts)
		requestURL := r.requestURL(rules)
		e := explain(t, rules, opts, requestURL)
		if e.Outcome != Redirect {
			continue
		}
		u, err := weburl.Parse(e.Destination)
		if err != nil {
			t.Fatal(err)
		}
		if want := weburl.ParseParams(u.Search()).String(); paramsOf(e.Parameters) != want {
			t.Fatalf("rules %+v\noptions %+v\nrequest %s\nexplained %s\nwant      %s", rules, opts,
				requestURL, paramsOf(e.Parameters), want)
		}
		if hash := strings.TrimSuffix(e.Fragment.Value, "#"); hash != u.Hash() &&
			e.Fragment.Value != u.Hash() {
			t.Fatalf("rules %+v\nrequest %s\nexplained %s\nwant %s", rules, requestURL,
				e.Fragment.Value, u.Hash())
		}
		if steps := len(e.Walk); steps-1 != e.Hops && steps != e.Hops {
			t.Fatalf("rules %+v\nrequest %s\n%d steps for %d hops", rules, requestURL, steps,
				e.Hops)
		}
	}
}

func paramsOf(parameters []Parameter) string {
	var params weburl.Params
	for _, p := range parameters {
		params = append(params, weburl.Param{Name: p.Name, Value: p.Value})
	}
	return params.String()
}

func TestAParameterWithoutAValueIsExplainedAsItStands(t *testing.T) {
	rules := []Rule{{Key: "a", Value: "https://example.com?flag&&x=&y=z"}}
	for mode, want := range map[QueryMode]string{
		QueryPreserve: "flag x= y=z g h=", QueryMerge: "flag= x= y=z g= h=",
	} {
		e := explain(t, rules, Options{Query: mode}, "https://go.example/a?g&h=")
		var got []string
		for _, p := range e.Parameters {
			got = append(got, p.String())
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: got %s, want %s", mode, got, want)
		}
	}
}
