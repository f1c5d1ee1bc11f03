package migrate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
)

// links is the file that contains the decoded texts.
var links = migrate.Table{Input: migrate.Input{Source: "links"}}

// outline writes values with their positions.
func outline(list migrate.Node) string {
	var all []string
	for key, v := range list.Inside() {
		text := fmt.Sprintf("%d:%d", v.At.Line, v.At.Column)
		if key.Text != "" {
			text += " " + key.Text
		}
		text += " " + v.String()
		if inside := outline(v); inside != "" {
			text += " (" + inside + ")"
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

func TestXMLIsDecodedWithThePlacesOfItsElements(t *testing.T) {
	deep := strings.Repeat("<a>", 100)
	for _, tt := range []struct{ text, want, wrong string }{
		{"<?xml version='1.0' encoding='utf-16'?>\n<a b='1' xmlns='x'>\n <c> x &amp; y </c><d/></a>",
			`1:1 an object (2:1 a an object (2:1 b "1"; 3:2 c "x & y"; 3:20 d ""))`, ""},
		{"<a><!-- x --><b>1</b> y <b>2<!-- --></b></a>",
			`1:1 an object (1:1 a an object (1:14 b "1"; 1:25 b "2"))`, ""},
		{"", "", "links:1:1: EOF"},
		{"<a>\n<b></a>", "", "links:2:4: XML syntax error on line 2: element <b> closed by </a>"},
		{"<a>\xff</a>", "", "links:1:4: XML syntax error on line 1: invalid UTF-8"},
		{deep, "", "links:1:298: more than 100 elements are open here"},
	} {
		values, err := links.DecodeXML(tt.text)
		got, wrong := outline(values), ""
		if err != nil {
			message, _, _ := strings.Cut(err.Error(), ";")
			wrong = strings.Replace(message, "this is not valid XML: ", "", 1)
		}
		if got != tt.want || wrong != tt.wrong {
			t.Errorf("%s\nis %s, %s", tt.text, got, wrong)
		}
	}
}

func TestJSONIsDecodedWithThePlacesOfItsValues(t *testing.T) {
	for _, tt := range []struct{ text, want, wrong string }{
		{"[1,\n true, {\"a\" :\t\"é\\/\", \"a\":null}]",
			`1:1 an array (1:2 1; 2:2 true; 2:8 an object (2:15 a "é/"; 2:27 a null))`, ""},
		{`[{}, [], {"a":{"b":[["x\\"],"]"]}, "c":-1.5e3}]`, `1:1 an array (1:2 an object; 1:6 an array; ` +
			`1:10 an object (1:15 a an object (1:20 b an array (1:21 an array (1:22 "x\\"); 1:29 "]")); ` +
			`1:40 c -1.5e3))`, ""},
		{"{\"a\": 1}\n{\"b\": 1e400}", "1:1 an object (1:7 a 1); 2:1 an object (2:7 b 1e400)", ""},
		{`["\ud800", "\ufffd", "a` + "\xff\"]",
			`1:1 an array (1:2 "�"; 1:12 "�"; 1:22 "a\xff")`, ""},
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
		values, err := links.DecodeJSON(tt.text)
		got, wrong := outline(values), ""
		if err != nil {
			message, _, _ := strings.Cut(err.Error(), ";")
			wrong = strings.Replace(message, "this is not JSON: ", "", 1)
		}
		if got != tt.want || wrong != tt.wrong {
			t.Errorf("%s\ngot  %s %s\nwant %s %s", tt.text, got, wrong, tt.want, tt.wrong)
		}
	}
}

func TestJSONOfAnyDepthIsDecoded(t *testing.T) {
	for _, open := range []string{"[", `{"a":`} {
		values, err := links.DecodeJSON(strings.Repeat(open, 100_000))
		if !values.IsEmpty() || err == nil {
			t.Errorf("%s, %v", outline(values), err)
		}
	}
}

func TestWhatNobodyAsksForInAnEntryOfJSONIsNotDecoded(t *testing.T) {
	text := `[{"a": "b", "c": ` + strings.Repeat("[", 1900) + strings.Repeat("]", 1900) + `}]`
	decode := func() {
		values, err := links.DecodeJSON(text)
		for _, list := range values.Inside() {
			for _, entry := range list.Inside() {
				if entry.Member("a").Text != "b" || err != nil {
					t.Error(outline(entry), err)
				}
			}
		}
	}
	if allocations := testing.AllocsPerRun(1, decode); allocations > 200 {
		t.Errorf("the member a of an entry takes %v allocations", allocations)
	}
}

func TestYAMLAndTOMLAreDecodedToTheSameNodes(t *testing.T) {
	for _, tt := range []struct {
		decode     func(string) (migrate.Node, error)
		text, want string
	}{
		{links.DecodeYAML, "a: [1, ~, true]\nb: &x {c: \"d\"}\nc: *x\n---\n\"e\"\n",
			`1:1 an object (1:4 a an array (1:5 1; 1:8 null; 1:11 true); 2:4 b an object (2:11 c "d"); ` +
				`3:4 c an object (2:11 c "d")); 5:1 "e"`},
		{links.DecodeTOML, "b = [1, {c = true}]\na = \"d\"\n[[r]]\n\n[[r]]\ne = 1.5\n", `0:0 a "d"; ` +
			`0:0 b an array (0:0 1; 0:0 an object (0:0 c true)); ` +
			`1:1 r an array (3:1 an object; 5:1 an object (0:0 e 1.5))`},
	} {
		root, err := tt.decode(tt.text)
		if got := outline(root); got != tt.want || err != nil {
			t.Errorf("%s\ngot  %s %v\nwant %s", tt.text, got, err, tt.want)
		}
	}
}

func TestWhatATOMLFileWouldTakeAllMemoryForIsAnError(t *testing.T) {
	for _, text := range []string{
		"x = " + strings.Repeat("[", 5_000_000), "x = " + strings.Repeat("{a=", 5_000_000),
		"x = " + strings.Repeat("{a=", 20_000) + "1" + strings.Repeat("}", 20_000),
		"x = " + strings.Repeat("[\n", 100_000), strings.Repeat("a.", 15_000) + "a = 1\n",
		"x = {" + strings.Repeat("\"a\" . ", 15_000) + "a = 1}\n",
		"[" + strings.Repeat("a.", 15_000) + "a]\n",
	} {
		_, err := links.DecodeTOML("\n" + text)
		if err == nil || !strings.Contains(err.Error(), "a key has more than 64 parts here, or more than") {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	const sentences = "x = \"a.b, c... 1.2 [] []\"\n"
	if _, err := links.DecodeTOML(strings.Repeat("# "+sentences, 1000) + sentences); err != nil {
		t.Error(err)
	}
}
