package rulefile_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// windowsIn reads rules, and returns their keys and windows, and what is wrong.
func windowsIn(format rulefile.Format, text string) (windows []string, wrong string) {
	err := rulefile.Read(strings.NewReader(text), format, "f", func(rule resolver.Rule) {
		windows = append(windows, strings.TrimSpace(rule.Key+" "+rule.Value+rule.Windows))
	})
	if err != nil {
		wrong = err.Error()
	}
	return windows, wrong
}

const (
	campaignInJSON = `{
	"docs": "https://docs.example",
	"fair": [{"to":"/register","until":"2027-03-01"},` +
		`{"to":"https://video.example","status":301,"since":"2027-03-01","until":"2027-06-01"},` +
		`{"to":"gone","since":"2027-06-01T18:30:00Z"}],
	"sale": {"to":"/sale","note":"spring","since":"2027-03-20"}
}
`
	campaignInCSV = `key,destination,status,exact,unlisted,query,note,since,until
docs,https://docs.example,,,,,,,
fair,/register,,,,,,,2027-03-01
fair,https://video.example,301,,,,,2027-03-01,2027-06-01
fair,gone,,,,,,2027-06-01T18:30:00Z,
sale,/sale,,,,,spring,2027-03-20,
`
)

func TestWindowsThatAreReadAreWrittenAgainInEachFormat(t *testing.T) {
	for from, text := range map[rulefile.Format]string{
		rulefile.JSON: campaignInJSON, rulefile.CSV: campaignInCSV,
	} {
		var rules []resolver.Rule
		add := func(rule resolver.Rule) { rules = append(rules, rule.Clone()) }
		if err := rulefile.Read(strings.NewReader(text), from, "f", add); err != nil {
			t.Fatal(err)
		}
		for to, want := range map[rulefile.Format]string{
			rulefile.JSON: campaignInJSON, rulefile.CSV: campaignInCSV,
		} {
			var b bytes.Buffer
			if err := rulefile.Write(&b, to, slices.Values(rules)); err != nil || b.String() != want {
				t.Errorf("%s as %s: %v\n%s\nwant\n%s", from, to, err, b.String(), want)
			}
		}
	}
}

func TestTimesOfAnyZoneAreWrittenInUTC(t *testing.T) {
	got, wrong := windowsIn(rulefile.JSON, `{"a": {"to": "/b", "until": "2027-03-01T00:00:00+01:00"}}`)
	want := `a {"to":"/b","until":"2027-02-28T23:00:00Z"}`
	if wrong != "" || len(got) != 1 || got[0] != want {
		t.Errorf("got %s %s, want %s", got, wrong, want)
	}
}

func TestALineCannotExpressWindows(t *testing.T) {
	const value = `{"to": "/b", "until": "2027-03-01"}`
	rule, err := rulefile.ReadJSONValue(strings.NewReader(value), "", "a")
	if err != nil {
		t.Fatal(err)
	}
	err = rulefile.Write(new(bytes.Buffer), rulefile.Redirects, slices.Values([]resolver.Rule{rule}))
	want := `key "a": a line is there always, and this rule has windows; write json or csv`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestWhatIsWrongWithWindowsIsToldAtOnceWithItsPlace(t *testing.T) {
	const noTime = `is no time; write a date, such as 2027-03-01, which begins at midnight UTC, or a ` +
		`time with a zone, such as 2027-03-01T18:00:00+01:00`
	for name, tt := range map[string]struct {
		format     rulefile.Format
		text, want string
	}{
		"times": {rulefile.JSON, `{
"a": {"to": "/b", "since": "2027-03-01T10:00:00", "until": "soon"},
"b": {"to": "/b", "until": 2027},
"c": {"to": "/b", "until": "2027-03-01T10:00:00.5Z"}}`,
			`f:2:28: "since" in the value of "a" takes a time, not "2027-03-01T10:00:00"; ` +
				"2027-03-01T10:00:00 has no zone; write 2027-03-01T10:00:00Z for UTC, or a zone such as " +
				"+01:00 in place of the Z\n" +
				`f:2:60: "until" in the value of "a" takes a time, not "soon"; "soon" ` + noTime + "\n" +
				`f:3:28: "until" in the value of "b" takes a time, not 2027; "2027" ` + noTime + "\n" +
				`f:4:28: "until" in the value of "c" takes a time, not "2027-03-01T10:00:00.5Z"; ` +
				"2027-03-01T10:00:00.5Z has a fraction of a second; write 2027-03-01T10:00:00Z"},
		"until before since": {rulefile.JSON,
			`{"a": {"to": "/b", "since": "2027-03-02", "until": "2027-03-01"}}`,
			`f:1:7: the value of "a": until is 2027-03-01, which is not after since, 2027-03-02; write a ` +
				"later until, or an earlier since"},
		"windows that overlap": {rulefile.JSON, `{
"a": [{"to": "/1", "until": "2027-03-02"}, {"to": "/2", "since": "2027-03-01", "until": "2027-04-01"},
 {"to": "/3"}],
"b": [{"to": "/1", "since": "2027-03-02"}, {"to": "/2", "since": "2027-03-05"}],
"c": [{"to": "/1", "since": "2027-03-02", "until": "2027-03-03"},
 {"to": "/2", "since": "2027-02-01", "until": "2027-02-02"}],
"d": [{"to": "/1"}, {"to": "/2"}]}`,
			`f:2:44: the value of "a": it begins at 2027-03-01, and the rule in front of it lasts until ` +
				"2027-03-02; let one begin when the other ends\n" +
				`f:3:2: the value of "a": it has no beginning, and the rule in front of it lasts until ` +
				"2027-04-01; write since 2027-04-01 here\n" +
				`f:4:44: the value of "b": it begins at 2027-03-05, and the rule in front of it has no end; ` +
				"write until 2027-03-05 into that one\n" +
				`f:6:2: the value of "c": it begins at 2027-02-01, and the rule in front of it only at ` +
				"2027-03-02; write the rules of a key in the order of time\n" +
				`f:7:21: the value of "d": it is there always, and so is the rule in front of it; write ` +
				"until into that one, and the same time as since here"},
		"an array of other things": {rulefile.JSON, `{"a": ["/b", {"to": "/c"}], "b": []}`,
			`f:1:8: the array of "a" has objects, each for a time, such as {"to": "https://x.example", ` +
				`"until": "2027-03-01"}, not "/b"` + "\n" +
				`f:1:34: the array of "b" is empty; write an object for each time, or remove the key`},
		"no comma": {rulefile.JSON, `{"a": [{"to": "/c"} {"to": "/d"}]}`,
			`f:1:21: this is not JSON: in front of this a "," is missing`},
		"rows": {rulefile.CSV, "key,destination,since,until\na,/1,,2027-03-02\nb,/b,yesterday,\n" +
			"a,/2,2027-03-01,2027-05-01\na,/3,2027-06-01,2027-05-01\n",
			`f:3:6: this column holds a time, or nothing, not "yesterday"; "yesterday" ` + noTime + "\n" +
				`f:4:1: the key "a" has several rows: it begins at 2027-03-01, and the rule in front of it ` +
				"lasts until 2027-03-02; let one begin when the other ends\n" +
				`f:5:1: the key "a" has several rows: until is 2027-05-01, which is not after since, ` +
				"2027-06-01; write a later until, or an earlier since"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, wrong := windowsIn(tt.format, tt.text); wrong != tt.want {
				t.Errorf("got  %s\nwant %s", wrong, tt.want)
			}
		})
	}
}

func TestAnEditReplacesAllRowsOfAKeyAndLeavesTheOthers(t *testing.T) {
	const before = "key,destination,since,until\nfair,/2,2027-03-01,\ndocs,/docs,,\nfair,/1,,2027-03-01\n" +
		"sale,/sale,2027-03-20,\n"
	for value, want := range map[string]string{
		`[{"to": "/3", "until": "2028-01-01"}, {"to": "gone", "since": "2029-01-01"}]`: "key,destination," +
			"since,until\nfair,/3,,2028-01-01\nfair,gone,2029-01-01,\ndocs,/docs,,\nsale,/sale,2027-03-20,\n",
		`"/4"`: "key,destination,since,until\nfair,/4,,\ndocs,/docs,,\nsale,/sale,2027-03-20,\n",
		"":     "key,destination,since,until\ndocs,/docs,,\nsale,/sale,2027-03-20,\n",
	} {
		change := rulefile.Change{Key: "fair"}
		if value != "" {
			rule, err := rulefile.ReadJSONValue(strings.NewReader(value), "", "fair")
			if err != nil {
				t.Fatal(err)
			}
			change.Rule = &rule
		}
		p, err := rulefile.Edit{Changes: []rulefile.Change{change}}.Plan(
			strings.NewReader(before), rulefile.CSV, "f")
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := p.Copy(&b, strings.NewReader(before)); err != nil || b.String() != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", value, err, b.String(), want)
		}
		if _, err := p.Read(&b, func(resolver.Rule) {}); err != nil {
			t.Errorf("%s: %v", value, err)
		}
	}
}

func TestRowsOfAKeyThatHasWindowsKeepTheirSlashInFront(t *testing.T) {
	const before = "key,destination,until\n/fair,/1,2027-03-01\n/docs,/docs,\nsale,/sale,\n"
	rule := resolver.Rule{Key: "fair", Value: "/2"}
	p, err := rulefile.Edit{Changes: []rulefile.Change{{Key: "fair", Rule: &rule}}}.Plan(
		strings.NewReader(before), rulefile.CSV, "f")
	if err != nil {
		t.Fatal(err)
	}
	const want = "key,destination,until\n/fair,/2,\n/docs,/docs,\nsale,/sale,\n"
	var b bytes.Buffer
	if err := p.Copy(&b, strings.NewReader(before)); err != nil || b.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, b.String(), want)
	}
}

// FuzzWindows reads anything as the value of a key, and reads what is written of it as the same.
func FuzzWindows(f *testing.F) {
	f.Add(`[{"to": "/1", "until": "2027-03-02"}, {"to": "/2", "since": "2027-03-05T10:00:00+01:00"}]`)
	f.Add(`{"to": "gone", "since": "0000-01-01", "until": "9999-12-31T23:59:59Z"}`)
	f.Add(`[{}, []`)
	f.Fuzz(func(t *testing.T, value string) {
		rule, err := rulefile.ReadJSONValue(strings.NewReader(value), "", "a")
		if err != nil {
			return
		}
		again, err := rulefile.ReadJSONValue(strings.NewReader(rulefile.JSONValue(rule)), "", "a")
		if err != nil || again != rule {
			t.Errorf("%s: %+v %v", value, again, err)
		}
		var b bytes.Buffer
		if rulefile.Write(&b, rulefile.CSV, slices.Values([]resolver.Rule{rule})) != nil {
			return
		}
		err = rulefile.Read(&b, rulefile.CSV, "", func(read resolver.Rule) {
			if read.Position = rule.Position; read != rule {
				t.Errorf("%s: %+v", value, read)
			}
		})
		if err != nil {
			t.Errorf("%s: %v", value, err)
		}
	})
}
