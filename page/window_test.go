package page_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// scheduled are rules with windows: of one that is open, of one that is to come, and of several.
const scheduled = `{
	"docs": "https://docs.example",
	"fair": {"to": "https://fair.example", "until": "2999-03-01"},
	"later": {"to": "https://later.example", "since": "2999-03-01T18:00:00+01:00"},
	"gone": {"to": "https://gone.example", "until": "1999-03-01"},
	"plan": [
		{"to": "https://plan.example", "until": "2999-03-01", "note": "Of the spring."},
		{"to": "https://video.example/", "since": "2999-03-01", "until": "2999-06-01"},
		{"to": "gone", "since": "2999-07-01"}
	]
}
`

func TestOfAHundredWindowsTheFirstArePutInWords(t *testing.T) {
	windows := ""
	for i := range 100 {
		windows += fmt.Sprintf(`, {"to": "https://w%d.test", "since": "%d-01-01",
			"until": "%[2]d-02-01"}`, i, 2100+i)
	}
	s, _ := servePage(t, `{"fair": [`+windows[2:]+`]}`, "")
	got := s.Get(t, "/.links/key/fair", testcaddy.AsAnn)
	got.Wants(t, 200, "w19.test until 1 February 2119, and more)")
	lacks(t, got, "w20.test until")
}

func TestThePageSaysWhenALinkLeadsWhere(t *testing.T) {
	s, _ := servePage(t, scheduled, "")
	const plan = "Until 1 March 2999, then video.example until 1 June 2999, from 1 July 2999 gone"
	s.Get(t, "/.links/?q=", testcaddy.AsAnn, testcaddy.AsHTML).Wants(t, 200, plan,
		"Until 1 March 2999")
	s.Get(t, "/.links/?q=", testcaddy.AsAnn).Wants(t, 200,
		"fair https://fair.example (Until 1 March 2999)", "plan https://plan.example ("+plan+")")
	for _, as := range []string{testcaddy.AsHTML, "Accept: text/plain"} {
		s.Get(t, "/.links/key/plan", testcaddy.AsAnn, as).Wants(t, 200, plan, "Of the spring.")
		s.Get(t, "/.links/key/later", testcaddy.AsAnn, as).Wants(t, 200, "From 1 March 2999 17:00:00 UTC")
	}
	s.Get(t, "/.links/key/gone", testcaddy.AsAnn, testcaddy.AsHTML).Wants(t, 200,
		"Over since 1 March 1999")
	for _, format := range []string{"json", "csv"} {
		s.Get(t, "/.links/export."+format, testcaddy.AsAnn).Wants(t, 200, "later.example",
			"2999-03-01T17:00:00Z", "video.example", "2999-07-01")
	}
}

func TestAFormHasTheTimesOfALink(t *testing.T) {
	s, file := servePage(t, scheduled, "")
	form := s.FormOf(t, "/.links/key/fair?edit")
	if form.Get("until") != "2999-03-01" || form.Get("since") != "" {
		t.Errorf("the form has %v", form)
	}
	form.Set("since", "2000-01-01")
	form.Set("until", "2998-03-01 10:00")
	s.Post(t, "/.links/key/fair", form.Encode(), testcaddy.AsHTML).Wants(t, 422,
		"until takes a time; 2998-03-01 10:00 has no zone")
	form.Set("until", "1999-01-01")
	s.Post(t, "/.links/key/fair", form.Encode(), testcaddy.AsHTML).Wants(t, 422, "not after since")
	form.Set("until", "2998-03-01T10:00:00Z")
	if got := s.Post(t, "/.links/key/fair", form.Encode(), testcaddy.AsHTML); got.Status != 303 {
		t.Error(got.Status, got.Body)
	}
	want := `"fair": {"to":"https://fair.example","since":"2000-01-01","until":"2998-03-01T10:00:00Z"}`
	if got := testcaddy.ReadFile(t, file); !strings.Contains(got, want) {
		t.Errorf("the file has\n%s", got)
	}
}

func TestAnEditLosesNoWindowUnsaid(t *testing.T) {
	s, file := servePage(t, scheduled, "")
	s.Get(t, "/.links/key/plan?edit", testcaddy.AsAnn, testcaddy.AsHTML).Wants(t, 200,
		"a form has fields for one", "video.example")
	for key, want := range map[string]string{
		"plan": "a form has fields for one", "fair": "(Until 1 March 2999)",
		"later": "(From 1 March 2999 17:00:00 UTC)",
	} {
		edit := url.Values{"to": {"https://new.example"}, "digest": {digestOnPage(t, s)}}
		s.Post(t, "/.links/key/"+key, edit.Encode(), testcaddy.AsJSON).Wants(t, 409, want)
		edit.Del("digest")
		s.Post(t, "/.links/key/"+key, edit.Encode(), testcaddy.AsJSON, "If-Match: *").
			Wants(t, 409, want)
	}
	if got := testcaddy.ReadFile(t, file); got != scheduled {
		t.Errorf("the file has\n%s", got)
	}
	unscheduled := url.Values{"to": {"https://new.example"}, "until": {""}}
	got := s.Post(t, "/.links/key/fair", unscheduled.Encode(), testcaddy.AsJSON,
		"If-Match: *")
	now := testcaddy.ReadFile(t, file)
	if got.Status != 200 || !strings.Contains(now, `"fair": "https://new.example"`) {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}

func TestAChangeOfTimesAloneIsSeenAsOne(t *testing.T) {
	s, _ := servePage(t, scheduled, "")
	form := s.FormOf(t, "/.links/key/fair?edit")
	form.Set("until", "2998-01-01")
	s.Post(t, "/.links/key/fair", form.Encode(), testcaddy.AsHTML)
	s.Get(t, "/.links/changes", testcaddy.AsAnn, testcaddy.AsHTML).Wants(t, 200,
		"(Until 1 March 2999)", "(Until 1 January 2998)")
	table := url.Values{"table": {"key,destination,until\nfair,https://fair.example,2999-03-01\n"}}
	s.Post(t, "/.links/import", table.Encode(), testcaddy.AsHTML).Wants(t, 428,
		"https://fair.example (Until 1 January 2998)", "https://fair.example (Until 1 March 2999)")
}

func TestALinkThatIsPlannedIsAmongThoseLastChanged(t *testing.T) {
	s, _ := servePage(t, scheduled, "")
	s.Post(t, "/.links/new", "key=fest&to=https://fest.example&since=2999-01-01").Wants(t, 201)
	s.Get(t, "/.links/", testcaddy.AsAnn, testcaddy.AsHTML).Wants(t, 200, ">fest<",
		"From 1 January 2999")
}

func TestNoFormIsShownThatCannotBeSaved(t *testing.T) {
	s, _ := servePage(t, scheduled, "")
	lacks(t, s.Get(t, "/.links/key/plan?edit", testcaddy.AsAnn, testcaddy.AsHTML), ">Save</button>")
}

func TestARenamedLinkKeepsItsWindows(t *testing.T) {
	s, file := servePage(t, scheduled, "")
	form := s.FormOf(t, "/.links/key/plan?rename")
	form.Set("new_key", "spring")
	got := s.Post(t, "/.links/key/plan", form.Encode(), testcaddy.AsHTML)
	if got.Status == 428 {
		got = s.Post(t, "/.links/key/plan", testcaddy.FieldsOf(got.Body).Encode(), testcaddy.AsHTML)
	}
	if got.Status != 303 {
		t.Fatal(got.Status, got.Body)
	}
	now := testcaddy.ReadFile(t, file)
	for _, want := range []string{`"spring": [`, `{"to":"gone","since":"2999-07-01"}`,
		`{"to":"/spring","since":"2999-07-01"}`, `{"to":"/spring","until":"2999-03-01"}`} {
		if !strings.Contains(now, want) {
			t.Errorf("the file has no %s:\n%s", want, now)
		}
	}
}
