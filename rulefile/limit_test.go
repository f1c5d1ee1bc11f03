package rulefile

import (
	"errors"
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
		"a string":            {JSON, "{\n\"a\": \"/", "links:2:6: this is not JSON: the string is longer than a mebibyte"},
		"a word":              {JSON, `{"a": `, "links:1:7: this is not JSON: this value is longer than a mebibyte"},
		"a row":               {CSV, "a,/b\nc,/", "links:2:1: the line is longer than a mebibyte, too long for a rule"},
		"a line of redirects": {Redirects, "/a /b\n/c /", "links:2:1: the line is longer than a mebibyte, too long for a rule"},
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
	for name, tt := range map[string]struct {
		format            Format
		start, part, rest string
	}{
		"JSON":                     {JSON, "{\n", "\"a\": 1,\n", ""},
		"members of a JSON object": {JSON, `{"a": {`, `"x":1,`, ""},
		"CSV":                      {CSV, "", "a\n", ""},
		"a CSV header":             {CSV, "key,to", ",x", "\n"},
		"a CSV row":                {CSV, "key" + strings.Repeat(",", 3*maxReports+1) + "to\nb", ",x", ",/c"},
		"_redirects":               {Redirects, "", "/a b\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.NewReader(tt.start + strings.Repeat(tt.part, 3*maxReports) + tt.rest)
			err := Read(text, tt.format, "links", func(resolver.Rule) {})
			errs, _ := errors.AsType[Errors](err)
			if len(errs) != maxReports+1 || !strings.Contains(errs[maxReports].Message,
				"reading ends here") {
				t.Errorf("%d errors, the last of them %v", len(errs), errs[len(errs)-1])
			}
		})
	}
}

func TestAnErrorNamesALongKeyByItsBeginning(t *testing.T) {
	key, member := strings.Repeat("k", 100_000), strings.Repeat("m", 300)
	text := `{"` + key + `": {` + strings.Repeat(`"`+member+`":1,`, 100) + `"to": "/b"}}`
	err := Read(strings.NewReader(text), JSON, "links", func(resolver.Rule) {})
	if err == nil || len(err.Error()) > 100*1000 || !strings.Contains(err.Error(), `kk"…`) {
		t.Errorf("an error of %d bytes", len(err.Error()))
	}
}

func TestManyPlaceholdersOfALineAreReadInOneGo(t *testing.T) {
	for _, line := range []string{
		"/a " + strings.Repeat("/:", 200_000),
		strings.Repeat("/:a", 200_000) + " /b",
		"/a/* " + strings.Repeat("/:splat", 50_000),
	} {
		err := Read(strings.NewReader(line), Redirects, "links", func(resolver.Rule) {})
		if err != nil && len(err.Error()) > 1000 {
			t.Errorf("%d bytes of errors", len(err.Error()))
		}
	}
}
