package rulefile

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// endless is a text that never ends its first line.
type endless struct {
	start string
	read  int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.start)
	e.start = e.start[n:]
	for i := n; i < len(p); i++ {
		p[i] = 'x'
	}
	e.read += len(p)
	return len(p), nil
}

func TestATextThatNeverEndsIsGivenUpSoon(t *testing.T) {
	for name, tt := range map[string]struct {
		format Format
		start  string
		want   string
	}{
		"a string":            {JSON, "{\n\"a\": \"/", "links:2:6: this is no JSON: the string is longer than a mebibyte"},
		"a word":              {JSON, `{"a": `, "links:1:7: this is no JSON: what begins here is longer than a mebibyte"},
		"a row":               {CSV, "a,/b\nc,/", "links:2:1: the line is longer than a mebibyte, and holds no rule"},
		"a line of redirects": {Redirects, "/a /b\n/c /", "links:2:1: the line is longer than a mebibyte, and holds no rule"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &endless{start: tt.start}
			err := Read(r, tt.format, "links", func(resolver.Rule) {})
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if r.read > 4*maxText {
				t.Errorf("%d bytes were read", r.read)
			}
		})
	}
}

func TestReadingEndsAfterTenThousandErrors(t *testing.T) {
	for format, line := range map[Format]string{
		JSON:      "\"a\": 1,\n",
		CSV:       "a\n",
		Redirects: "/a /b 200\n",
	} {
		t.Run(string(format), func(t *testing.T) {
			start := map[Format]string{JSON: "{\n"}[format]
			text := io.MultiReader(strings.NewReader(start), strings.NewReader(strings.Repeat(line, 3*maxErrors)))
			err := Read(text, format, "links", func(resolver.Rule) {})
			errs, _ := errors.AsType[Errors](err)
			if len(errs) != maxErrors+1 || !strings.Contains(errs[maxErrors].Message, "reading ends here") {
				t.Errorf("%d errors, the last of them %v", len(errs), errs[len(errs)-1])
			}
		})
	}
}
