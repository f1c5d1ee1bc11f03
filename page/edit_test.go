package page_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

func TestALinkIsMadeChangedAndRemovedWithForms(t *testing.T) {
	s, file := servePage(t, someRules, "")
	form := s.FormOf(t, "/.links/new")
	form.Set("key", "fresh")
	form.Set("to", "https://fresh.example")
	form.Set("status", "307")
	form.Set("exact", "true")
	form.Set("note", "Just made.")
	got := s.Post(t, "/.links/new", form.Encode(), testcaddy.AsHTML).Location()
	if got != "303 ./key/fresh?done=made" {
		t.Error("the new link was answered with", got)
	}
	if got := s.Get(t, "/fresh").Location(); got != "307 https://fresh.example/" {
		t.Error("the new link leads to", got)
	}
	s.Get(t, "/.links/key/fresh?done=made", testcaddy.AsAnn, testcaddy.AsHTML).Wants(t, 200, "Just made.")

	form = s.FormOf(t, "/.links/key/fresh?edit")
	if form.Get("status") != "307" || form.Get("exact") == "" || form.Get("note") != "Just made." {
		t.Error("the form does not hold the rule:", form)
	}
	form.Set("to", "https://other.example")
	if got := s.Post(t, "/.links/key/fresh", form.Encode(), testcaddy.AsHTML).Status; got != 303 {
		t.Error("the change was answered with", got)
	}
	if got := s.Get(t, "/fresh").Location(); got != "307 https://other.example/" {
		t.Error("the changed link leads to", got)
	}

	form = s.FormOf(t, "/.links/key/fresh?delete")
	got = s.Post(t, "/.links/key/fresh", form.Encode(), testcaddy.AsHTML).Location()
	if got != "303 ../?removed=fresh" || strings.Contains(testcaddy.ReadFile(t, file), "fresh") {
		t.Errorf("removing was answered with %s, and the file holds\n%s", got, testcaddy.ReadFile(t, file))
	}
}

func TestAnEditThatLeadsOthersElsewhereSaysWhichAndWaits(t *testing.T) {
	s, file := servePage(t, `{"docs": "https://old.example", "a": "/docs", "b": "/a/x", "c": "/docs",
		"far": "https://far.example"}`, "")
	before := testcaddy.ReadFile(t, file)
	form := s.FormOf(t, "/.links/key/docs?edit")
	form.Set("to", "https://new.example")
	preview := s.Post(t, "/.links/key/docs", form.Encode(), testcaddy.AsHTML)
	preview.Wants(t, 428, "This also changes 3 other links", "302 https://old.example/x",
		"302 https://new.example/x")
	if strings.Contains(preview.Body, "far.example") || testcaddy.ReadFile(t, file) != before {
		t.Error("the preview wrote something, or names a link that stays")
	}
	if got := s.Get(t, "/a").Location(); got != "302 https://old.example/" {
		t.Error("before it is confirmed a link leads to", got)
	}
	confirmed := testcaddy.FieldsOf(preview.Body)
	if got := s.Post(t, "/.links/key/docs", confirmed.Encode(), testcaddy.AsHTML).Status; got != 303 {
		t.Error("the confirmed edit was answered with", got)
	}
	if got := s.Get(t, "/b").Location(); got != "302 https://new.example/x" {
		t.Error("after that another link leads to", got)
	}
	inJSON := s.Post(t, "/.links/key/docs", "to=https://third.example&was="+
		url.QueryEscape(`"https://new.example"`), testcaddy.AsJSON)
	var answer struct {
		Saved   bool
		Others  int
		Confirm string
	}
	testcaddy.Must(t, json.Unmarshal([]byte(inJSON.Body), &answer))
	if answer.Saved || answer.Others != 3 || answer.Confirm == "" {
		t.Errorf("programs are told %s", inJSON.Body)
	}
}

func TestAnEditThatLeadsVeryManyOthersElsewhereSaysSoAndIsConfirmedOnce(t *testing.T) {
	links := map[string]string{"base": "https://old.example"}
	for i := range 1001 {
		links[fmt.Sprint("k", i)] = "/base/x"
	}
	rules, err := json.Marshal(links)
	testcaddy.Must(t, err)
	s, _ := servePage(t, string(rules), "misses")
	s.Get(t, "/.links/key/base?delete", testcaddy.AsAnn, testcaddy.AsHTML).
		Wants(t, 200, "more than 1000 other links lead elsewhere", "More are not listed here.")
	form := s.FormOf(t, "/.links/key/base?edit")
	form.Set("to", "/nowhere")
	preview := s.Post(t, "/.links/key/base", form.Encode(), testcaddy.AsHTML)
	preview.Wants(t, 428, "This also changes more than 1000 other links", "no link answers /nowhere")
	confirmed := testcaddy.FieldsOf(preview.Body)
	if got := s.Post(t, "/.links/key/base", confirmed.Encode(), testcaddy.AsHTML); got.Status != 303 {
		t.Error("the confirmed edit was answered with", got.Status, got.Body)
	}
	s.Post(t, "/.links/key/base", "action=check&to=/base2&digest="+digestOnPage(t, s), testcaddy.AsJSON).
		Wants(t, 200, "more than 1000 other links")
}

func TestEffectsThatChangeBeforeTheyAreConfirmedAreShownAnew(t *testing.T) {
	s, _ := servePage(t, `{"docs": "https://old.example", "a": "/docs"}`, "")
	form := s.FormOf(t, "/.links/key/docs?edit")
	form.Set("to", "https://new.example")
	confirmed := testcaddy.FieldsOf(s.Post(t, "/.links/key/docs", form.Encode(), testcaddy.AsHTML).Body)
	s.Post(t, "/.links/new", "key=b&to=/docs").Wants(t, 201)
	s.Post(t, "/.links/key/docs", confirmed.Encode(), testcaddy.AsHTML).
		Wants(t, 428, "This also changes 2 other links")
}

func TestAConflictShowsBothVersionsAndSavesNeither(t *testing.T) {
	s, file := servePage(t, someRules, "")
	mine, theirs := s.FormOf(t, "/.links/key/docs?edit"), s.FormOf(t, "/.links/key/docs?edit")
	other := s.FormOf(t, "/.links/key/old?edit")
	theirs.Set("to", "https://theirs.example")
	preview := s.Post(t, "/.links/key/docs", theirs.Encode(), testcaddy.AsHTML)
	first := s.Post(t, "/.links/key/docs", testcaddy.FieldsOf(preview.Body).Encode(), testcaddy.AsHTML)
	if first.Status != 303 {
		t.Fatal("the first edit was answered with", first.Status)
	}
	mine.Set("to", "https://mine.example")
	conflict := s.Post(t, "/.links/key/docs", mine.Encode(), testcaddy.AsHTML)
	conflict.Wants(t, 409, "https://mine.example", "https://theirs.example")
	if strings.Contains(testcaddy.ReadFile(t, file), "mine.example") {
		t.Error("the conflict was saved")
	}
	// another rule's form is as good as before
	other.Set("to", "https://revived.example")
	if got := s.Post(t, "/.links/key/old", other.Encode(), testcaddy.AsHTML).Status; got != 303 {
		t.Error("an edit of another rule was answered with", got)
	}
	again := s.Post(t, "/.links/key/docs", testcaddy.FieldsOf(conflict.Body).Encode(), testcaddy.AsHTML)
	again.Wants(t, 428, "https://mine.example") // the effects on /d
	if got := s.Post(t, "/.links/key/docs", testcaddy.FieldsOf(again.Body).Encode(), testcaddy.AsHTML).Status; got != 303 {
		t.Error("mine over theirs was answered with", got)
	}
}

func TestANewLinkNeverOverwritesOne(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	for _, form := range []string{
		"key=docs&to=https://x.test&was=", "key=docs&to=https://x.test",
		"key=/docs&to=https://x.test&was=", "key=+/docs&to=https://x.test&was=",
		"key=%64ocs&to=https://x.test",
	} {
		s.Post(t, "/.links/new", form, testcaddy.AsHTML).Wants(t, 409, "https://docs.example/handbook")
	}
	s.Post(t, "/.links/key/docs", "to=https://x.test").Wants(t, 409)
	s.Post(t, "/.links/key/docs", "to=https://x.test&digest=0123").Wants(t, 409)
	s.Post(t, "/.links/key/d", "to=https://x.test&digest="+digestOnPage(t, s)).Wants(t, 200, "saved d")
}

func TestARefusedEditSaysWhyAndKeepsWhatWasWritten(t *testing.T) {
	s, file := servePage(t, someRules, "")
	before := testcaddy.ReadFile(t, file)
	for form, want := range map[string]string{
		"key=x&to=javascript:alert(1)":                             "neither a URL",
		"key=x&to=":                                                "the destination is missing",
		"key=x&to=/x":                                              "loop",
		"key=x&to=https://x.test&status=200":                       "status takes 301",
		"key=x&to=https://x.test&status=410":                       "write gone as the destination",
		"key=x&to=410":                                             "write gone",
		"key=https://x.test&to=x":                                  "key and destination are exchanged",
		"key=x&to=https://x.test&query=drop":                       "query takes merge",
		"key=x/../y&to=https://x.test":                             "x/../y",
		"key=x&to=https://x.test/" + strings.Repeat("a", 70_000):   "65535",
		"key=%FF&to=https://x.test":                                "UTF-8",
		"key=x&to=https://x.test&note=" + strings.Repeat("n", 501): "500",
	} {
		got := s.Post(t, "/.links/new", form, testcaddy.AsHTML)
		if got.Status != 422 && got.Status != 400 ||
			!strings.Contains(html.UnescapeString(got.Body), want) {
			t.Errorf("%.60s: %d, want a refusal that says %q:\n%.3000s", form, got.Status, want, got.Body)
		}
	}
	if testcaddy.ReadFile(t, file) != before {
		t.Error("a refused edit was written")
	}
	s.Post(t, "/.links/new", "key=x&to=ftp://x.test&note=kept", testcaddy.AsHTML).
		Wants(t, 422, `value="ftp://x.test"`, "kept")
}

func TestWhatCannotBeWrittenIsShownAsALineToCommit(t *testing.T) {
	s := testcaddy.Serve(t, "shortlink {\ndocs https://docs.example\n}\n"+testcaddy.SignIn+"\nshortlink_page")
	s.Get(t, "/.links/key/docs", testcaddy.AsAnn, testcaddy.AsHTML).Wants(t, 200, "inline rules cannot be edited")
	form := s.FormOf(t, "/.links/key/docs?edit")
	form.Set("to", "https://new.example")
	form.Set("status", "301")
	got := s.Post(t, "/.links/key/docs", form.Encode(), testcaddy.AsHTML)
	got.Wants(t, 409, "inline rules cannot be edited", "In <code><bdi>Caddy&#39;s configuration, shortlink",
		"<pre>rule docs https://new.example 301</pre>")
}

func TestTheLongestDestinationsFitIntoAForm(t *testing.T) {
	longest := "https://x.test/" + strings.Repeat("/", 65_000)
	s, file := servePage(t, `{"long": "`+longest+`"}`, "")
	form := s.FormOf(t, "/.links/key/long?edit")
	form.Set("note", "kept")
	if got := s.Post(t, "/.links/key/long", form.Encode(), testcaddy.AsHTML); got.Status != 303 {
		t.Errorf("status %d: %.500s", got.Status, got.Body)
	}
	if !strings.Contains(testcaddy.ReadFile(t, file), "kept") {
		t.Error("the edit is not saved")
	}
}

func TestFormsOfOtherSitesAreRefused(t *testing.T) {
	s, file := servePage(t, someRules, "")
	const form = "key=fresh&to=https://fresh.example"
	for _, header := range []string{
		"Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site", "Origin: https://evil.example",
		"Origin: null",
	} {
		s.Post(t, "/.links/new", form, header).Wants(t, 403, "another site")
	}
	if strings.Contains(testcaddy.ReadFile(t, file), "fresh") {
		t.Error("a form of another site was saved")
	}
	s.Post(t, "/.links/new", form, "Origin: http://go.example").Wants(t, 201)
}

func TestAHundredEditorsAtOnceLoseNoEdit(t *testing.T) {
	s, file := servePage(t, someRules, "")
	var editors sync.WaitGroup
	for i := range 100 {
		editors.Go(func() {
			form := fmt.Sprintf("key=e/%d&to=https://e.example/%d&was=", i, i)
			if got := s.Post(t, "/.links/new", form); got.Status != 201 {
				t.Errorf("editor %d: %d %s", i, got.Status, got.Body)
			}
		})
	}
	editors.Wait()
	if n := strings.Count(testcaddy.ReadFile(t, file), "https://e.example/"); n != 100 {
		t.Errorf("the file has %d of 100 links", n)
	}
}

func TestIfMatchHoldsForThePageToo(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	const form = "key=fresh&to=https://fresh.example"
	s.Post(t, "/.links/new", form, `If-Match: "other"`).Wants(t, 412)
	s.Post(t, "/.links/new", form, `If-Match: "`+digestOnPage(t, s)+`"`).Wants(t, 201)
}

func TestAnEditThatHidesThePageWaitsForASecondClick(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	const form = "key=.links&to=https://x.test"
	preview := s.Post(t, "/.links/new", form, testcaddy.AsHTML)
	preview.Wants(t, 428, "This would hide the links page", "so the links page does not get it")
	s.Get(t, "/.links/", testcaddy.AsAnn).Wants(t, 200)
	s.Post(t, "/.links/new", form, testcaddy.AsJSON).Wants(t, 428, `"saved":false`, `"hides_page":["the rule`)
	confirmed := testcaddy.FieldsOf(preview.Body)
	if got := s.Post(t, "/.links/key/.links", confirmed.Encode(), testcaddy.AsHTML).Status; got != 303 {
		t.Error("the confirmed edit was answered with", got)
	}
}

func TestAnEditThatHidesOneOfThePagesWaitsForASecondClick(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	for _, page := range []string{"new", "changes", "import", "try", "serving", "export.json", "export.csv",
		"opensearch.xml"} {
		s.Post(t, "/.links/new", "key=.links/"+page+"&exact=1&to=https://x.test").
			Wants(t, 428, "the rule answers /.links/"+page+", so the links page does not get it")
	}
}

func TestWhoMayNotEditIsShownTheLineToCommit(t *testing.T) {
	s, file := servePage(t, someRules, "write nobody")
	before := testcaddy.ReadFile(t, file)
	s.Get(t, "/.links/new", testcaddy.AsAnn, testcaddy.AsHTML).Wants(t, 200, "write nobody", "shows what to write")
	s.Post(t, "/.links/new", "key=fresh&to=https://x.test", testcaddy.AsHTML).
		Wants(t, 403, "In <code><bdi>"+file, html.EscapeString(`"fresh": "https://x.test"`)+"</pre>")
	if testcaddy.ReadFile(t, file) != before {
		t.Error("it was saved")
	}
}

func TestARuleOfABrokenFileIsNotTakenForAConflict(t *testing.T) {
	s, file := servePage(t, someRules, "")
	form := s.FormOf(t, "/.links/key/secret/plan?edit")
	form.Set("to", "https://new.example")
	testcaddy.Write(t, file, `{"docs": "htps://x"`)
	got := s.Post(t, "/.links/key/secret/plan", form.Encode(), testcaddy.AsHTML)
	got.Wants(t, 422, file+":1")
	if strings.Contains(got.Body, "faster") {
		t.Error("somebody else is blamed for a file that cannot be read")
	}
}

func TestAFormThatIsSentAsItWasMadeWritesNothing(t *testing.T) {
	s, file := servePage(t, `{"docs": {"to": "https://docs.example", "note": " kept  "}}`, "")
	before := testcaddy.ReadFile(t, file)
	form := s.FormOf(t, "/.links/key/docs?edit")
	got := s.Post(t, "/.links/key/docs", form.Encode(), testcaddy.AsHTML).Location()
	if got != "303 ../key/docs?done=saved" {
		t.Error("the form was answered with", got)
	}
	if testcaddy.ReadFile(t, file) != before {
		t.Errorf("the file was rewritten to\n%s", testcaddy.ReadFile(t, file))
	}
}

func TestOnlyFormsOfAKnownKindAreRead(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	got := s.Raw(t, "POST", "POST /.links/new HTTP/1.1\r\nHost: go.example\r\n"+testcaddy.AsAnn+
		"\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
	got.Wants(t, 415, "application/x-www-form-urlencoded or application/json")
	s.Post(t, "/.links/key/docs", "action=delete").Wants(t, 400, "action takes remove")
}

func TestAPictureOnAnotherSiteMakesNobodyWait(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	s.Get(t, "/.links/key/docs?delete", testcaddy.AsAnn, testcaddy.AsHTML).Wants(t, 200, "1 other link leads elsewhere")
	got := s.Get(t, "/.links/key/docs?delete", testcaddy.AsAnn, testcaddy.AsHTML, "Sec-Fetch-Site: cross-site")
	got.Wants(t, 200, `name="action" value="remove"`)
	if strings.Contains(got.Body, "leads elsewhere") {
		t.Error("another site's request had the effects worked out")
	}
	s.Post(t, "/.links/key/docs", testcaddy.FieldsOf(got.Body).Encode(), testcaddy.AsHTML).
		Wants(t, 428, "This also changes 1 other link")
}

func TestARuleInAnotherSourceIsChangedByOneBeforeIt(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json")
	testcaddy.Write(t, first, "{}")
	testcaddy.Write(t, second, `{"docs": "https://docs.example"}`)
	s := testcaddy.Serve(t, fmt.Sprintf("shortlink {\nfrom file %s\nfrom file %s\n}\n%s\nshortlink_page", first,
		second, testcaddy.SignIn))
	s.Get(t, "/.links/key/docs?edit", testcaddy.AsAnn, testcaddy.AsHTML).Wants(t, 200,
		"The rule is in", "b.json")
	s.Post(t, "/.links/key/docs", "to=https://x.test&action=check", testcaddy.AsHTML).Wants(t, 200,
		"The rule is in", "b.json")
	s.Get(t, "/.links/key/docs?delete", testcaddy.AsAnn, testcaddy.AsHTML).Wants(t, 409, "cannot be deleted here",
		"b.json")
	if n := strings.Count(s.Get(t, "/.links/serving", testcaddy.AsAnn, testcaddy.AsHTML).Body, "edits go here"); n != 1 {
		t.Errorf("%d sources are marked as the one that is edited", n)
	}
}
