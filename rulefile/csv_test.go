package rulefile_test

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

func TestReadCSVReadsRows(t *testing.T) {
	gh := resolver.Rule{Key: "gh", Value: "https://github.com"}
	paper := resolver.Rule{Key: "paper", Value: "/p", Status: 301, Exact: true, Unlisted: true}
	tests := map[string]struct {
		text string
		want []resolver.Rule
	}{
		"without a header":                       {"gh,https://github.com\npaper,/p,301,exact,unlisted\n", []resolver.Rule{gh, paper}},
		"without a line end behind the last":     {"gh,https://github.com\npaper,/p,301,exact,unlisted", []resolver.Rule{gh, paper}},
		"with CRLF and a byte order mark":        {"\uFEFFgh,https://github.com\r\npaper,/p,301,exact,unlisted\r\n", []resolver.Rule{gh, paper}},
		"with semicolons":                        {"gh;https://github.com\npaper;/p;301;exact;unlisted\n", []resolver.Rule{gh, paper}},
		"with tabs":                              {"gh\thttps://github.com\t\t\t\npaper\t/p\t301\texact\tunlisted\n", []resolver.Rule{gh, paper}},
		"with a header":                          {"key,destination\ngh,https://github.com", []resolver.Rule{gh}},
		"with a header in capitals":              {"Key;URL\ngh;https://github.com", []resolver.Rule{gh}},
		"with a header behind a byte order mark": {"\uFEFFslug,target\ngh,https://github.com", []resolver.Rule{gh}},
		"with columns in another order":          {"status,unlisted,to,exact,from\n,,https://github.com,,gh\n301,unlisted,/p,exact,paper", []resolver.Rule{gh, paper}},
		"with a column for query modes": {
			"to,query,key\nhttps://github.com,,gh\n/p,ignore,q",
			[]resolver.Rule{gh, {Key: "q", Value: "/p", Query: resolver.QueryIgnore}},
		},
		"with a column for notes": {
			"to,Note,key\nhttps://github.com,,gh\n/p,\"a, \"\"b\"\"\",n\n/p, c ,m",
			[]resolver.Rule{gh, {Key: "n", Value: "/p", Note: `a, "b"`},
				{Key: "m", Value: "/p", Note: " c "}},
		},
		"with a column of requests": {
			"key,destination,requests\ngh,https://github.com,12\n", []resolver.Rule{gh},
		},
		"with a column that has no name":          {"key,,destination,code\ngh,,https://github.com,", []resolver.Rule{gh}},
		"with empty fields behind the last":       {"gh,https://github.com,,,,,,\n", []resolver.Rule{gh}},
		"with blank lines, rows and comments":     {"\n# our links\n \t\n,,,\ngh,https://github.com\n  # more\n", []resolver.Rule{gh}},
		"with quotation marks":                    {`"gh","https://github.com"` + "\n" + `"paper","/p",301,"exact",unlisted`, []resolver.Rule{gh, paper}},
		"with separators in quotation marks":      {`"a,b;c";"/x;y"`, []resolver.Rule{{Key: "a,b;c", Value: "/x;y"}}},
		"with a quotation mark written twice":     {`"say ""hi""",/p`, []resolver.Rule{{Key: `say "hi"`, Value: "/p"}}},
		"with a semicolon in the first URL":       {"a,https://example.com/x;y", []resolver.Rule{{Key: "a", Value: "https://example.com/x;y"}}},
		"with a comma in the first URL":           {"a;https://example.com/x,y", []resolver.Rule{{Key: "a", Value: "https://example.com/x,y"}}},
		"with a comma in the first key of tabs":   {"a,b\t/p", []resolver.Rule{{Key: "a,b", Value: "/p"}}},
		"where a key is called like a column":     {"from,/p\nsource,/p", []resolver.Rule{{Key: "from", Value: "/p"}, {Key: "source", Value: "/p"}}},
		"with slashes in front of keys":           {"/gh,https://github.com\n/paper,/p,301,exact,unlisted\n", []resolver.Rule{gh, paper}},
		"with a slash in front of some":           {"key;to\ngh;https://github.com\n/gh/x;/p", []resolver.Rule{gh, {Key: "gh/x", Value: "/p"}}},
		"with slashes alone, for resolver":        {"/,/a\n//b,/p", []resolver.Rule{{Key: "/", Value: "/a"}, {Key: "//b", Value: "/p"}}},
		"with an empty destination, for resolver": {"a,\n", []resolver.Rule{{Key: "a"}}},
		"when a key stands twice, twice":          {"gh,https://github.com\ngh,/p", []resolver.Rule{gh, {Key: "gh", Value: "/p"}}},
		"of which there are none":                 {"", nil},
		"of which there is a header alone":        {"key,destination,status\n", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := read(rulefile.CSV, tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(withoutPositions(got), tt.want) {
				t.Errorf("got  %v\nwant %v", got, tt.want)
			}
		})
	}
}

func TestReadCSVGivesThePlaceOfEachKey(t *testing.T) {
	got, err := read(rulefile.CSV, "\uFEFF# links\r\n\r\nto,key\r\n/é,a\r\n\"/,\",\"b\"\r\n")
	want := []resolver.Rule{
		{Key: "a", Value: "/é", Position: resolver.Position{Source: "csv", Line: 4, Column: 5}},
		{Key: "b", Value: "/,", Position: resolver.Position{Source: "csv", Line: 5, Column: 6}},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestASlashInFrontOfKeysOfATableIsToldOnce(t *testing.T) {
	const told = `csv:2:1: key "b": the table has keys that begin with "/", which is removed here ` +
		`and in all other rows: a key is a path without it`
	for text, want := range map[string][]string{
		"a,/x\n/b,/x\n/c,/x\n": {told},
		"a,/x\n//b,/x\n/,/x\n": nil,
	} {
		warnings, err := rulefile.Reading{}.Read(strings.NewReader(text), rulefile.CSV, "csv",
			func(resolver.Rule) {})
		var got []string
		for _, w := range warnings {
			got = append(got, w.String())
			if w.Kind != rulefile.WarnLeadingSlash {
				t.Errorf("its kind is %q", w.Kind)
			}
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
	}
}

func TestAKeyThatATableWouldCutIsNotWritten(t *testing.T) {
	text, err := write(rulefile.CSV, resolver.Rule{Key: "/a", Value: "/b"},
		resolver.Rule{Key: "c", Value: "/d"})
	const refused = `key "/a": the key begins with "/", and would be read without it; remove it`
	if text != "key,destination,status,exact,unlisted\nc,/d,,,\n" || errorText(err) != refused {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestReadCSVReadsLinesOfAnyLengthHoweverSlowlyTheyArrive(t *testing.T) {
	long := "/" + strings.Repeat("x", 200_000)
	var got []resolver.Rule
	file := iotest.HalfReader(iotest.DataErrReader(strings.NewReader("a," + long + "\nb,/c")))
	err := rulefile.Read(file, rulefile.CSV, "", func(rule resolver.Rule) { got = append(got, rule) })
	want := []resolver.Rule{{Key: "a", Value: long}, {Key: "b", Value: "/c"}}
	if err != nil || !slices.Equal(withoutPositions(got), want) {
		t.Errorf("got %d rules, %v", len(got), err)
	}
}

func TestReadCSVSaysWhatIsWrongAndWhere(t *testing.T) {
	const (
		columns = "; the columns are key, destination, status, exact, unlisted, query, note, since, until; other " +
			"columns of a table are left out by caddy shortlink convert --from csv --to csv"
		inSix    = `csv:1:25: the table has 5 columns (key, destination, status, exact, unlisted), but "x"`
		inFour   = `csv:2:7: the table has 3 columns (key, destination, status), but "x"`
		inTwo    = `csv:2:7: the table has 2 columns (key, destination), but "x"`
		orHeader = "; or put a header first: destination,key"
		removeIt = "; remove it, or put a field that contains a comma into quotation marks"
	)
	tests := map[string]struct{ text, want string }{
		"one column":                {"gh", "csv:1:1: the row has no destination: a row is key, destination, status, exact, unlisted, with a comma between them"},
		"another separator":         {"a;/b\nb,/c", "csv:2:1: the row has no destination: a row is key, destination, status, exact, unlisted, with a semicolon between them"},
		"spaces for separators":     {"a\t/b\nb /c", "csv:2:1: the row has no destination: a row is key, destination, status, exact, unlisted, with a tab between them"},
		"a row without its last":    {"to,key\n/b", "csv:2:1: the row has no key: a row is destination, key, with a comma between them"},
		"no key":                    {",/b", "csv:1:1: the key is empty"},
		"a key like a comment":      {`"#a",/b`, `csv:1:1: a key cannot begin with "#", like a comment; for a number sign in the path write %23`},
		"a status in words":         {"a,/b,permanent", `csv:1:6: this column holds 301, 302, 303, 307 or 308, not "permanent"`},
		"a status of no redirect":   {"a,/b,200", `csv:1:6: this column holds 301, 302, 303, 307 or 308, not "200"`},
		"a status with a space":     {"a,/b, 301", `csv:1:6: this column holds 301, 302, 303, 307 or 308, not " 301"`},
		"a status with a plus":      {"a,/b,+301", `csv:1:6: this column holds 301, 302, 303, 307 or 308, not "+301"`},
		"another word for exact":    {"a,/b,301,yes", `csv:1:10: this column holds the word exact, or nothing, not "yes"`},
		"unlisted in exact's place": {"a,/b,301,unlisted", `csv:1:10: this column holds the word exact, or nothing, not "unlisted"`},
		"exact in unlisted's place": {"a,/b,,,exact", `csv:1:8: this column holds the word unlisted, or nothing, not "exact"`},
		"a status of what is gone": {"a,,410", "csv:1:4: this column holds 301, 302, 303, 307 or 308, " +
			`not "410"; write gone as the destination`},
		"a status of what is not there": {"a,/b,404", "csv:1:6: this column holds 301, 302, 303, 307 or 308, " +
			`not "404"; write pass as the destination, which lets the next handler answer, or gone as the ` +
			"destination for 410"},
		"exchanged columns": {"https://a.example,a\n/b,/c",
			"csv:1:1: key and destination are exchanged; write a,https://a.example" + orHeader},
		"exchanged columns with a status": {"https://a.example;a;301;exact\n",
			"csv:1:1: key and destination are exchanged; write a;https://a.example;301;exact; or put " +
				"a header first: destination;key;status;exact"},
		"exchanged columns of a header": {"to,note,key\n\"docs\",\"a, b\",\"https://a.example/\"\"\"",
			`csv:2:1: key and destination are exchanged; write "https://a.example/""","a, b",docs`},
		"a query mode that is none": {"key,to,query\na,/b,drop\nc,/d,Merge",
			`csv:2:6: this column holds merge, preserve or ignore, or nothing, not "drop"
csv:3:6: this column holds merge, preserve or ignore, or nothing, not "Merge"`},
		"too many columns":           {"a,/b,301,exact,unlisted,x", inSix + " is in column 6" + removeIt},
		"more than the header names": {"key,to,code\na,/b,,x\n", inFour + " is in column 4" + removeIt},
		"much more than that":        {"key,to\na,/b,,x,,y\n", inTwo + " is in column 4" + removeIt},
		"a field without a name":     {"key,,to\na,note,/b", `csv:2:3: this column holds nothing, not "note"`},
		"a note in Latin-1": {"key,to,note\na,/b,caf\xe9",
			"csv:2:6: this is not Unicode text: save the file as UTF-8"},
		"unknown columns":             {"key,destination,owner,notes\na,/b,me,x", "csv:1:17: there is no column \"owner\"" + columns + "\ncsv:1:23: there is no column \"notes\"" + columns},
		"a column twice":              {"key,to,from\na,/b,a", `csv:1:8: "from" is a second column for the key; remove one of the two`},
		"a header that ends too soon": {"key,status\na,301\nb,302", "csv:1:1: no column is called destination; the columns are key, destination, status, exact, unlisted, query, note, since, until"},
		"a mark inside a field":       {`a,/b"c"`, `csv:1:5: there is a quotation mark inside a field; put the whole field into quotation marks, and write "" for the one inside`},
		"a mark without its partner":  {`a,"/b`, `csv:1:6: a field in quotation marks has no end, or is followed by text; inside it write "" for a quotation mark`},
		"something behind a mark":     {`a,"/b"c`, `csv:1:6: a field in quotation marks has no end, or is followed by text; inside it write "" for a quotation mark`},
		"Latin-1":                     {"caf\xe9,/caf\xe9", "csv:1:1: this is not Unicode text: save the file as UTF-8\ncsv:1:6: this is not Unicode text: save the file as UTF-8"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := read(rulefile.CSV, tt.text)
			if errorText(err) != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestReadCSVGoesOnBehindEveryBadRow(t *testing.T) {
	rules, err := read(rulefile.CSV, `a,/good
b
c,"/unclosed
d,/good
e,/f,9,x
f,/good`)
	const want = `csv:2:1: the row has no destination: a row is key, destination, status, exact, unlisted, with a comma between them
csv:3:13: a field in quotation marks has no end, or is followed by text; inside it write "" for a quotation mark
csv:5:6: this column holds 301, 302, 303, 307 or 308, not "9"
csv:5:8: this column holds the word exact, or nothing, not "x"`
	if errorText(err) != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	var keys []string
	for _, rule := range rules {
		keys = append(keys, rule.Key)
	}
	if !slices.Equal(keys, []string{"a", "d", "f"}) {
		t.Errorf("got the rules %q, not the good ones alone", keys)
	}
}

func TestWriteCSVWritesATableWithAHeader(t *testing.T) {
	got, err := write(rulefile.CSV,
		resolver.Rule{Key: "gh", Value: "https://github.com"},
		resolver.Rule{Key: "a,b", Value: `/"c"`, Status: 301, Exact: true},
		resolver.Rule{Key: "c", Value: "/d", Unlisted: true})
	const want = `key,destination,status,exact,unlisted
gh,https://github.com,,,
"a,b","/""c""",301,exact,
c,/d,,,unlisted
`
	if err != nil || got != want {
		t.Errorf("got %v\n%s", err, got)
	}
}

func TestWriteCSVHasAColumnForQueryModesWhereARuleHasOne(t *testing.T) {
	got, err := write(rulefile.CSV,
		resolver.Rule{Key: "gh", Value: "https://github.com"},
		resolver.Rule{Key: "a,b", Value: `/"c"`, Status: 301, Exact: true},
		resolver.Rule{Key: "c", Value: "/d?e", Unlisted: true, Query: resolver.QueryIgnore},
		resolver.Rule{Key: "d", Value: "/e"})
	const want = `key,destination,status,exact,unlisted,query
gh,https://github.com,,,,
"a,b","/""c""",301,exact,,
c,/d?e,,,unlisted,ignore
d,/e,,,,
`
	if err != nil || got != want {
		t.Errorf("got %v\n%s", err, got)
	}
}

func TestWriteCSVHasAColumnForNotesWhereARuleHasOne(t *testing.T) {
	const header = "key,destination,status,exact,unlisted,query,note\n"
	plain := resolver.Rule{Key: "a,b", Value: "/c"}
	query := resolver.Rule{Key: "c", Value: "/d?e", Query: resolver.QueryIgnore}
	note := resolver.Rule{Key: "d", Value: "gone", Exact: true, Note: `é, "old" `}
	rows := map[string]string{
		"a,b": `"a,b",/c,,,,,` + "\n",
		"c":   "c,/d?e,,,,ignore,\n",
		"d":   `d,gone,,exact,,,"é, ""old"" "` + "\n",
	}
	for _, rules := range [][]resolver.Rule{{plain, query, note}, {note, query, plain}} {
		want := header
		for _, rule := range rules {
			want += rows[rule.Key]
		}
		if got, err := write(rulefile.CSV, rules...); err != nil || got != want {
			t.Errorf("got %v\n%s\nwant\n%s", err, got, want)
		}
	}
}

func TestALargeTableIsNotHeldWhole(t *testing.T) {
	const all = 32 << 10
	written := 0
	file, writer := io.Pipe()
	go func() {
		defer writer.Close()
		rules := func(yield func(resolver.Rule) bool) {
			rule := resolver.Rule{Key: "a", Value: "/" + strings.Repeat("b", 1<<10)}
			for written = 0; written < all && yield(rule); written++ {
			}
		}
		if err := rulefile.Write(writer, rulefile.CSV, rules); err != nil {
			t.Error(err)
		}
	}()
	first := make([]byte, len("key,destination,status,exact,unlisted"))
	if _, err := io.ReadFull(file, first); err != nil || !strings.HasSuffix(string(first),
		"unlisted") {
		t.Errorf("%s, %v", first, err)
	}
	if written >= all {
		t.Error("all rows were held")
	}
	rows := 0
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if text := lines.Text(); text != "" && !strings.HasSuffix(text, "b,,,") {
			t.Fatalf("a row is %s", text)
		}
		rows++
	}
	if rows != 1+all {
		t.Errorf("%d rows", rows)
	}
}

func TestWriteCSVReportsAWriterThatFails(t *testing.T) {
	for _, note := range []string{"", "why"} {
		file, writer := io.Pipe()
		file.CloseWithError(io.ErrClosedPipe)
		rules := []resolver.Rule{{Key: "a", Value: "/b", Note: note}, {Key: "c", Value: "/d"}}
		err := rulefile.Write(writer, rulefile.CSV, slices.Values(rules))
		if !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("got %v", err)
		}
	}
}

func TestWriteCSVLeavesOutWhatNoRowHoldsAndListsIt(t *testing.T) {
	got, err := write(rulefile.CSV,
		resolver.Rule{Key: "#", Value: "/a"},
		resolver.Rule{Key: "good", Value: "/b"},
		resolver.Rule{Key: "", Value: "/c"},
		resolver.Rule{Key: "line", Value: "/\nend"},
		resolver.Rule{Key: "note", Value: "/d", Note: "two\nlines"})
	const want = `key "#": a key cannot begin with "#", like a comment; for a number sign in the path write %23
key "": the key is empty
key "line": a row cannot contain a line end; write it percent-encoded
key "note": a row cannot contain a line end; write a space in the note`
	if errorText(err) != want {
		t.Errorf("got %v", err)
	}
	if got != "key,destination,status,exact,unlisted\ngood,/b,,,\n" {
		t.Errorf("written is\n%s", got)
	}
}

// What was read and written again is read as the same rules.
func FuzzCSV(f *testing.F) {
	f.Add("key,note,to\na,\"b, \"\"c\"\"\",/d\ne,,/f\n\" #\",\"\rx\",/g")
	f.Add("key,destination,query\na,/b,ignore\nc,/d,\ne,/f,merge")
	f.Add("key,destination,status,exact,unlisted\ngh,https://github.com,301,exact,unlisted\n")
	f.Add("\uFEFFto;from\r\n/b;a\r\n\r\n# c\r\n\"x\ry\";\"\"\"\"\r\n")
	f.Add("a\t/b\t\t\tunlisted\nkey\tx")
	f.Add("key,,to\na,,/b,x,,y\n")
	f.Add("/a,/b\n//c,/d\n/,/e\n/#,/f")
	f.Add("0,0\r  ")
	f.Add("a,\"/b\nc,/d,999\n\"#\",/e")
	f.Fuzz(func(t *testing.T, text string) {
		rules, err := read(rulefile.CSV, text)
		checkPositions(t, text, rules, err)
		again := writtenAndRead(t, rulefile.CSV, rules)
		if !slices.Equal(again, withoutPositions(rules)) {
			t.Fatalf("read %v\nthen %v", rules, again)
		}
	})
}
