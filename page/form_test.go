package page_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
	"github.com/caddy-shortlink/shortlink/resolver"
)

func TestTheExamplesOfQueryModesAreWhatRequestsGet(t *testing.T) {
	rules := map[string]any{}
	for _, mode := range resolver.QueryModeNames() {
		rules[mode] = map[string]string{"to": "https://docs.example/?lang=en", "query": mode}
	}
	content, err := json.Marshal(rules)
	testcaddy.Must(t, err)
	s, _ := servePage(t, string(content), "")
	form := s.Get(t, "/.links/new", testcaddy.AsAnn, testcaddy.AsHTML).Body
	for mode := range rules {
		got := s.Get(t, "/"+mode+"?lang=de&full").Header.Get("Location")
		want := "<dt>" + mode + "</dt><dd><code>" + html.EscapeString(got) + "<"
		if !strings.Contains(form, want) {
			t.Errorf("the form lacks %s", want)
		}
	}
}

func TestACheckShowsWhatComesOfAFormAndSavesNothing(t *testing.T) {
	s, file := servePage(t, someRules, "")
	before := testcaddy.ReadFile(t, file)
	const check = "&action=check&was="
	for form, want := range map[string][]string{
		"key=fresh&to=/d&note=why": {`<bdi>http://go.example/fresh</bdi></code>, <span class="good">free`,
			`href="./key/docs"`, `href="./key/d"`, `value="why"`, `value="/d"`},
		"key=/docs&to=https://x.test": {`taken</b> by <a href="./key/docs"`, `value="https://x.test"`},
		"key=&to=https://x.test":      {"a random one"},
		"key=x&to=":                   {"http://go.example/x"},
		"key=x&to=ftp://x.test":       {"neither a URL"},
		"key=x&to=/x":                 {"loop"},
		"key=x/{y}&to=https://x.test": {"one for each value", "unused variable"},
	} {
		s.Post(t, "/.links/new", form+check, testcaddy.AsHTML).Wants(t, 200, append(want, `name="to"`)...)
	}
	s.Post(t, "/.links/key/docs", "to=https://x.test&action=check&was="+
		url.QueryEscape(`"https://docs.example/handbook?lang=en#top"`), testcaddy.AsHTML).
		Wants(t, 200, "this also changes 1 other link", `value="https://x.test"`)
	s.Post(t, "/.links/new", "key=docs&to=/d"+check, testcaddy.AsJSON).
		Wants(t, 200, `"taken":{"key":"docs"`, `"short_url":"http://go.example/docs"`, `"leads":[`)
	if testcaddy.ReadFile(t, file) != before {
		t.Error("a check has saved something")
	}
}

func TestWhoMayNotEditCanCheckAForm(t *testing.T) {
	s, _ := servePage(t, someRules, "write nobody")
	s.Post(t, "/.links/new", "key=docs&to=https://x.test&action=check", testcaddy.AsHTML).
		Wants(t, 200, "taken</b> by", "write nobody")
}

func TestAFormIsFilledInByItsURL(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	form := s.FormOf(t,
		"/.links/new?key=fresh&to=https://x.test&note=why&status=301&query=ignore&exact=1")
	for name, want := range map[string]string{
		"key": "fresh", "to": "https://x.test", "note": "why", "status": "301", "query": "ignore",
		"exact": "true",
	} {
		if got := form.Get(name); got != want {
			t.Errorf("the field %s is %q, want %q", name, got, want)
		}
	}
}

func TestAKeyThatIsLeftEmptyIsFiveRandomLetters(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	keys := map[string]bool{}
	for range 20 {
		var made struct{ Key string }
		got := s.Post(t, "/.links/new", "key=&to=https://x.test", testcaddy.AsJSON)
		got.Wants(t, 201)
		testcaddy.Must(t, json.Unmarshal([]byte(got.Body), &made))
		keys[made.Key] = true
		if !regexp.MustCompile(`^[bcdfghj-np-tv-xz]{5}$`).MatchString(made.Key) {
			t.Errorf("the key is %q", made.Key)
		}
		s.Leads(t, "/"+made.Key, "302 https://x.test/")
	}
	if len(keys) < 20 {
		t.Errorf("only %d keys of 20 are different", len(keys))
	}
}

func TestWhatThereIsToSayOfARuleIsConfirmedOnce(t *testing.T) {
	for form, want := range map[string]string{
		"key=https://go.test/a&to=https://x.test":              "a key is a path without scheme and host",
		"key=me&to=http://go.example/me":                       "the link's own short URL",
		"key=me&to=https://go.example/me":                      "the link's own short URL",
		"key=dosc&to=https://x.test":                           "there is a link docs already",
		"key=DOCS&to=https://x.test":                           "there is a link docs already",
		"key=secretplans&to=/secret/plam":                      "one letter away",
		"key=a%E2%80%8Bb&to=https://x.test":                    "key has the invisible character U+200B",
		"key=a&to=https://x.test/a%C2%ADb":                     "the invisible character U+00AD",
		"key=q&to=" + url.QueryEscape("https://x.test/?a=b c"): "a=b",
	} {
		t.Run(form, func(t *testing.T) {
			s, file := servePage(t, someRules, "")
			before := testcaddy.ReadFile(t, file)
			told := s.Post(t, "/.links/new", form, testcaddy.AsHTML)
			told.Body = html.UnescapeString(told.Body)
			told.Wants(t, 428, want, "Nothing is saved yet", "Short URL")
			if testcaddy.ReadFile(t, file) != before {
				t.Error("it is saved at once")
			}
			told = s.Post(t, "/.links/new", form, testcaddy.AsHTML)
			again := testcaddy.FieldsOf(told.Body)
			if got := s.Post(t, "/.links/new", again.Encode(), testcaddy.AsHTML); got.Status != 303 {
				t.Errorf("what is confirmed is answered with %d: %s", got.Status, got.Body)
			}
		})
	}
}

func TestKeysThatDifferOnPurposeAreNotNearlyTaken(t *testing.T) {
	s, _ := servePage(t, `{"roadmap-2026": "https://x.test", "it/handbook": "https://x.test",
		"docs": "https://x.test"}`, "")
	for _, key := range []string{"roadmap-2027", "hr/handbook", "docs/handbook", "dogs-in-office"} {
		s.Post(t, "/.links/new", "to=https://x.test&key="+key).Wants(t, 201)
	}
	s.Post(t, "/.links/key/docs", "note=new&to=https://x.test&digest="+digestOnPage(t, s)).
		Wants(t, 200)
}

func TestAProgramConfirmsWhatItIsTold(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	for _, edit := range []map[string]any{
		{"key": "dosc", "to": "https://x.test"},
		{"to": "https://x.test/a\u00adb"}, // with another random key each time
		{"key": "x", "to": "http://go.example/x"},
	} {
		var told struct {
			Saved    bool
			Confirm  string
			Warnings []struct{ Kind, Message string }
		}
		got := postJSON(t, s, "/.links/new", edit)
		got.Wants(t, 428)
		testcaddy.Must(t, json.Unmarshal([]byte(got.Body), &told))
		if told.Saved || len(told.Warnings) != 1 || told.Warnings[0].Message == "" {
			t.Errorf("%v is answered with %s", edit, got.Body)
		}
		edit["confirm"] = told.Confirm
		postJSON(t, s, "/.links/new", edit).Wants(t, 201, `"saved":true`)
	}
	s.Post(t, "/.links/new", "key=doc&to=https://x.test").Wants(t, 428, "nearly taken: ", "confirm=")
}

func TestAShortURLWithoutItsSchemeIsNoKeyThatIsSavedUnseen(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	for key, want := range map[string]int{
		"go.example/wiki": 428, "GO.example/team/wiki": 428, "/go.example/x": 428,
		"go.example": 201, "other.example/wiki": 201, "go/wiki": 201, // the host is go.example
	} {
		told := []string{"URL as key: a key is the short URL without its host; write "}
		if want == 201 {
			told = nil
		}
		s.Post(t, "/.links/new", "to=https://x.test&key="+url.QueryEscape(key)).Wants(t, want, told...)
	}
}

// postJSON sends an edit as JSON.
func postJSON(t *testing.T, s *testcaddy.Server, target string, edit any) testcaddy.Reply {
	t.Helper()
	content, err := json.Marshal(edit)
	testcaddy.Must(t, err)
	return postAs(t, s, target, "application/json", string(content))
}

// postAs sends a content of some type as ann.
func postAs(t *testing.T, s *testcaddy.Server, target, kind, content string) testcaddy.Reply {
	t.Helper()
	return s.Raw(t, "POST", "POST "+target+" HTTP/1.1\r\nHost: go.example\r\n"+
		testcaddy.HeaderLines([]string{testcaddy.AsAnn, testcaddy.AsJSON, "Content-Type: " + kind,
			fmt.Sprint("Content-Length: ", len(content))})+"Connection: close\r\n\r\n"+content)
}

func TestEditsAreTakenAsJSON(t *testing.T) {
	s, file := servePage(t, someRules, "")
	postJSON(t, s, "/.links/new", map[string]any{"key": "fresh", "to": "https://x.test", "status": 301,
		"exact": true, "unlisted": false, "query": nil, "note": "by a program"}).
		Wants(t, 201, `"done":"made"`)
	const want = `"fresh": {"to":"https://x.test","status":301,"exact":true,"note":"by a program"}`
	if got := testcaddy.ReadFile(t, file); !strings.Contains(got, want) {
		t.Errorf("the file has no %s:\n%s", want, got)
	}
	s.Leads(t, "/fresh", "301 https://x.test/")
	postJSON(t, s, "/.links/key/fresh", map[string]any{"to": "https://y.test"}).Wants(t, 409)
	changed := map[string]any{"to": "https://y.test", "digest": digestOnPage(t, s)}
	postJSON(t, s, "/.links/key/fresh", changed).Wants(t, 200, `"done":"saved"`)
	postJSON(t, s, "/.links/key/fresh", map[string]any{"action": "remove"}).
		Wants(t, 200, `"done":"removed"`)
}

func TestFieldsThatAreNoneOfAnEditAreRefused(t *testing.T) {
	s, file := servePage(t, someRules, "")
	before := testcaddy.ReadFile(t, file)
	const list = "key, to, status, exact, unlisted, query, note, since, until, digest, was, confirm, action"
	s.Post(t, "/.links/new", "key=x&to=https://x.test&permanent=1").
		Wants(t, 400, `no field "permanent"`, list)
	s.Post(t, "/.links/new", "key=x&to=https://x.test&to=https://y.test").
		Wants(t, 400, `the field "to" is given twice`)
	for _, no := range []string{"False", "maybe", "2"} {
		s.Post(t, "/.links/new", "key=x&to=https://x.test&exact="+no).
			Wants(t, 400, "the field exact takes true or false", no)
	}
	for content, want := range map[string]string{
		`{"key": 20261123, "to": "https://x.test"}`:                "\"key\\\" takes a string",
		`{"key": "x", "to": "https://x.test", "note": true}`:       "\"note\\\" takes a string",
		`{"key": "x", "to": "https://x.test", "unlisted": "none"}`: "unlisted takes true or false",
		`{"key": "x", "url": "https://x.test"}`:                    "no field \\\"url\\\"",
		`{"key": "x", "to": ["https://x.test"]}`:                   "takes a string",
		`{"key": "x", "key": "y", "to": "https://x.test"}`:         "\"key\\\" is given twice",
		"{\"key\": \"x\xff\", \"to\": \"https://x.test\"}":         "UTF-8",
		`null`:                                "no JSON object",
		`["x"]`:                               "no JSON object",
		`{"key": "x", "to": "https://x.test"`: "no JSON object",
		`{"key": "x", "to": "https://x.test"} {}`:     "no JSON object",
		`{"key": "x", "to": "https://x.test"}` + "\n": "",
	} {
		got := postAs(t, s, "/.links/new", "application/json; charset=utf-8", content)
		if want == "" {
			got.Wants(t, 201)
			continue
		}
		got.Wants(t, 400, want)
	}
	s.Post(t, "/.links/key/docs", "key=other&to=https://x.test&digest="+digestOnPage(t, s)).
		Wants(t, 400, "its field key is other")
	s.Post(t, "/.links/new", "action=remove").Wants(t, 404)
	if got := testcaddy.ReadFile(t, file); strings.Count(got, "x.test") > 1 || got == before {
		t.Errorf("the file holds\n%s", got)
	}
}

func TestAConfirmationIsAFormThatCanBeChanged(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	told := s.Post(t, "/.links/new", "key=dosc&to=https://x.test&note=why&query=ignore",
		testcaddy.AsHTML)
	told.Wants(t, 428, `action="./new"`, `<input class="code" id="key" name="key" value="dosc"`,
		"Back to the form")
	fields := testcaddy.FieldsOf(told.Body)
	fields.Set("key", "quite-another")
	if got := s.Post(t, "/.links/new", fields.Encode(), testcaddy.AsHTML); got.Status != 303 {
		t.Errorf("the changed form is answered with %d: %s", got.Status, got.Body)
	}
	fields.Set("key", "dosc")
	fields.Set("action", "check") // as the button Back to the form does
	s.Post(t, "/.links/new", fields.Encode(), testcaddy.AsHTML).Wants(t, 200,
		"<h1><bdi>New link</bdi></h1>", `name="key" value="dosc"`, `name="note" value="why"`,
		"<option selected>ignore</option>")
}

func TestWhoMeetsATakenKeyCanChooseAnother(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	taken := s.Post(t, "/.links/new", "key=docs&to=https://x.test&note=why&was=", testcaddy.AsHTML)
	taken.Wants(t, 409, `action="./new"`, `name="key" value="docs"`, "Save with another key")
	fields := testcaddy.FieldsOf(taken.Body)
	s.Post(t, "/.links/new", fields.Encode(), testcaddy.AsHTML).Wants(t, 409)
	fields.Set("key", "xyz-docs")
	if got := s.Post(t, "/.links/new", fields.Encode(), testcaddy.AsHTML); got.Status != 303 {
		t.Errorf("another key is answered with %d: %s", got.Status, got.Body)
	}
	button := regexp.MustCompile(`name="was" value="([^"]+)">Save mine over it`).
		FindStringSubmatch(taken.Body)
	fields.Set("key", "docs")
	fields.Set("was", html.UnescapeString(button[1]))
	s.Post(t, "/.links/new", fields.Encode(), testcaddy.AsHTML).
		Wants(t, 428, "This also changes 1 other link")
}

func TestNoticesTellOnlyWhatHasHappened(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	has := func(target, notice string) bool {
		return strings.Contains(s.Get(t, target, testcaddy.AsAnn, testcaddy.AsHTML).Body, notice)
	}
	for target, notice := range map[string]string{
		"/.links/key/docs?done=made": "The link now exists", "/.links/key/docs?done=saved": "Saved.",
		"/.links/?removed=payroll": "is deleted", "/.links/?removed=docs": "is deleted",
	} {
		if has(target, notice) {
			t.Errorf("%s says %q", target, notice)
		}
	}
	s.Post(t, "/.links/new", "key=fresh&to=https://x.test").Wants(t, 201)
	if !has("/.links/key/fresh?done=made", "The link now exists") ||
		has("/.links/key/fresh?done=saved", "Saved.") {
		t.Error("what was made is told as something else")
	}
	s.Post(t, "/.links/key/fresh", "action=remove").Wants(t, 200)
	if !has("/.links/?removed=fresh", "is deleted") {
		t.Error("what was removed is not told")
	}
}

func TestTheNoticeOfARemovalNamesTheKeyAsItWasWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "links.json")
	testcaddy.Write(t, file, `{"Docs": "https://docs.example"}`)
	s := testcaddy.Serve(t, testcaddy.PageBlock(file, ""))
	got := s.Post(t, "/.links/key/%44ocs", "action=remove", testcaddy.AsHTML).Location()
	if got != "303 ../?removed=Docs" {
		t.Error("it is answered with", got)
	}
}
