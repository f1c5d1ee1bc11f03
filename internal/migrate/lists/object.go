package lists

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// object is an object of a list whose program says what each member means.
type object struct {
	*migrate.Table
	migrate.Node
	line redirects.Line // that the object becomes
}

// readObjects reads a list of objects in JSON: that of an object's member, or of the file; see
// [readList].
func readObjects(
	t *migrate.Table, r io.Reader, member string, known []string, read func(o *object),
) error {
	values, err := t.Decode(r, t.DecodeJSON)
	for _, list := range values.Inside() {
		if list.Kind == '{' {
			list = list.Member(member)
		}
		if list.Kind != '[' {
			t.Wrong(t.Position(1, 1), "there are no redirects here; write them as a list of objects in "+
				"the member %q", member)
		}
		readList(t, list, known, read)
	}
	return err
}

// readList reads the objects of a list. A remark names the members that are not known.
func readList(t *migrate.Table, list migrate.Node, known []string, read func(o *object)) {
	var unknown migrate.Names
	for _, v := range list.Inside() {
		switch {
		case t.IsGivenUp(v.At):
			return
		case v.Kind != '{':
			t.Wrong(v.At, "a redirect is an object, not %s", v)
			continue
		}
		for key := range v.Inside() {
			if !slices.Contains(known, key.Text) {
				unknown.Add(key.Text)
			}
		}
		read(&object{t, v, redirects.Line{At: v.At}})
	}
	t.RemarkSkipped("members without a meaning here are", unknown)
}

// refuse records why no rule is equivalent to the object. The first reason counts.
func (o *object) refuse(format string, args ...any) {
	o.line.Refused = cmp.Or(o.line.Refused, fmt.Errorf(format, args...))
}

// text returns the text of a member, or of a member of it; "" for null and if there is none.
func (o *object) text(names ...string) string {
	m := o.Node
	for _, name := range names {
		m = m.Member(name)
	}
	switch {
	case m.Kind == 0 || m.Kind == 'w' && m.Text == "null":
		return ""
	case m.Kind != '"':
		o.refuse("%q takes a text, not %s", names[len(names)-1], m)
	}
	o.line.Refused = cmp.Or(o.line.Refused, migrate.CheckText("the text", m.Text))
	return m.Text
}

// setStatus sets the answer for a status, which is a number or a text. A missing one changes
// nothing.
func setStatus(line *redirects.Line, m migrate.Node) {
	code, err := strconv.Atoi(m.Text)
	if named, ok := statusOfWord[m.Text]; ok {
		code, err = named, nil
	}
	switch {
	case m.Kind == 0 || m.Text == "" || m.Text == "null" || m.Text == "0":
	case code == 410:
		line.Answer = redirects.Gone
	case resolver.ValidStatus(code):
		line.Status = code
	case err != nil:
		line.Refused = cmp.Or(line.Refused, errors.New("a status is one of "+migrate.StatusCodes+
			", not "+m.String()))
	default:
		line.Refused = cmp.Or(line.Refused, migrate.StatusError(code))
	}
}

// statusOfWord holds the statuses of words. Members "permanent" are true or false.
var statusOfWord = map[string]int{
	"permanent": 301, "true": 301, "temporary": 302, "temp": 302, "false": 302,
}
