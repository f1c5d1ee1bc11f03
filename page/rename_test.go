package page_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

func TestALinkIsRenamedWithAllThatItHasAndItsOldKeyLeadsToTheNewOne(t *testing.T) {
	s, file := servePage(t, `{
	"docs": {"to": "https://docs.example/?a=1", "status": 308, "exact": true, "unlisted": true,
		"query": "preserve", "note": "Ask Ann."},
	"d": "/docs"
}`, "")
	before := s.Get(t, "/docs?b=%31&a=2").Location()
	s.Get(t, "/.links/key/docs", testcaddy.AsAnn, testcaddy.AsHTML).Wants(t, 200, `href="../key/docs?rename"`)
	s.Get(t, "/.links/key/docs?rename", testcaddy.AsAnn, testcaddy.AsHTML).Wants(t, 200,
		"Other links that lead to", `href="../key/d"`)
	form := s.FormOf(t, "/.links/key/docs?rename")
	if form.Get("new_key") != "docs" || form.Get("old") != "leads" {
		t.Error("the form does not begin with the key as it is, and the safe choice:", form)
	}
	form.Set("new_key", "team/handbook")
	got := s.Post(t, "/.links/key/docs", form.Encode(), testcaddy.AsHTML).Location()
	if got != "303 ../key/team/handbook?done=renamed" {
		t.Error("it was answered with", got)
	}
	s.Get(t, "/.links/key/team/handbook?done=renamed", testcaddy.AsAnn, testcaddy.AsHTML).
		Wants(t, 200, "Renamed.", "Ask Ann.")
	for _, path := range []string{"/docs", "/team/handbook"} {
		if now := s.Get(t, path+"?b=%31&a=2").Location(); now != before {
			t.Errorf("%s leads to %s, and the link led to %s", path, now, before)
		}
	}
	if got := s.Get(t, "/d").Location(); got != "307 https://docs.example/?a=1" {
		t.Error("the other link leads to", got)
	}
	if got := s.Get(t, "/docs/below"); got.Status != 200 {
		t.Error("the old key has become less exact:", got.Status, got.Location())
	}
	want := []string{`"team/handbook": {"to":"https://docs.example/?a=1","status":308,"exact":true,` +
		`"unlisted":true,"query":"preserve","note":"Ask Ann."}`,
		`"docs": {"to":"/team/handbook","status":308,"exact":true,"unlisted":true,"query":"preserve"}`}
	for _, line := range want {
		if content := testcaddy.ReadFile(t, file); !strings.Contains(content, line) {
			t.Errorf("the file has no %s:\n%s", line, content)
		}
	}
}

func TestARenameThatLeadsOthersElsewhereSaysWhichAndWaits(t *testing.T) {
	for old, want := range map[string]string{"gone": "410", "free": "200"} {
		t.Run(old, func(t *testing.T) {
			s, file := servePage(t, `{"docs": "https://docs.example", "a": "/docs", "b": "/a/x"}`, "")
			before := testcaddy.ReadFile(t, file)
			form := s.FormOf(t, "/.links/key/docs?rename")
			form.Set("new_key", "handbook")
			form.Set("old", old)
			preview := s.Post(t, "/.links/key/docs", form.Encode(), testcaddy.AsHTML)
			preview.Wants(t, 428, "This also changes 2 other links", "302 https://docs.example/x",
				`value="handbook"`)
			if testcaddy.ReadFile(t, file) != before {
				t.Error("the preview wrote something")
			}
			confirmed := testcaddy.FieldsOf(preview.Body)
			if confirmed.Get("old") != old {
				t.Error("what becomes of the old key is forgotten:", confirmed)
			}
			got := s.Post(t, "/.links/key/docs", confirmed.Encode(), testcaddy.AsHTML)
			if got.Status != 303 {
				t.Fatal("the confirmed rename was answered with", got.Status, got.Body)
			}
			if got := s.Get(t, "/docs"); !strings.HasPrefix(got.Location(), want) {
				t.Errorf("the old key is answered with %s, want %s", got.Location(), want)
			}
			if got := s.Get(t, "/handbook/y").Location(); got != "302 https://docs.example/y" {
				t.Error("the new key leads to", got)
			}
		})
	}
}

func TestARenameIsWarnedOfAsANewLinkIs(t *testing.T) {
	for key, want := range map[string]string{
		"dosc":            "nearly taken: there is a link docs already",
		"a\u00adb":        "invisible",
		"self":            "leads to itself: ",
		"shelf":           "", // the link's own old key
		"quite-different": "",
	} {
		s, _ := servePage(t, `{"docs": "https://docs.example", "shell": "http://go.example/self"}`, "")
		form := s.FormOf(t, "/.links/key/shell?rename")
		form.Set("new_key", key)
		form.Set("old", "free")
		got := s.Post(t, "/.links/key/shell", form.Encode())
		if want != "" {
			got.Wants(t, 428, want)
			_, fingerprint, _ := strings.Cut(got.Body, "confirm=")
			form.Set("confirm", strings.TrimSpace(fingerprint))
			got = s.Post(t, "/.links/key/shell", form.Encode())
		}
		if got.Status != 200 {
			t.Errorf("%q is answered with %d: %s", key, got.Status, got.Body)
		}
	}
}

func TestARefusedRenameSaysWhyAndKeepsWhatWasTyped(t *testing.T) {
	s, file := servePage(t, someRules, "")
	form := s.FormOf(t, "/.links/key/docs?rename")
	before := testcaddy.ReadFile(t, file)
	for name, tt := range map[string]struct {
		key, old, want string
		status         int
	}{
		"the new key is taken":       {"d", "gone", "there is a link with the key d already", 409},
		"in another spelling":        {"%64", "gone", "there is a link with the key", 409},
		"it is the old one":          {"%64ocs", "leads", "another one of", 422},
		"there is none":              {" ", "leads", "write another key than docs", 422},
		"no key can be like that":    {"a?b", "leads", "the path alone", 422},
		"nothing becomes of the old": {"x", "dropped", "old takes leads, gone or free", 422},
	} {
		t.Run(name, func(t *testing.T) {
			form := maps.Clone(form)
			form.Set("new_key", tt.key)
			form.Set("old", tt.old)
			got := s.Post(t, "/.links/key/docs", form.Encode(), testcaddy.AsHTML)
			got.Wants(t, tt.status, "Nothing is renamed yet", tt.want)
			if again := testcaddy.FieldsOf(got.Body); again.Get("new_key") != tt.key {
				t.Errorf("what was typed has become %v", again)
			}
		})
	}
	if testcaddy.ReadFile(t, file) != before {
		t.Error("a refused rename was written")
	}
}

func TestARenameOfALinkThatSomebodyHasChangedIsMadeOfWhatItIsNow(t *testing.T) {
	s, _ := servePage(t, `{"docs": "https://docs.example"}`, "")
	form := s.FormOf(t, "/.links/key/docs?rename")
	form.Set("new_key", "handbook")
	s.Post(t, "/.links/key/docs", "to=https://theirs.example&digest="+digestOnPage(t, s))
	got := s.Post(t, "/.links/key/docs", form.Encode(), testcaddy.AsHTML)
	got.Wants(t, 409, "https://theirs.example", `value="handbook"`)
	again := testcaddy.FieldsOf(got.Body)
	if got := s.Post(t, "/.links/key/docs", again.Encode(), testcaddy.AsHTML); got.Status != 303 {
		t.Error("the second try was answered with", got.Status, got.Body)
	}
	if got := s.Get(t, "/handbook").Location(); got != "302 https://theirs.example/" {
		t.Error("the new key leads to", got)
	}
}

func TestARenameOfALinkThatIsGoneKeepsWhatWasTyped(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	form := s.FormOf(t, "/.links/key/secret/plan?rename")
	form.Set("new_key", "plan")
	s.Post(t, "/.links/key/secret/plan", "action=remove&digest="+digestOnPage(t, s)).Wants(t, 200)
	s.Post(t, "/.links/key/secret/plan", form.Encode(), testcaddy.AsHTML).
		Wants(t, 409, "is gone now", `value="plan"`)
	s.Post(t, "/.links/key/secret/plan", "action=rename&new_key=x").Wants(t, 404)
}

func TestARenameLosesNoChangeThatIsMadeMeanwhile(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	for n := range 20 {
		old, renamed := fmt.Sprint("old-", n), fmt.Sprint("renamed-", n)
		s.Post(t, "/.links/new", "to=https://before.example&key="+old).Wants(t, 201)
		var saved, moved testcaddy.Reply
		var edits sync.WaitGroup
		edits.Go(func() {
			saved = s.Post(t, "/.links/key/"+old, "to=https://after.example", "If-Match: *")
		})
		edits.Go(func() {
			form := "action=rename&old=free&new_key=" + renamed
			moved = s.Post(t, "/.links/key/"+old, form, "If-Match: *")
		})
		edits.Wait()
		got := s.Get(t, "/"+renamed).Location()
		if saved.Status == 200 && moved.Status == 200 && got != "302 https://after.example/" {
			t.Errorf("the change was saved, and then %s leads to %s", renamed, got)
		}
	}
}

func TestATemplateIsRenamedWithItsVariables(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	s.Post(t, "/.links/key/gh/%7Bowner%7D", "action=rename&new_key=github/{owner}").Wants(t, 200)
	for _, path := range []string{"/gh/a%2Fb/x", "/github/a%2Fb/x"} {
		if got := s.Get(t, path).Location(); got != "302 https://github.com/a%2Fb/x" {
			t.Errorf("%s leads to %s", path, got)
		}
	}
}

func TestProgramsRenameLinksToo(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	const form = "action=rename&new_key=handbook&old=free"
	inJSON := s.Post(t, "/.links/key/docs", form, testcaddy.AsJSON)
	inJSON.Wants(t, 428, `"saved":false`, `"others":1`, `"new_key":"handbook"`, `"old":"free"`)
	var answer struct{ Confirm string }
	testcaddy.Must(t, json.Unmarshal([]byte(inJSON.Body), &answer))
	s.Post(t, "/.links/key/docs", form+"&digest=0123", testcaddy.AsJSON).Wants(t, 409)
	s.Post(t, "/.links/key/docs", form, testcaddy.AsJSON, `If-Match: "0123"`).Wants(t, 412)
	s.Post(t, "/.links/key/docs", form+"&confirm="+answer.Confirm, testcaddy.AsJSON).
		Wants(t, 200, `"saved":true,"key":"handbook"`, `"done":"renamed"`)
	s.Post(t, "/.links/key/handbook", "action=rename&new_key=d").Wants(t, 409, "choose another key")
	s.Post(t, "/.links/key/handbook", "action=rename").Wants(t, 422, "new_key")
	edit := map[string]string{"action": "rename", "new_key": "manual", "old": "gone"}
	postJSON(t, s, "/.links/key/handbook", edit).Wants(t, 200, `"key":"manual"`, `"done":"renamed"`)
	s.Get(t, "/.links/key/handbook?rename", testcaddy.AsAnn).Wants(t, 200, "POST action=rename")
	s.Post(t, "/.links/key/handbook", "action=rename&new_key=x", "Origin: https://evil.example").
		Wants(t, 403, "another site")
}

func TestARenameThatHidesThePageWaitsForASecondClick(t *testing.T) {
	s, _ := servePage(t, someRules, "")
	form := s.FormOf(t, "/.links/key/secret/plan?rename")
	form.Set("new_key", ".links")
	for _, as := range []string{testcaddy.AsHTML, testcaddy.AsJSON, "Accept: text/plain"} {
		s.Post(t, "/.links/key/secret/plan", form.Encode(), as).
			Wants(t, 428, "the links page does not get it")
	}
	s.Get(t, "/.links/", testcaddy.AsAnn).Wants(t, 200)
}

func TestWhoMayNotEditCannotRename(t *testing.T) {
	s, file := servePage(t, someRules, "write nobody")
	before := testcaddy.ReadFile(t, file)
	s.Get(t, "/.links/key/docs?rename", testcaddy.AsAnn, testcaddy.AsHTML).Wants(t, 403, "write nobody")
	s.Post(t, "/.links/key/docs", "action=rename&new_key=x").Wants(t, 403, "write nobody")
	if testcaddy.ReadFile(t, file) != before {
		t.Error("it was renamed")
	}
}

// keyByKey is a file that takes no changes of several keys at once, as a Redis cluster does.
type keyByKey struct{ source.File }

func init() { caddy.RegisterModule(new(keyByKey)) }

func (*keyByKey) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID: "http.shortlink.sources.test_key_by_key", New: func() caddy.Module { return new(keyByKey) },
	}
}

func (s *keyByKey) Edit(ctx context.Context, version string, edit rulefile.Edit) (string, error) {
	if len(edit.Changes) > 1 {
		return "", rulefile.Errors{{Message: "change one key at a time"}}
	}
	return s.File.Edit(ctx, version, edit)
}

func TestASourceThatChangesNoKeysTogetherSaysSoInTheForm(t *testing.T) {
	file := t.TempDir() + "/links.json"
	testcaddy.Write(t, file, someRules)
	s := testcaddy.Serve(t, strings.Replace(testcaddy.PageBlock(file, ""), "from file",
		"from test_key_by_key", 1))
	form := s.FormOf(t, "/.links/key/docs?rename")
	form.Set("new_key", "handbook")
	s.Post(t, "/.links/key/docs", form.Encode(), testcaddy.AsHTML).
		Wants(t, 422, "change one key at a time", `value="handbook"`)
}
