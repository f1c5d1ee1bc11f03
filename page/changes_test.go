package page_test

import (
	"encoding/json"
	"fmt"
	"html"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// asBob makes bob the user of pages with the option byHeader.
const (
	byHeader = "user {header.Remote-User}"
	asBob    = "Remote-User: bob"
)

// save sends a form that changes something.
func save(t *testing.T, s *testcaddy.Server, target, form string) {
	t.Helper()
	if got := s.Post(t, "/.links/"+target, form); got.Status != 200 && got.Status != 201 {
		t.Fatal(form, "is answered with", got.Status, got.Body)
	}
}

// look returns a page as ann's browser gets it.
func look(t *testing.T, s *testcaddy.Server, target string) testcaddy.Reply {
	t.Helper()
	return s.Get(t, "/.links/"+target, testcaddy.AsAnn, testcaddy.AsHTML)
}

// changesOf returns the changes that a page lists.
func changesOf(t *testing.T, s *testcaddy.Server, target string) (changes []listedChange) {
	t.Helper()
	var page struct{ Changes []listedChange }
	got := s.Get(t, "/.links/"+target, testcaddy.AsAnn, testcaddy.AsJSON)
	got.Wants(t, 200)
	testcaddy.Must(t, json.Unmarshal([]byte(got.Body), &page))
	return page.Changes
}

type listedChange struct {
	User, Remote, Source    string
	Old                     string `json:"old_digest"`
	Digest                  string
	Added, Removed, Changed int
	CanTakeBack             bool `json:"can_take_back"`
	Changes                 []struct {
		Key           string
		Before, After any
	}
}

func (c listedChange) page() string { return "changes?change=" + c.Old + "-" + c.Digest }

func TestEachChangeIsListedWithWhoMadeItAndWhatItDid(t *testing.T) {
	s, file := servePage(t, someRules, "")
	save(t, s, "new", "key=fresh&to=https://a.test&note=why")
	save(t, s, "key/fresh", "action=remove")
	testcaddy.Write(t, file, strings.Replace(someRules, `"gone"`, `"https://old.test"`, 1))
	s.Eventually(t, "/old", "302 https://old.test/")
	got := look(t, s, "changes")
	got.Body = html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(got.Body, ""))
	got.Wants(t, 200, file+" 1 changed", "old before: gone after: https://old.test",
		"ann 1 removed", "fresh before: https://a.test “why”",
		"ann 1 added", "fresh  after: https://a.test “why”")
	s.Get(t, "/.links/changes", testcaddy.AsAnn).Wants(t, 200,
		" by ann: 1 added fresh\n  fresh: was no rule, now {",
		"  old: was gone, now https://old.test\n")
	all := changesOf(t, s, "changes")
	if len(all) != 3 || all[0].Source == "" || all[1].User != "ann" || all[2].Remote != "" ||
		all[1].Changes[0].Key != "fresh" || all[1].Changes[0].After != nil ||
		all[1].Old != all[2].Digest {
		t.Errorf("the changes are %+v", all)
	}
	if of := changesOf(t, s, "changes?key=/fresh"); len(of) != 2 || of[0].Removed != 1 {
		t.Errorf("those of a key are %+v", of)
	}
}

func TestAChangeIsTakenBackAfterALookAtWhatThatDoes(t *testing.T) {
	s, file := servePage(t, someRules, "")
	before := testcaddy.ReadFile(t, file)
	form := s.FormOf(t, "/.links/key/docs?edit")
	form.Set("to", "https://elsewhere.test")
	told := s.Post(t, "/.links/key/docs", form.Encode(), testcaddy.AsHTML)
	s.Post(t, "/.links/key/docs", testcaddy.FieldsOf(told.Body).Encode(), testcaddy.AsHTML)
	s.Leads(t, "/d", "302 https://elsewhere.test/")
	change := changesOf(t, s, "changes")[0]
	shown := look(t, s, change.page())
	shown.Wants(t, 200, "Take this change back?", "This also changes 1 other link",
		"Nothing is saved yet")
	blind := "change=" + testcaddy.FieldsOf(shown.Body).Get("change")
	s.Post(t, "/.links/changes", blind, testcaddy.AsHTML).
		Wants(t, 428, "This also changes 1 other link")
	s.Leads(t, "/d", "302 https://elsewhere.test/")
	done := s.Post(t, "/.links/changes", testcaddy.FieldsOf(shown.Body).Encode(), testcaddy.AsHTML)
	if done.Status != 303 {
		t.Fatal("it is answered with", done.Status, done.Body)
	}
	s.Leads(t, "/d", "302 https://docs.example/handbook?lang=en#top")
	if got := testcaddy.ReadFile(t, file); got != before {
		t.Error("the file is", got)
	}
	look(t, s, strings.TrimPrefix(done.Location(), "303 ./")).
		Wants(t, 200, "Saved.", "<bdi>ann</bdi>")
	if all := changesOf(t, s, "changes"); len(all) != 2 || !all[0].CanTakeBack || all[1].CanTakeBack {
		t.Errorf("the changes are %+v", all)
	}
	lacks(t, look(t, s, "changes?done="+change.Digest), "Saved.")
}

func TestAChangeOfADestinationWithAQueryCanBeTakenBack(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	save(t, s, "new", "key=fresh&to=https://a.test/?a=1%26b=<2>")
	if all := changesOf(t, s, "changes"); len(all) != 1 || !all[0].CanTakeBack {
		t.Errorf("the changes are %+v", all)
	}
}

func TestAChangeWhoseLinksHaveChangedSinceIsNotTakenBack(t *testing.T) {
	s, file := servePage(t, someRules, "")
	save(t, s, "new", "key=fresh&to=https://a.test")
	made := changesOf(t, s, "changes")[0]
	form := testcaddy.FieldsOf(look(t, s, made.page()).Body).Encode()
	save(t, s, "key/fresh", "to=https://b.test&digest="+digestOnPage(t, s))
	before := testcaddy.ReadFile(t, file)
	s.Post(t, "/.links/changes", form, testcaddy.AsHTML).
		Wants(t, 409, "the link fresh has changed since: its rule is &#34;https://b.test&#34; now")
	look(t, s, made.page()).
		Wants(t, 200, "It cannot be taken back here", "has changed since")
	save(t, s, "key/fresh", "action=remove")
	s.Post(t, "/.links/changes", form).
		Wants(t, 409, "fresh has changed since: its rule is removed now")
	save(t, s, "new", "key=fresh&to=https://b.test")
	if testcaddy.ReadFile(t, file) != before {
		t.Error("something was saved:", testcaddy.ReadFile(t, file))
	}
	for _, unknown := range []string{"change=0123-4567", "change=", ""} {
		s.Post(t, "/.links/changes", unknown).Wants(t, 404, "there is no change")
	}
	s.Get(t, "/.links/changes?change=x", testcaddy.AsAnn).Wants(t, 404, `there is no change "x"`)
}

func TestAChangeOfManyLinksIsFoldedAndTakenBackAsOne(t *testing.T) {
	for _, n := range []int{20, 300} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			s, file := servePage(t, `{"docs": "https://docs.example"}`, "")
			rules := map[string]string{"docs": "https://docs.example"}
			for i := range n {
				rules[fmt.Sprintf("k/%03d", i)] = fmt.Sprint("https://k.test/", i)
			}
			content, err := json.Marshal(rules)
			testcaddy.Must(t, err)
			testcaddy.Write(t, file, string(content))
			s.Eventually(t, "/k/007", "302 https://k.test/7")
			listed := look(t, s, "changes")
			listed.Wants(t, 200, fmt.Sprintf("<summary>%d links</summary>", n), ">Take back<", "k/007")
			shown := look(t, s, changesOf(t, s, "changes")[0].page())
			shown.Wants(t, 200, "<ins><span class=\"unseen\">after: </span><bdi>https://k.test/7<")
			if n > 100 {
				shown.Wants(t, 200, "And 200 other links.")
				listed.Wants(t, 200, ">and others<")
			}
			form := testcaddy.FieldsOf(shown.Body).Encode()
			s.Post(t, "/.links/changes", form, testcaddy.AsHTML).Wants(t, 303)
			s.Leads(t, "/docs", "302 https://docs.example/")
			if got := testcaddy.ReadFile(t, file); strings.Contains(got, "k.test") {
				t.Error("the file is", got)
			}
		})
	}
}

func TestWhoMayOnlyReadSeesChangesWithoutNamesAndButtons(t *testing.T) {
	for name, tt := range map[string]struct {
		options   string
		isNameFor bool
	}{
		"everyone may read":           {"read everyone\n" + byHeader, false},
		"who has a name may not edit": {"write nobody\n" + byHeader, true},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "links.json")
			testcaddy.Write(t, file, someRules)
			s := testcaddy.Serve(t, "shortlink {\nfrom file "+file+"\nname go\n}\n"+
				"shortlink_page /w* {\npath /w\n"+byHeader+"\n}\nshortlink_page {\n"+tt.options+"\n}")
			s.Post(t, "/w/new", "key=fresh&to=https://a.test", asBob).Wants(t, 201)
			s.Post(t, "/w/key/fresh", "action=remove", asBob).Wants(t, 200)
			header := []string{testcaddy.AsHTML}
			if tt.isNameFor {
				header = append(header, asBob)
			}
			var id string
			for _, target := range []string{
				"/.links/changes", "/.links/", "/.links/key/fresh", "/.links/new?key=fresh",
			} {
				got := s.Get(t, target, header...)
				got.Body, _, _ = strings.Cut(got.Body, "<footer>")
				if target != "/.links/" && strings.Contains(got.Body, "bob") != tt.isNameFor {
					t.Errorf("%s tells who it was: %t, want %t", target, !tt.isNameFor, tt.isNameFor)
				}
				if lacks(t, got, "Take back", "127.0.0.1"); target == "/.links/changes" {
					got.Wants(t, 200, "1 added", "https://a.test")
					id = regexp.MustCompile(`change=([0-9a-f-]+)`).FindStringSubmatch(got.Body)[1]
				}
			}
			shown := s.Get(t, "/.links/changes?change="+id, header...)
			shown.Wants(t, 200, "https://a.test")
			lacks(t, shown, `method="post"`, "cannot be taken back")
			s.Post(t, "/.links/changes", "change="+id, header...).Wants(t, 403, "Nothing is saved")
		})
	}
}

func TestChangesAreFiftyAPageWithAWayOn(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	for i := range 53 {
		save(t, s, "new", fmt.Sprintf("key=n%d&to=https://n.test", i))
	}
	first := look(t, s, "changes")
	first.Wants(t, 200, `key/n52"`, `key/n3"`, `href="./changes?key=&amp;shown=50"`)
	if rest := changesOf(t, s, "changes?shown=50"); len(rest) != 3 || rest[2].Changes[0].Key != "n0" {
		t.Errorf("behind them are %+v", rest)
	}
	for _, of := range []string{
		"changes?shown=60", "changes?shown=99999999999999999999", "changes?key=none",
	} {
		look(t, s, of).Wants(t, 200, "change is known")
	}
}

func TestThePageOfALinkHasItsLastChanges(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	save(t, s, "new", "key=fresh&to=https://n.test/0")
	for i := range 5 {
		save(t, s, "key/fresh", fmt.Sprintf("to=https://n.test/%d&digest=%s", i+1, digestOnPage(t, s)))
	}
	got := look(t, s, "key/fresh")
	got.Wants(t, 200, "https://n.test/5<", "https://n.test/0<",
		`href="../changes?key=fresh">All its changes`)
	lacks(t, got, "1 added")
	if all := changesOf(t, s, "changes?key=fresh"); len(all) != 6 {
		t.Errorf("all its changes are %+v", all)
	}
	lacks(t, look(t, s, "key/old"), "<h2>Changes</h2>")
}

func TestWhatWasChangedLastIsKnownAfterARestartWithNames(t *testing.T) {
	s, file := serveKept(t)
	save(t, s, "new", "key=fresh&to=https://a.test")
	save(t, s, "key/old", "to=https://b.test&digest="+digestOnPage(t, s))
	restart(t, s, testcaddy.PageBlock(file, ""))
	s.Get(t, "/.links/changes", testcaddy.AsAnn).Wants(t, 200, "ann") // it is read now
	home := look(t, s, "")
	home.Wants(t, 200, "Last changed", "<bdi>ann</bdi>", `href="./?q=&amp;sort=changed"`)
	s.Get(t, "/.links/", testcaddy.AsAnn).Wants(t, 200, "fresh https://a.test by ann\n")
	s.Get(t, "/.links/", testcaddy.AsAnn, testcaddy.AsJSON).Wants(t, 200, `"what":"added","who":"ann"`)
	for query, want := range map[string]string{
		"?q=&sort=changed":             "old fresh d docs gh/{owner} secret/plan",
		"?q=https&sort=changed":        "old fresh docs gh/{owner} secret/plan",
		"?q=to:/secret&sort=changed":   "",
		"?q=a.test&sort=changed":       "fresh",
		"?q=b.test&sort=changed&shown": "old",
	} {
		got := find(t, s, query)
		if strings.Join(got.keys(), " ") != want || got.Sort != "changed" {
			t.Errorf("%s has %v in the order %s, want %s", query, got.keys(), got.Sort, want)
		}
	}
	look(t, s, "?q=&sort=changed").
		Wants(t, 200, `aria-sort="descending"`, "<bdi>ann</bdi>")
}

func TestAConflictSaysWhoWasFaster(t *testing.T) {
	s, file := servePage(t, someRules, "")
	mine := s.FormOf(t, "/.links/key/old?edit")
	mine.Set("to", "https://mine.test")
	save(t, s, "key/old", "to=https://theirs.test&digest="+digestOnPage(t, s))
	s.Post(t, "/.links/key/old", mine.Encode(), testcaddy.AsHTML).
		Wants(t, 409, "The link was changed<bdi> by ann</bdi> <time")
	save(t, s, "key/old", "action=remove")
	s.Post(t, "/.links/key/old", mine.Encode(), testcaddy.AsHTML).
		Wants(t, 409, "The link was removed<bdi> by ann</bdi> <time")
	testcaddy.Write(t, file, strings.Replace(someRules, `"gone"`, `"https://old.test"`, 1))
	s.Eventually(t, "/old", "302 https://old.test/")
	s.Post(t, "/.links/key/old", mine.Encode(), testcaddy.AsHTML).
		Wants(t, 409, "The link was added<bdi> from "+file+"</bdi> <time")
}

func TestALinkOfSeveralWindowsThatWasRemovedIsTakenBack(t *testing.T) {
	s, _ := servePage(t, `{"fair": [{"to": "https://a.example", "until": "2097-01-01"},
		{"to": "https://b.example", "since": "2098-01-01"}], "docs": "https://docs.example"}`, "")
	save(t, s, "key/fair", "action=remove")
	missing := look(t, s, "key/fair")
	missing.Wants(t, 404, "This link was removed<bdi> by ann</bdi> on", "Make it again")
	id := regexp.MustCompile(`changes\?change=([0-9a-f-]+)"`).FindStringSubmatch(missing.Body)
	if id == nil {
		t.Fatal("no page makes it again:", missing.Body)
	}
	look(t, s, "changes?change="+id[1]).Wants(t, 200, "Take this change back?")
	form := testcaddy.FieldsOf(look(t, s, "changes?change="+id[1]).Body)
	if got := s.Post(t, "/.links/changes", form.Encode(), testcaddy.AsHTML); got.Status != 303 {
		t.Error("it is not taken back:", got.Status, got.Body)
	}
	s.Leads(t, "/fair", "302 https://a.example/")
}

func TestALinkThatWasRemovedCanBeHadAgain(t *testing.T) {
	s, _ := servePage(t, someRules, "misses")
	save(t, s, "key/secret/plan", "action=remove")
	look(t, s, "key/secret/plan").
		Wants(t, 404, "This link was removed<bdi> by ann</bdi> on", "Make it again",
			`new?key=secret%2fplan`)
	s.Get(t, "/.links/key/secret/plan", testcaddy.AsAnn).Wants(t, 404, "It was removed at", " by ann.")
	miss := s.Get(t, "/secret/plan", testcaddy.AsHTML)
	miss.Wants(t, 404, "Make this link", "new?key=secret%2fplan")
	lacks(t, miss, "ann", "removed", "plans.example") // it is shown to everybody
	filledIn := look(t, s, "new?key=secret%2fplan")
	filledIn.Wants(t, 200, "This link was removed<bdi> by ann</bdi> on")
	form := testcaddy.FieldsOf(filledIn.Body)
	for name, want := range map[string]string{
		"key": "secret/plan", "to": "https://plans.example", "status": "301", "exact": "true",
		"unlisted": "true", "note": "Ask Ann first.",
	} {
		if form.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, form.Get(name), want)
		}
	}
	got := s.FormOf(t, "/.links/new?key=secret/plan&to=https://x.test")
	if got.Get("to") != "https://x.test" || got.Get("note") != "" {
		t.Error("what the URL says is outdone by", got)
	}
	if s.Post(t, "/.links/new", form.Encode(), testcaddy.AsHTML).Status != 303 {
		t.Error("it cannot be saved")
	}
	s.Leads(t, "/secret/plan", "301 https://plans.example/")
	lacks(t, look(t, s, "new?key=secret/plan"), "was removed")
	lacks(t, look(t, s, "new?key="), "was removed")
}

// restart stops Caddy, and starts it with another block and the same storage.
func restart(t *testing.T, s *testcaddy.Server, block string) {
	t.Helper()
	testcaddy.Must(t, caddy.Stop())
	s.Load(t, block)
}

// serveKept is servePage with a storage that outlasts a restart.
func serveKept(t *testing.T) (s *testcaddy.Server, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "links.json")
	testcaddy.Write(t, file, someRules)
	s = testcaddy.Serve(t, "respond 404")
	s.Storage = testcaddy.StorageDir(t)
	s.Load(t, testcaddy.PageBlock(file, ""))
	return s, file
}

func TestWhereNothingCanBeEditedChangesSayWhyTheyAreNotTakenBack(t *testing.T) {
	s, _ := serveKept(t)
	save(t, s, "new", "key=fresh&to=https://a.test")
	restart(t, s, "shortlink {\nfresh https://a.test\nname go\n}\n"+testcaddy.SignIn+"\nshortlink_page")
	const why = "inline rules cannot be edited"
	list := look(t, s, "changes")
	list.Wants(t, 200, "No change can be taken back here", why)
	lacks(t, list, "Take back")
	change := changesOf(t, s, "changes")[0]
	look(t, s, change.page()).Wants(t, 200, "It cannot be taken back here", why)
	s.Post(t, "/.links/changes", "change="+change.Old+"-"+change.Digest).Wants(t, 409, why)
}

func TestAChangeThatWouldHideARuleOfALaterSourceIsNotTakenBack(t *testing.T) {
	first, second := filepath.Join(t.TempDir(), "a.json"), filepath.Join(t.TempDir(), "b.json")
	testcaddy.Write(t, first, `{}`)
	testcaddy.Write(t, second, `{"docs": "https://a.test"}`)
	s := testcaddy.Serve(t, "shortlink {\nfrom file "+first+"\nfrom file "+second+"\n}\n"+
		testcaddy.SignIn+"\nshortlink_page")
	testcaddy.Write(t, second, `{"docs": "https://b.test"}`)
	s.Eventually(t, "/docs", "302 https://b.test/")
	look(t, s, changesOf(t, s, "changes")[0].page()).
		Wants(t, 200, "stands in source "+second, "change it in "+second)
}

func TestProgramsTakeChangesBackToo(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	save(t, s, "new", "key=fresh&to=https://a.test")
	change := changesOf(t, s, "changes")[0]
	edit := map[string]string{"change": change.Old + "-" + change.Digest}
	var done struct {
		Saved  bool
		Digest string
	}
	got := postJSON(t, s, "/.links/changes", edit)
	got.Wants(t, 200, `"done":"taken back"`)
	testcaddy.Must(t, json.Unmarshal([]byte(got.Body), &done))
	if !done.Saved || done.Digest != change.Old {
		t.Errorf("it is answered with %+v", done)
	}
	postJSON(t, s, "/.links/changes", edit).
		Wants(t, 409, `"saved":false`, `"why_not":"the link fresh has changed since`)
	s.Post(t, "/.links/changes", "change=x", `If-Match: rubbish`).Wants(t, 400, "If-Match takes")
}

func TestAChangeThatCannotBeReadDoesNotHideTheOthers(t *testing.T) {
	s, file := serveKept(t)
	save(t, s, "new", "key=fresh&to=https://a.test")
	testcaddy.Must(t, caddy.Stop())
	entries, err := filepath.Glob(filepath.Join(s.Storage, "shortlink", "history", "go", "*"))
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	head, _, _ := strings.Cut(testcaddy.ReadFile(t, entries[0]), "\n")
	testcaddy.Write(t, entries[0], head+"\n[broken")
	s.Load(t, testcaddy.PageBlock(file, ""))
	save(t, s, "new", "key=other&to=https://b.test")
	look(t, s, "changes").Wants(t, 200, "https://b.test", `key/fresh"`)
	look(t, s, changesOf(t, s, "changes")[1].page()).Wants(t, 200, "It cannot be taken back here")
	look(t, s, "key/fresh").Wants(t, 200, "https://a.test")
}
