package rulefile

import (
	"encoding/csv"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// member is what a reader says of a rule.
type member struct {
	rule resolver.Rule
	span memberSpan
}

// membersOf reads an object of rules.
func membersOf(r io.Reader) (members []member, err error) {
	j := jsonReader{tokens: newJSONScanner(r, "links")}
	j.add = func(rule resolver.Rule) { members = append(members, member{rule, j.span}) }
	err = j.read()
	return members, err
}

// Where the scanner gets one byte at a time, it never has a whole member in its window.
func FuzzPlainMembers(f *testing.F) {
	f.Add("{\n\t\"a\": \"/b\",\n\t\"c\" :  \"/d\"\r\n,\"e\":\"/f\", \"g\":\t\"/h\",\"i\":\n\"/j\",\n}")
	f.Add(`{"a": "/b","c": "/\n","d": "/é", "e": {"to": "/f"}, "g": "/h", "i" "/j", "k": "/l"}`)
	f.Add(`{"a": "/b", "c": "/d", "e": 1, "f": "/g", "h": "/i",}`)
	f.Add("\uFEFF{\"a\": \"/b\", \"c\": \"/d\te\", \"f\": \"/g")
	f.Add(`{"a":"/b",` + strings.Repeat(`"key-of-some-length": "https://www.example.com/",`, 400))
	f.Fuzz(func(t *testing.T, text string) {
		got, err := membersOf(strings.NewReader(text))
		want, wantErr := membersOf(iotest.OneByteReader(strings.NewReader(text)))
		if !slices.Equal(got, want) || !reflect.DeepEqual(err, wantErr) {
			t.Fatalf("got %v, %v\nwant %v, %v", got, err, want, wantErr)
		}
	})
}

func FuzzPlainRows(f *testing.F) {
	for _, line := range []string{"a,/b", ",,", "a;b,c", "é,/\xff, x ", "a,/b\r"} {
		f.Add(line, uint8(0))
	}
	f.Fuzz(func(t *testing.T, line string, n uint8) {
		if strings.ContainsAny(line, "\n\"") || !saysSomething([]byte(line)) {
			return
		}
		c := NewRows(strings.NewReader(""), "links")
		c.quoted.Comma = rune(",;\t"[n%3])
		if err := c.split([]byte(line)); err != nil {
			t.Fatal(err)
		}
		library := csv.NewReader(strings.NewReader(line))
		library.Comma = c.quoted.Comma
		want, err := library.Read()
		if err != nil || !slices.Equal(c.row, want) {
			t.Fatalf("%q is %q, and not %q, %v", line, c.row, want, err)
		}
		for i := range want {
			if _, column := library.FieldPos(i); column != c.starts[i]+1 {
				t.Fatalf("field %d of %q begins at %d, and not at %d", i, line, c.starts[i]+1, column)
			}
		}
	})
}
