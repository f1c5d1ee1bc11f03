package command_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// convert converts a list of redirects, and returns what the command writes and its exit status.
func convert(list string, args ...string) (output string, status int) {
	args = append([]string{"shortlink", "convert", "--from", "array", "--to", "json"}, args...)
	return testcaddy.Run(args, list)
}

const (
	oneRedirect = `[{"source": "/docs", "destination": "https://docs.example", "permanent": true}]`
	noRedirects = `module.exports = {redirects: []}`
	docsOfOne   = "{\n\t\"docs\": {\"to\":\"https://docs.example\",\"status\":308,\"exact\":true}\n}\n"
	theOldTable = `{"old": "https://old.example"}`
	notReplaced = "is not replaced by a table without any; remove it first if that is meant"
	notWritten  = "no line makes a rule, so "
)

func TestNothingIsPrintedWhereNothingCouldBeConverted(t *testing.T) {
	for _, format := range []string{"json", "csv", "redirects", "map"} {
		got, status := convert(noRedirects, "--to", format)
		if !strings.HasPrefix(got, "refused: ") || status != 1 {
			t.Errorf("%s: got %s, %d", format, got, status)
		}
	}
}

func TestATableWithoutLinesIsConvertedToAnEmptyOne(t *testing.T) {
	if got, status := convert(`[]`); !strings.HasPrefix(got, "{\n}\n") || status != 0 {
		t.Errorf("got %s, %d", got, status)
	}
}

func TestWhatIsConvertedTakesThePlaceOfATableAsAWhole(t *testing.T) {
	dir := t.TempDir()
	links, before := filepath.Join(dir, "links.json"), filepath.Join(dir, "before.json")
	testcaddy.Write(t, links, theOldTable)
	testcaddy.Must(t, os.Chmod(links, 0o640))
	testcaddy.Must(t, os.Link(links, before))
	testcaddy.Must(t, os.Symlink("links.json", filepath.Join(dir, "current.json")))
	got, status := convert(oneRedirect, "-o", filepath.Join(dir, "current.json"))
	if status != 0 || strings.Contains(got, "{") {
		t.Errorf("got %s, %d", got, status)
	}
	if testcaddy.ReadFile(t, links) != docsOfOne || testcaddy.ReadFile(t, before) != theOldTable {
		t.Errorf("it holds %s, and what was there %s", testcaddy.ReadFile(t, links), testcaddy.ReadFile(t, before))
	}
	info, err := os.Stat(links)
	testcaddy.Must(t, err)
	if runtime.GOOS != "windows" && info.Mode() != 0o640 {
		t.Errorf("its mode is %v", info.Mode())
	}
	wantFiles(t, dir, "before.json", "current.json", "links.json")
}

// wantFiles checks the names of all files of a directory.
func wantFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	var names []string
	entries, err := os.ReadDir(dir)
	testcaddy.Must(t, err)
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if got := strings.Join(names, " "); got != strings.Join(want, " ") {
		t.Errorf("there are %s", got)
	}
}

func TestANewTableCanBeReadByThoseWhoReadOtherNewFiles(t *testing.T) {
	dir := t.TempDir()
	_, status := convert(oneRedirect, "--output", filepath.Join(dir, "links.json"))
	testcaddy.Must(t, os.WriteFile(filepath.Join(dir, "other"), nil, 0o666))
	links, err := os.Stat(filepath.Join(dir, "links.json"))
	testcaddy.Must(t, err)
	other, err := os.Stat(filepath.Join(dir, "other"))
	testcaddy.Must(t, err)
	if status != 0 || links.Mode() != other.Mode() {
		t.Errorf("got %d, and the modes are %v and %v", status, links.Mode(), other.Mode())
	}
}

func TestATableIsNotReplacedByAnEmptyOne(t *testing.T) {
	for name, tt := range map[string]struct {
		before, list string
		status       int
		want, after  string
	}{
		"where all is refused":      {theOldTable, noRedirects, 1, notWritten, theOldTable},
		"where there is nothing":    {theOldTable, `[]`, 1, notReplaced, theOldTable},
		"nor what is no table":      {`{"a": `, `[]`, 1, notReplaced, `{"a": `},
		"but an empty one is":       {`{}`, `[]`, 0, "0 exact", "{\n}\n"},
		"unless all is refused":     {`{}`, noRedirects, 1, notWritten, `{}`},
		"and none may be written":   {"", `[]`, 0, "0 exact", "{\n}\n"},
		"and none where refused is": {"", noRedirects, 1, notWritten, ""},
		"but one that has a rule is": {theOldTable, `[{"source": "/a(b+)", "destination": "/b"},` +
			oneRedirect[1:], 1, "1 exact, 0 approximated, 1 refused", docsOfOne},
	} {
		t.Run(name, func(t *testing.T) {
			links := filepath.Join(t.TempDir(), "links.json")
			if tt.before != "" {
				testcaddy.Write(t, links, tt.before)
			}
			got, status := convert(tt.list, "-o", links)
			after, _ := os.ReadFile(links)
			if status != tt.status || !strings.Contains(got, tt.want) || string(after) != tt.after {
				t.Errorf("got %s, %d, and %s", got, status, after)
			}
			if tt.after != "" {
				wantFiles(t, filepath.Dir(links), "links.json")
			}
		})
	}
}

func TestATableThatCannotBeWrittenIsNamedWithTheReason(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{
		dir:                      dir + ": it is a directory, not a file",
		dir + "/none/links.json": dir + "/none/links.json: no file can be created beside it: no such",
		"":                       "--output takes the path of a file; it is empty",
	} {
		if got, status := convert(oneRedirect, "-o", path); status != 2 || !strings.Contains(got, want) {
			t.Errorf("%q: got %s, %d", path, got, status)
		}
	}
	got, status := convert(oneRedirect, "-o", "-")
	if !strings.HasPrefix(got, docsOfOne) || status != 0 {
		t.Errorf("got %s, %d", got, status)
	}
	if _, err := os.Stat("-"); !os.IsNotExist(err) {
		t.Errorf("there is a file -: %v", err)
	}
	wantFiles(t, dir)
}

// A shell empties the file before the command begins.
func TestLinksServeOnWhenTheirTableIsConvertedInVain(t *testing.T) {
	s := testcaddy.Follow(t, theOldTable, "", "")
	for name, args := range map[string][]string{"by a shell": nil, "by itself": {"-o", s.Links}} {
		t.Run(name, func(t *testing.T) {
			testcaddy.Write(t, s.Links, theOldTable)
			s.Eventually(t, "/old", "302 https://old.example/")
			output, status := convert(noRedirects, args...)
			if status != 1 {
				t.Errorf("got %s, %d", output, status)
			}
			if args == nil {
				printed, _, _ := strings.Cut(output, "refused: ")
				testcaddy.Must(t, os.WriteFile(s.Links, []byte(printed), 0o600))
				s.Logged(t, 1, testcaddy.Rejected)
			}
			s.Leads(t, "/old/a", "302 https://old.example/a")
		})
	}
	if _, status := convert(oneRedirect, "-o", s.Links); status != 0 {
		t.Errorf("got %d", status)
	}
	s.Eventually(t, "/docs", "308 https://docs.example/")
}

// A file in the place of /dev/stdout would be read by nobody, and all programs would write into it.
func TestALinkToWhatIsNoFileStaysWhenATableIsWrittenToIt(t *testing.T) {
	dir := t.TempDir()
	_, pipe, err := os.Pipe()
	testcaddy.Must(t, err)
	defer pipe.Close()
	descriptor := fmt.Sprintf("/proc/self/fd/%d", pipe.Fd())
	for target, want := range map[string]string{
		"nowhere.json": "it is a symbolic link to a missing file; create that, or remove the link",
		descriptor:     "it is a device or pipe, not a file",
	} {
		if _, err := os.Stat("/proc/self/fd"); err != nil && target == descriptor {
			continue // only Linux has it
		}
		link := filepath.Join(dir, "links.json")
		testcaddy.Must(t, os.Symlink(target, link))
		got, status := convert(oneRedirect, "-o", link)
		if status != 2 || !strings.Contains(got, link+": "+want) {
			t.Errorf("%s: got %s, %d", target, got, status)
		}
		if leads, err := os.Readlink(link); leads != target || err != nil {
			t.Errorf("%s: the link leads to %q, %v", target, leads, err)
		}
		testcaddy.Must(t, os.Remove(link))
	}
	wantFiles(t, dir)
}
