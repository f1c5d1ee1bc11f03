package command_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

var updateTranscripts = flag.Bool("update-transcripts", false,
	"write the transcripts of testdata/commands anew")

// Each file of testdata/commands is what a terminal shows: lines that begin with "$ " are typed,
// "<" gives standard input, and what follows is the answer.
func TestCommandsAnswerAsInTheTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/commands/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no transcripts", err)
	}
	for i, file := range files {
		files[i], _ = filepath.Abs(file)
	}
	t.Chdir("testdata/commands")
	t.Setenv("NO_COLOR", "1")
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := replay(t, string(want))
			if *updateTranscripts {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// replay types the commands of a transcript again.
func replay(t *testing.T, transcript string) string {
	var out strings.Builder
	for line := range strings.Lines(transcript) {
		if strings.HasPrefix(line, "# ") {
			out.WriteString(line)
			continue
		}
		typed, is := strings.CutPrefix(line, "$ caddy ")
		if !is {
			continue
		}
		command, from, _ := strings.Cut(strings.TrimSpace(typed), " < ")
		stdin, err := os.ReadFile(from)
		if from != "" && err != nil {
			t.Fatal(err)
		}
		output, status := testcaddy.Run(strings.Fields(command), string(stdin))
		fmt.Fprintf(&out, "$ caddy %s%s", typed, output)
		if status != 0 {
			fmt.Fprintf(&out, "[exit status %d]\n", status)
		}
		out.WriteByte('\n')
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func TestWhatBeginsAsJSONIsNotToldOfOtherFormats(t *testing.T) {
	for stdin, told := range map[string]bool{
		"{": false, " \n{\"a\" 1}": false, "\uFEFF{]": false, " \n": false,
		"a,/b\n": true, "# ours\n/a /b\n": true, "[]": true, "a: /b\n": true,
	} {
		got, status := testcaddy.Run([]string{"shortlink", "check", "--rules", "-"}, stdin)
		if strings.Contains(got, "write --rules-format csv or") != told || status != 1 {
			t.Errorf("%q: got %q, %d", stdin, got, status)
		}
	}
}

func TestASpreadsheetIsOneErrorThatSaysHowToSaveIt(t *testing.T) {
	const want = "error: unreadable (1)\n" +
		"  -:1:1: this is a spreadsheet, or another file that is not text; save it as CSV, in UTF-8, " +
		"with the columns key and destination\n" +
		"shortlink: 0 rules, 1 error, 0 warnings, 0 notes\n"
	spreadsheet := "PK\x03\x04\x14\x00\x06\x00" + strings.Repeat("\x00\"\xff\"x\n", 1000)
	for _, format := range []string{"", "csv", "redirects"} {
		args := []string{"shortlink", "check", "--rules", "-", "--rules-format", format}
		if got, status := testcaddy.Run(args, spreadsheet); got != want || status != 1 {
			t.Errorf("%q: got status %d\n%.1000s", format, status, got)
		}
	}
}

func TestErrorsThatKeepRulesFromServingAreGroupedByKind(t *testing.T) {
	var rules strings.Builder
	for i := range 50 {
		fmt.Fprintf(&rules, "//k%d,https://a.example\nk%d,a.example\n", i, i)
	}
	args := []string{"shortlink", "check", "--rules", "-", "--rules-format", "csv"}
	got, status := testcaddy.Run(args, rules.String())
	if strings.Count(got, "error: invalid key (50)\n") != 1 ||
		strings.Count(got, "error: invalid value (50)\n") != 1 ||
		strings.Count(got, "  and 30 more; --format json has them all\n") != 2 ||
		strings.Count(got, "error: ") != 2 || status != 1 {
		t.Errorf("got status %d\n%s", status, got)
	}
}
