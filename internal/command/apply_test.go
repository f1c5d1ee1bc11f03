package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

func TestApplyChangesManyRulesAndSaysWhatThatDoes(t *testing.T) {
	s, path, _ := testcaddy.Editable(t, "links.json",
		`{"docs": {"to": "https://docs.example", "note": "why"}, "old": "https://old.example", "x": "/docs"}`)
	patch := filepath.Join(t.TempDir(), "patch.json")
	testcaddy.Write(t, patch, `{"docs": {"to": "https://new.example"}, "old": null, "z": "gone"}`)
	rules := s.Ask(t, "GET", "links/rules", "").Body
	at := " (" + path + ")"
	told := "1 added\n  z" + at + ": was pass, now gone\n" +
		"1 removed\n  old" + at + ": was 302 https://old.example/, now pass\n" +
		"1 changed\n  docs" + at + ": was 302 https://docs.example/, now 302 https://new.example/\n" +
		"1 affected: their own rules are the same, and lead elsewhere\n" +
		"  x" + at + ": was 302 https://docs.example/, now 302 https://new.example/\n"
	s.Says(t, told+"not applied: 1 added, 1 removed, 1 changed\n", 0, "apply", patch, "--dry-run")
	if got := s.Ask(t, "GET", "links/rules", "").Body; got != rules {
		t.Errorf("after a dry run there are %s", got)
	}
	s.Says(t, told+"applied: 1 added, 1 removed, 1 changed\n", 0, "apply", patch, "--yes")
	s.Says(t, "Nothing changes for clients.\napplied: 0 added, 0 removed, 0 changed\n", 0,
		"apply", patch, "--yes")
	all := filepath.Join(t.TempDir(), "all.json")
	testcaddy.Write(t, all, rules)
	s.Says(t, "Error: the rules have changed: their digest is "+
		strings.Trim(s.Ask(t, "GET", "links/rules", "").Header.Get("ETag"), `"`)+
		" now; read them again\n", 1, "apply", all, "--replace", "--yes", "--if-match", "old")
	if _, status := s.Command("apply", all, "--replace", "--yes"); status != 0 {
		t.Errorf("the exit status is %d", status)
	}
	if got := s.Ask(t, "GET", "links/rules", "").Body; got != rules {
		t.Errorf("there are %s", got)
	}
	got, _ := s.Command("apply", patch, "--dry-run", "--format", "json")
	if !strings.HasPrefix(got, `{"digest":"`) ||
		!strings.Contains(got, `"changes":[{"kind":"changed","key":"docs"`) {
		t.Errorf("as JSON it says %s", got)
	}
}

func TestApplyNamesTheFileAndTheLineOfWhatIsRefused(t *testing.T) {
	s, _, _ := testcaddy.Editable(t, "links.json", `{}`)
	patch := filepath.Join(t.TempDir(), "patch.json")
	for content, want := range map[string][]string{
		"{\n\"bad\": \"nowhere\",\n\"worse\": \"ftp://x\"\n}": {
			"Error: " + patch + `:2:1: key "bad": `, "\n" + patch + `:3:1: key "worse": `,
		},
		"{\"a\"}":          {"Error: " + patch + ":1:5: this is not JSON"},
		"{\"home\": null}": {`Error: the rule for the key "home" is an inline rule`},
	} {
		testcaddy.Write(t, patch, content)
		for _, flag := range []string{"--yes", "--dry-run"} {
			got, status := s.Command("apply", patch, flag)
			for _, part := range want {
				if status != 1 || !strings.Contains(got, part) {
					t.Errorf("%s: it says %s, %d; want %q", content, got, status, part)
				}
			}
		}
	}
}

func TestApplySaysWhatChangesAtOtherTimesOnly(t *testing.T) {
	s, path, _ := testcaddy.Editable(t, "links.json", `{}`)
	patch := filepath.Join(t.TempDir(), "patch.json")
	testcaddy.Write(t, patch, `{"a": {"to": "https://a.example", "since": "2099-01-01"}}`)
	s.Says(t, "Nothing changes for clients now.\n1 with changes at other times\n  a ("+path+`): was no rule`+
		`, now {"to":"https://a.example","since":"2099-01-01"}`+
		"\nnot applied: 1 added, 0 removed, 0 changed\n", 0, "apply", patch, "--dry-run")
}

func TestApplyIsRefusedWithoutATerminalToAskAt(t *testing.T) {
	s, path, _ := testcaddy.Editable(t, "links.json", `{}`)
	patch := filepath.Join(t.TempDir(), "patch.json")
	testcaddy.Write(t, patch, `{"a": "https://a.example"}`)
	s.Says(t, "Error: there is no terminal to ask at; write --yes to apply without a question, or "+
		"--dry-run to see what it would change\n", 2, "apply", patch)
	s.Says(t, "Error: apply takes one file, of JSON\n", 2, "apply")
	s.Says(t, "Error: apply takes JSON, and links.csv is csv; write: caddy shortlink convert --from csv "+
		"--to json links.csv\n", 2, "apply", "links.csv", "--yes")
	got, status := testcaddy.Run([]string{"shortlink", "apply", "-", "--yes", "--address", s.Admin},
		`{"b": "https://b.example"}`)
	content, err := os.ReadFile(path)
	if err != nil || status != 0 || !strings.Contains(string(content), "b.example") ||
		strings.Contains(string(content), "a.example") {
		t.Errorf("it says %s, %d, and the file holds %s", got, status, content)
	}
}
