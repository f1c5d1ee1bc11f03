package client

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestAListOfEntityTagsIsReadAsItIsWritten(t *testing.T) {
	for name, tt := range map[string]struct {
		lines []string
		want  []string // nil for an error
	}{
		"one":                 {[]string{`"a"`}, []string{`"a"`}},
		"an empty one":        {[]string{`""`}, []string{`""`}},
		"several":             {[]string{`"a", W/"b"	,"c,d"`}, []string{`"a"`, `W/"b"`, `"c,d"`}},
		"several lines":       {[]string{`"a"`, `"b"`}, []string{`"a"`, `"b"`}},
		"empty elements":      {[]string{`, "a",,`, ``}, []string{`"a"`}},
		"nothing":             {[]string{``}, nil},
		"commas":              {[]string{`, ,`}, nil},
		"no marks":            {[]string{`a`}, nil},
		"one mark":            {[]string{`"a`}, nil},
		"a space":             {[]string{`"a b"`}, nil},
		"no comma":            {[]string{`"a""b"`}, nil},
		"a lower-case w":      {[]string{`w/"a"`}, nil},
		"a star and a tag":    {[]string{`*`, `"a"`}, nil},
		"a star between tags": {[]string{`"a", *, "b"`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := parseCondition(http.Header{"If-Match": tt.lines}, "If-Match")
			if (err != nil) != (tt.want == nil) || err == nil && (c.any || !slices.Equal(c.tags, tt.want)) {
				t.Errorf("got %+v, %v", c, err)
			}
		})
	}
}

func FuzzCondition(f *testing.F) {
	f.Add(`"a", W/"b,c" ,`, `"d"`)
	f.Add(` * `, ``)
	f.Fuzz(func(t *testing.T, one, two string) {
		c, err := parseCondition(http.Header{"If-Match": {one, two}}, "If-Match")
		if err != nil || c.any {
			return
		}
		written := http.Header{"If-Match": {strings.Join(c.tags, ", ")}}
		again, err := parseCondition(written, "If-Match")
		if err != nil || !slices.Equal(again.tags, c.tags) {
			t.Errorf("%q is %+v, and written again %+v, %v", []string{one, two}, c, again, err)
		}
	})
}
