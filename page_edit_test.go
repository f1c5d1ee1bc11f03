package shortlink_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// formOf returns the fields of the form on a page, as a browser would send them.
func (s *server) formOf(t *testing.T, target string) url.Values {
	t.Helper()
	got := s.get(t, target, asAnn, asHTML)
	got.wants(t, 200, `method="post"`)
	return fieldsOf(got.body)
}

var (
	inputField  = regexp.MustCompile(`<input ([^>]*)>`)
	attribute   = regexp.MustCompile(`([a-z]+)="([^"]*)"`)
	choice      = regexp.MustCompile(`(?s)<select [^>]*name="([a-z]+)".*?</select>`)
	chosen      = regexp.MustCompile(`<option(?: value="([^"]*)")? selected>([^<]*)`)
	postingForm = regexp.MustCompile(`(?s)<form[^>]* method="post".*?</form>`)
)

// fieldsOf returns the fields of the form that is posted.
func fieldsOf(page string) url.Values {
	form := postingForm.FindString(page)
	fields := url.Values{}
	for _, input := range inputField.FindAllStringSubmatch(form, -1) {
		attributes := map[string]string{}
		for _, a := range attribute.FindAllStringSubmatch(input[1], -1) {
			attributes[a[1]] = html.UnescapeString(a[2])
		}
		if attributes["type"] != "checkbox" || strings.Contains(input[1], " checked") {
			fields.Set(attributes["name"], attributes["value"])
		}
	}
	for _, selects := range choice.FindAllStringSubmatch(form, -1) {
		if option := chosen.FindStringSubmatch(selects[0]); option != nil {
			fields.Set(selects[1], option[1])
			if option[1] == "" && !strings.Contains(option[0], "value=") {
				fields.Set(selects[1], option[2])
			}
		}
	}
	return fields
}

// rulesOf returns the content of a file of rules.
func rulesOf(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	mustDo(t, err)
	return string(content)
}

func TestALinkIsMadeChangedAndRemovedWithForms(t *testing.T) {
	s, file := servePage(t, someRules, "")
	form := s.formOf(t, "/.links/new")
	form.Set("key", "fresh")
	form.Set("to", "https://fresh.example")
	form.Set("status", "307")
	form.Set("exact", "true")
	form.Set("note", "Just made.")
	got := s.post(t, "/.links/new", form.Encode(), asHTML).location()
	if got != "303 ./key/fresh?done=made" {
		t.Error("the new link was answered with", got)
	}
	if got := s.get(t, "/fresh").location(); got != "307 https://fresh.example/" {
		t.Error("the new link leads to", got)
	}
	s.get(t, "/.links/key/fresh?done=made", asAnn, asHTML).wants(t, 200, "Just made.")

	form = s.formOf(t, "/.links/key/fresh?edit")
	if form.Get("status") != "307" || form.Get("exact") == "" || form.Get("note") != "Just made." {
		t.Error("the form does not hold the rule:", form)
	}
	form.Set("to", "https://other.example")
	if got := s.post(t, "/.links/key/fresh", form.Encode(), asHTML).status; got != 303 {
		t.Error("the change was answered with", got)
	}
	if got := s.get(t, "/fresh").location(); got != "307 https://other.example/" {
		t.Error("the changed link leads to", got)
	}

	form = s.formOf(t, "/.links/key/fresh?delete")
	got = s.post(t, "/.links/key/fresh", form.Encode(), asHTML).location()
	if got != "303 ../?removed=fresh" || strings.Contains(rulesOf(t, file), "fresh") {
		t.Errorf("removing was answered with %s, and the file holds\n%s", got, rulesOf(t, file))
	}
}

func TestAnEditThatLeadsOthersElsewhereSaysWhichAndWaits(t *testing.T) {
	s, file := servePage(t, `{"docs": "https://old.example", "a": "/docs", "b": "/a/x", "c": "/docs",
		"far": "https://far.example"}`, "")
	before := rulesOf(t, file)
	form := s.formOf(t, "/.links/key/docs?edit")
	form.Set("to", "https://new.example")
	preview := s.post(t, "/.links/key/docs", form.Encode(), asHTML)
	preview.wants(t, 200, "3 other links lead elsewhere then", "302 https://old.example/x",
		"302 https://new.example/x")
	if strings.Contains(preview.body, "far.example") || rulesOf(t, file) != before {
		t.Error("the preview wrote something, or names a link that stays")
	}
	if got := s.get(t, "/a").location(); got != "302 https://old.example/" {
		t.Error("before it is confirmed a link leads to", got)
	}
	confirmed := fieldsOf(preview.body)
	if got := s.post(t, "/.links/key/docs", confirmed.Encode(), asHTML).status; got != 303 {
		t.Error("the confirmed edit was answered with", got)
	}
	if got := s.get(t, "/b").location(); got != "302 https://new.example/x" {
		t.Error("after that another link leads to", got)
	}
	inJSON := s.post(t, "/.links/key/docs", "to=https://third.example&was="+
		url.QueryEscape(`"https://new.example"`), asJSON)
	var answer struct {
		Saved   bool
		Others  int
		Confirm string
	}
	mustDo(t, json.Unmarshal([]byte(inJSON.body), &answer))
	if answer.Saved || answer.Others != 3 || answer.Confirm == "" {
		t.Errorf("programs are told %s", inJSON.body)
	}
}

func TestEffectsThatChangeBeforeTheyAreConfirmedAreShownAnew(t *testing.T) {
	s, _ := servePage(t, `{"docs": "https://old.example", "a": "/docs"}`, "")
	form := s.formOf(t, "/.links/key/docs?edit")
	form.Set("to", "https://new.example")
	confirmed := fieldsOf(s.post(t, "/.links/key/docs", form.Encode(), asHTML).body)
	s.post(t, "/.links/new", "key=b&to=/docs").wants(t, 201)
	s.post(t, "/.links/key/docs", confirmed.Encode(), asHTML).
		wants(t, 200, "2 other links lead elsewhere then")
}

func TestAConflictShowsBothVersionsAndSavesNeither(t *testing.T) {
	s, file := servePage(t, someRules, "")
	mine, theirs := s.formOf(t, "/.links/key/docs?edit"), s.formOf(t, "/.links/key/docs?edit")
	other := s.formOf(t, "/.links/key/old?edit")
	theirs.Set("to", "https://theirs.example")
	preview := s.post(t, "/.links/key/docs", theirs.Encode(), asHTML)
	first := s.post(t, "/.links/key/docs", fieldsOf(preview.body).Encode(), asHTML)
	if first.status != 303 {
		t.Fatal("the first edit was answered with", first.status)
	}
	mine.Set("to", "https://mine.example")
	conflict := s.post(t, "/.links/key/docs", mine.Encode(), asHTML)
	conflict.wants(t, 409, "https://mine.example", "https://theirs.example")
	if strings.Contains(rulesOf(t, file), "mine.example") {
		t.Error("the conflict was saved")
	}
	// another rule's form is as good as before
	other.Set("to", "https://revived.example")
	if got := s.post(t, "/.links/key/old", other.Encode(), asHTML).status; got != 303 {
		t.Error("an edit of another rule was answered with", got)
	}
	again := s.post(t, "/.links/key/docs", fieldsOf(conflict.body).Encode(), asHTML)
	again.wants(t, 200, "https://mine.example") // the effects on /d
	if got := s.post(t, "/.links/key/docs", fieldsOf(again.body).Encode(), asHTML).status; got != 303 {
		t.Error("mine over theirs was answered with", got)
	}
}

func TestANewLinkNeverOverwritesOne(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	for _, form := range []string{
		"key=docs&to=https://x.test&was=", "key=docs&to=https://x.test",
		"key=/docs&to=https://x.test&was=",
		"key=%64ocs&to=https://x.test",
	} {
		s.post(t, "/.links/new", form, asHTML).wants(t, 409, "https://docs.example/handbook")
	}
	s.post(t, "/.links/key/docs", "to=https://x.test").wants(t, 409)
	s.post(t, "/.links/key/docs", "to=https://x.test&digest=0123").wants(t, 409)
	s.post(t, "/.links/key/d", "to=https://x.test&digest="+s.digestOnPage(t)).wants(t, 200, "saved d")
}

func TestARefusedEditSaysWhyAndKeepsWhatWasWritten(t *testing.T) {
	s, file := servePage(t, someRules, "")
	before := rulesOf(t, file)
	for form, want := range map[string]string{
		"key=x&to=javascript:alert(1)":                             "neither a URL",
		"key=x&to=":                                                "the destination is missing",
		"key=&to=https://x.test":                                   "the key is missing",
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
		got := s.post(t, "/.links/new", form, asHTML)
		if got.status != 422 && got.status != 400 ||
			!strings.Contains(html.UnescapeString(got.body), want) {
			t.Errorf("%.60s: %d, want a refusal that says %q:\n%.3000s", form, got.status, want, got.body)
		}
	}
	if rulesOf(t, file) != before {
		t.Error("a refused edit was written")
	}
	s.post(t, "/.links/new", "key=x&to=ftp://x.test&note=kept", asHTML).
		wants(t, 422, `value="ftp://x.test"`, "kept")
}

func TestWhatCannotBeWrittenIsShownAsALineToCommit(t *testing.T) {
	s := serve(t, "shortlink {\ndocs https://docs.example\n}\n"+signIn+"\nshortlink_page")
	s.get(t, "/.links/key/docs", asAnn, asHTML).wants(t, 200, "inline rules cannot be edited")
	form := s.formOf(t, "/.links/key/docs?edit")
	form.Set("to", "https://new.example")
	form.Set("status", "301")
	got := s.post(t, "/.links/key/docs", form.Encode(), asHTML)
	got.wants(t, 409, "inline rules cannot be edited", "rule docs https://new.example 301",
		html.EscapeString(`"docs": {"to":"https://new.example","status":301}`))
}

func TestTheLongestDestinationsFitIntoAForm(t *testing.T) {
	longest := "https://x.test/" + strings.Repeat("/", 65_000)
	s, file := servePage(t, `{"long": "`+longest+`"}`, "")
	form := s.formOf(t, "/.links/key/long?edit")
	form.Set("note", "kept")
	if got := s.post(t, "/.links/key/long", form.Encode(), asHTML); got.status != 303 {
		t.Errorf("status %d: %.500s", got.status, got.body)
	}
	if !strings.Contains(rulesOf(t, file), "kept") {
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
		s.post(t, "/.links/new", form, header).wants(t, 403, "another site")
	}
	if strings.Contains(rulesOf(t, file), "fresh") {
		t.Error("a form of another site was saved")
	}
	s.post(t, "/.links/new", form, "Origin: http://go.example").wants(t, 201)
}

func TestAHundredEditorsAtOnceLoseNoEdit(t *testing.T) {
	s, file := servePage(t, someRules, "")
	var editors sync.WaitGroup
	for i := range 100 {
		editors.Go(func() {
			form := fmt.Sprintf("key=e/%d&to=https://e.example/%d&was=", i, i)
			if got := s.post(t, "/.links/new", form); got.status != 201 {
				t.Errorf("editor %d: %d %s", i, got.status, got.body)
			}
		})
	}
	editors.Wait()
	if n := strings.Count(rulesOf(t, file), "https://e.example/"); n != 100 {
		t.Errorf("the file has %d of 100 links", n)
	}
}

func TestIfMatchHoldsForThePageToo(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	const form = "key=fresh&to=https://fresh.example"
	s.post(t, "/.links/new", form, `If-Match: "other"`).wants(t, 412)
	s.post(t, "/.links/new", form, `If-Match: "`+s.digestOnPage(t)+`"`).wants(t, 201)
}

func TestAnEditThatHidesThePageWaitsForASecondClick(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	const form = "key=.links&to=https://x.test"
	preview := s.post(t, "/.links/new", form, asHTML)
	preview.wants(t, 200, "This page could not be read any more then", "This page would be gone")
	s.get(t, "/.links/", asAnn).wants(t, 200)
	s.post(t, "/.links/new", form, asJSON).wants(t, 200, `"saved":false`, `"hides_page":["the rule`)
	confirmed := fieldsOf(preview.body)
	if got := s.post(t, "/.links/key/.links", confirmed.Encode(), asHTML).status; got != 303 {
		t.Error("the confirmed edit was answered with", got)
	}
}

func TestWhoMayNotEditIsShownTheLineToCommit(t *testing.T) {
	s, file := servePage(t, someRules, "write nobody")
	before := rulesOf(t, file)
	s.get(t, "/.links/new", asAnn, asHTML).wants(t, 200, "write nobody", "shows the line to commit")
	s.post(t, "/.links/new", "key=fresh&to=https://x.test", asHTML).
		wants(t, 403, "rule fresh https://x.test", html.EscapeString(`"fresh": "https://x.test"`))
	if rulesOf(t, file) != before {
		t.Error("it was saved")
	}
}

func TestARuleOfABrokenFileIsNotTakenForAConflict(t *testing.T) {
	s, file := servePage(t, someRules, "")
	form := s.formOf(t, "/.links/key/secret/plan?edit")
	form.Set("to", "https://new.example")
	write(t, file, `{"docs": "htps://x"`)
	got := s.post(t, "/.links/key/secret/plan", form.Encode(), asHTML)
	got.wants(t, 422, file+":1")
	if strings.Contains(got.body, "faster") {
		t.Error("somebody else is blamed for a file that cannot be read")
	}
}

func TestAFormThatIsSentAsItWasMadeWritesNothing(t *testing.T) {
	s, file := servePage(t, `{"docs": {"to": "https://docs.example", "note": " kept  "}}`, "")
	before := rulesOf(t, file)
	form := s.formOf(t, "/.links/key/docs?edit")
	got := s.post(t, "/.links/key/docs", form.Encode(), asHTML).location()
	if got != "303 ../key/docs?done=saved" {
		t.Error("the form was answered with", got)
	}
	if rulesOf(t, file) != before {
		t.Errorf("the file was rewritten to\n%s", rulesOf(t, file))
	}
}

func TestOnlyFormsOfAKnownKindAreRead(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	got := s.raw(t, "POST", "POST /.links/new HTTP/1.1\r\nHost: go.example\r\n"+asAnn+
		"\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
	got.wants(t, 415, "application/x-www-form-urlencoded")
	s.post(t, "/.links/key/docs", "action=delete").wants(t, 400, "action takes remove")
}

func TestAPictureOnAnotherSiteMakesNobodyWait(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	s.get(t, "/.links/key/docs?delete", asAnn, asHTML).wants(t, 200, "1 other link leads elsewhere")
	got := s.get(t, "/.links/key/docs?delete", asAnn, asHTML, "Sec-Fetch-Site: cross-site")
	got.wants(t, 200, `name="action" value="remove"`)
	if strings.Contains(got.body, "leads elsewhere") {
		t.Error("another site's request had the effects worked out")
	}
	s.post(t, "/.links/key/docs", fieldsOf(got.body).Encode(), asHTML).
		wants(t, 200, "1 other link leads elsewhere")
}

func TestARuleInAnotherSourceIsChangedByOneBeforeIt(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json")
	write(t, first, "{}")
	write(t, second, `{"docs": "https://docs.example"}`)
	s := serve(t, fmt.Sprintf("shortlink {\nfrom file %s\nfrom file %s\n}\n%s\nshortlink_page", first,
		second, signIn))
	s.get(t, "/.links/key/docs?edit", asAnn, asHTML).wants(t, 200, "The rule stands in", "b.json")
	s.get(t, "/.links/key/docs?delete", asAnn, asHTML).wants(t, 409, "cannot be deleted here",
		"b.json")
	if n := strings.Count(s.get(t, "/.links/", asAnn, asHTML).body, "edits go here"); n != 1 {
		t.Errorf("%d sources are marked as the one that is edited", n)
	}
}
