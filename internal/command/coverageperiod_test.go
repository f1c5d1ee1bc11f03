package command_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// logOf writes a log in the common format, and returns its name: of each path a request on the days
// of March 2026 that are named.
func logOf(t *testing.T, days map[string][]int) string {
	t.Helper()
	var lines strings.Builder
	for path, all := range days {
		for _, day := range all {
			fmt.Fprintf(&lines, `203.0.113.9 - - [%02d/Mar/2026:12:00:00 +0000] "GET %s HTTP/1.1" 404 153`+
				"\n", day, path)
		}
	}
	log := filepath.Join(t.TempDir(), "access.log")
	testcaddy.Write(t, log, lines.String())
	return log
}

// coverageOf returns what coverage says, and its exit status.
func coverageOf(rules string, args ...string) (string, int) {
	return testcaddy.Run(append([]string{"shortlink", "coverage", "--rules", "-"}, args...), rules)
}

func TestCoverageListsProbesLastAndOnlyIfAsked(t *testing.T) {
	log := logOf(t, map[string][]int{"/.env": {1, 2, 3}, "/wp-login.php": {1, 2}, "/guide": {1},
		"/.git/config": {1}})
	const head = "                URLs    requests\n" +
		"redirect           1           1\ngone               0           0\n" +
		"page               0           0\nerror              0           0\n" +
		"missing            1           1\nprobe              2           5\n" +
		"total              4           7\n\nmissing (1)\n       1  /guide\n"
	for _, tt := range []struct{ flags, want string }{
		{"", head + "\nprobes: 2 URLs that scanners ask any site for, 5 requests; --probes lists them\n"},
		{"--probes", head + "\nprobes (2)\n       3  /.env\n       2  /wp-login.php\n"},
		{"--format csv", "Note: 2 URLs that scanners ask any site for left out; --probes writes them, " +
			"too\nkey,destination,requests\nguide,,1\n"},
		{"--format csv --probes", "key,destination,requests\n.env,,3\nwp-login.php,,2\nguide,,1\n"},
	} {
		got, status := coverageOf(`{".git": "https://git.example"}`,
			append(strings.Fields(tt.flags), log)...)
		if got != tt.want || status != 1 {
			t.Errorf("%s: got, with status %d,\n%s\nwant\n%s", tt.flags, status, got, tt.want)
		}
	}
	got, _ := coverageOf("{}", "--format", "json", log)
	for _, want := range []string{`"missing":{"urls":1,"requests":1},"probe":{"urls":3,"requests":6}`,
		"\"missing\":[\n{\"path\":\"/guide\",\"requests\":1,\"candidates\":[]}\n],\"probes\":[\n" +
			"{\"path\":\"/.env\",\"requests\":3},\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("as JSON got\n%s\nwant %s", got, want)
		}
	}
	probes := logOf(t, map[string][]int{"/.env": {1}})
	if got, status := coverageOf("{}", probes); status != 0 {
		t.Errorf("of probes alone the status is %d: %s", status, got)
	}
}

func TestCoverageCountsRequestsOfAPeriodAlone(t *testing.T) {
	log := logOf(t, map[string][]int{"/a": {1, 15, 31}})
	for flags, want := range map[string]string{
		"--month 2026-03":                                 "3",
		"--since 2026-03-15":                              "2",
		"--until 2026-03-15":                              "1",
		"--since 2026-03-02 --until 2026-03-31":           "1",
		"--since 2026-03-15T13:00:00+01:00":               "2",
		"--since 2026-03-15T12:00:01Z":                    "1",
		"--since 2026-02-01 --until 2026-03-31T12:00:00Z": "2",
	} {
		got, status := coverageOf("{}", append(strings.Fields(flags), log)...)
		if !strings.Contains(got, "\n       "+want+"  /a") || status != 1 {
			t.Errorf("%s: got, with status %d,\n%s\nwant %s", flags, status, got, want)
		}
	}
	got, _ := coverageOf("{}", "--since", "2026-03-15", log)
	if want := "Note: requests left out, of other times: 1\n"; !strings.HasPrefix(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	got, _ = coverageOf("{}", "--since", "2026-03-15", "--format", "json", log)
	if want := `"other_times":1,"undated":0`; !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAPeriodThatCannotBeCountedIsAnError(t *testing.T) {
	log := logOf(t, map[string][]int{"/a": {2, 15}})
	list := filepath.Join(t.TempDir(), "list")
	testcaddy.Write(t, list, "/a\n")
	for _, tt := range []struct{ flags, file, want string }{
		{"--since 2026-04-01", log, "nothing is counted: all requests are from other times (2), from " +
			"2026-03-02T12:00:00Z to 2026-03-15T12:00:00Z; write another --since, --until or --month"},
		{"--month 2026-03", list, list +
			": it has no dates; leave out the file, or --since, --until and --month"},
		{"--month March", list, `--month takes a month, such as 2026-03, not "March"`},
		{"--month=", list, `--month takes a month, such as 2026-03, not ""`},
		{"--month 2026-03 --since 2026-03-02", list,
			"--month is a period of its own; leave out --since and --until"},
		{"--since 2026-03-02 --until 2026-03-01", list, "--until has to be after --since: nothing is " +
			"between 2026-03-02T00:00:00Z and 2026-03-01T00:00:00Z"},
		{"--since 2026-03-01T06:00:00", list, "--since takes a date, such as 2026-03-01, or a time with " +
			`a zone, such as 2026-03-01T06:00:00Z, not "2026-03-01T06:00:00"; see caddy shortlink ` +
			"coverage --help"},
	} {
		got, status := coverageOf("{}", append(strings.Fields(tt.flags), tt.file)...)
		if want := "Error: " + tt.want + "\n"; got != want || status != 2 {
			t.Errorf("%s: got %s, %d; want %s", tt.flags, got, status, want)
		}
	}
}
