package migrate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
)

// outline writes values with their places.
func outline(values []migrate.JSON) string {
	var b strings.Builder
	for _, v := range values {
		fmt.Fprintf(&b, "%d:%d", v.At.Line, v.At.Column)
		if v.Name != "" {
			b.WriteString(" " + v.Name)
		}
		if v.IsBroken {
			b.WriteString(" broken")
		}
		fmt.Fprintf(&b, " %s", v)
		if inside := slices.Collect(v.Inside()); inside != nil {
			fmt.Fprintf(&b, " (%s)", outline(inside))
		}
		b.WriteString("; ")
	}
	return strings.TrimSuffix(b.String(), "; ")
}

func TestJSONIsDecodedWithThePlacesOfItsValues(t *testing.T) {
	for _, tt := range []struct{ text, want, wrong string }{
		{"[1,\n true, {\"a\" :\t\"é\\/\", \"a\":null}]",
			`1:1 an array (1:2 1; 2:2 true; 2:8 an object (2:15 a "é/"; 2:27 a null))`, ""},
		{"{\"a\": 1}\n{\"b\": 1e400}", "1:1 an object (1:7 a 1); 2:1 an object (2:7 b 1e400)", ""},
		{`["\ud800", "\ufffd", "a` + "\xff\"]",
			`1:1 an array (1:2 broken "�"; 1:12 "�"; 1:22 broken "a�")`, ""},
		{"", "", "links:1:1: it ends too early"},
		{"{}\n[1, {\"a\": [", "1:1 an object", "links:2:12: it ends too early"},
		{`["a`, "", "links:1:4: it ends too early"},
		{`[1, 2 3]`, "", "links:1:7: invalid character '3' after array element"},
		{`["a", // no`, "", "links:1:7: invalid character '/' looking for beginning of value"},
		{"[1,]", "", "links:1:4: invalid character ']' looking for beginning of value"},
		{"{'a': 1}", "", "links:1:2: invalid character '\\'' looking for beginning of object key " +
			"string"},
		{"\n/** x */", "", "links:2:1: invalid character '/' looking for beginning of value"},
	} {
		values, err := migrate.DecodeJSON([]byte(tt.text), "links")
		got, wrong := outline(values), ""
		if err != nil {
			message, _, _ := strings.Cut(err.Error(), ";")
			wrong = strings.Replace(message, "this is no JSON: ", "", 1)
		}
		if got != tt.want || wrong != tt.wrong {
			t.Errorf("%s\ngot  %s %s\nwant %s %s", tt.text, got, wrong, tt.want, tt.wrong)
		}
	}
}

func TestJSONOfAnyDepthIsDecoded(t *testing.T) {
	for _, open := range []string{"[", `{"a":`} {
		values, err := migrate.DecodeJSON([]byte(strings.Repeat(open, 100_000)), "links")
		if len(values) != 0 || err == nil {
			t.Errorf("%d values, %v", len(values), err)
		}
	}
}
