package migrate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
)

func TestWordsStandBetweenSpacesAndQuotationMarks(t *testing.T) {
	unquote := func(c, quote byte) (string, bool) { return string(c), c == '\\' || c == quote }
	keepSpace := func(c, _ byte) (string, bool) { return `\ `, c == ' ' }
	plain := migrate.Splitter{Unescape: unquote}
	open := migrate.Splitter{EndsQuotes: true, Unescape: keepSpace}
	marked := migrate.Splitter{Marks: ";{}", Ends: ";{", HasComments: true, Unescape: unquote}
	for _, tt := range []struct {
		how        migrate.Splitter
		line, want string
	}{
		{plain, "a\tbc  d", "1 a|3 bc|7 d"},
		{plain, " ", ""},
		{plain, `a "b c" 'd"'`, `1 a|3 b c|9 d"`},
		{plain, `"it's" 'it\'s'`, `1 it's|8 it's`},
		{plain, `a\\b \"c "\\"`, `1 a\b|6 \"c|10 \`},
		{plain, `"a"b`, "1 a|4 b"},
		{plain, `"" x`, "1 |4 x"},
		{plain, "a # b;", "1 a|3 #|5 b;"},
		{plain, `a "b`, "a quotation mark is not closed"},
		{open, `a "b`, "1 a|3 b"},
		{open, `a\ b c\`, `1 a\ b|6 c\`},
		{open, `"a\" b`, `1 a\|6 b`},
		{marked, "a b;c{d # e", "1 a|3 b|4 mark ;|5 c|6 mark {|7 d"},
		{marked, "${a}b}; c#;", "1 ${a}b}|7 mark ;|9 c#|11 mark ;"},
		{marked, `";" ";`, "a quotation mark is not closed"},
	} {
		words, err := tt.how.Split(tt.line, 0)
		var got []string
		for _, w := range words {
			text := w.Text
			if w.IsMark {
				text = "mark " + text
			}
			got = append(got, fmt.Sprint(w.Column, " ", text))
		}
		if err != nil {
			got = []string{err.Error()}
		}
		text := strings.Join(got, "|")
		if !strings.HasPrefix(text, tt.want) || tt.want == "" && text != "" {
			t.Errorf("%s: %s", tt.line, text)
		}
	}
}

func TestWordsAreSplitFromSomewhereOnInALine(t *testing.T) {
	words, err := (&migrate.Splitter{}).Split("first second", 5)
	if err != nil || len(words) != 1 || words[0] != (migrate.Word{Text: "second", Column: 7}) {
		t.Errorf("%+v, %v", words, err)
	}
}
