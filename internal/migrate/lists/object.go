package lists

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// object is an object of a list whose program says what each member means.
type object struct {
	migrate.Node
	table *migrate.Table
	// wrong is the first mistake, and refused why no rule is equivalent.
	wrong, refused error
}

// readObjects reads a list of objects in JSON. The list is the file, or the member of that name.
// Of the members of an object, a remark names those that are not known.
func readObjects(
	t *migrate.Table, r io.Reader, member string, known []string, read func(o *object),
) error {
	text, err := t.ReadText(r)
	if err != nil {
		return err
	}
	values, err := t.DecodeJSON(text)
	var unknown migrate.Names
	for _, v := range values.Inside() {
		if v.Kind == '{' {
			v = memberOf(v, member)
		}
		if v.Kind != '[' {
			t.Wrong(t.Position(1, 1), "there are no redirects here; write them as a list of objects in "+
				"the member %q", member)
		}
		for _, v := range v.Inside() {
			if t.IsGivenUp(v.At) {
				break
			}
			if v.Kind != '{' {
				t.Wrong(v.At, "a redirect is an object, not %s", v)
				continue
			}
			for key := range v.Inside() {
				if !slices.ContainsFunc(known, func(name string) bool { return isNamed(key, name) }) {
					unknown.Add(key.Text)
				}
			}
			read(&object{Node: v, table: t})
		}
	}
	t.RemarkSkipped("members without a meaning here are", unknown)
	return err
}

// memberOf returns the member of an object, in any of the spellings of its name.
func memberOf(v migrate.Node, name string) migrate.Node {
	for key, m := range v.Inside() {
		if v.Kind == '{' && isNamed(key, name) {
			return m
		}
	}
	return migrate.Node{}
}

// isNamed reports whether a key is a name, as it is or in another case: routing_rules is
// RoutingRules.
func isNamed(key migrate.Node, name string) bool {
	return key.Text == name ||
		strings.EqualFold(strings.ReplaceAll(key.Text, "_", ""), strings.ReplaceAll(name, "_", ""))
}

// member returns a member of the object.
func (o *object) member(name string) migrate.Node { return memberOf(o.Node, name) }

// refuse records why no rule is equivalent to the object. The first reason counts.
func (o *object) refuse(why string) { o.refused = cmp.Or(o.refused, errors.New(why)) }

// text returns a text, or "" for null and if the object does not have the member.
func (o *object) text(name string) string {
	m := o.member(name)
	switch {
	case m.Kind == 0 || m.Text == "null":
		return ""
	case m.Kind != '"':
		o.wrong = cmp.Or(o.wrong, fmt.Errorf("%q takes a string, not %s", name, m))
	}
	o.wrong = cmp.Or(o.wrong, m.Check(strconv.Quote(name)))
	return m.Text
}

// answer sets the answer of a line for a status, written as a number or as a text.
func (o *object) answer(line *redirects.Line, name string) {
	m := o.member(name)
	code, err := strconv.Atoi(m.Text)
	switch {
	case m.Kind == 0 || m.Text == "" || m.Text == "null" || m.Text == "0":
	case err != nil || code < 100 || code > 999:
		o.wrong = cmp.Or(o.wrong, fmt.Errorf("%q takes %s, not %s", name, migrate.StatusCodes, m))
	case code == 410:
		line.Answer = redirects.Gone
	case !resolver.ValidStatus(code):
		o.refuse(migrate.StatusError(code).Error())
	default:
		line.Status = code
	}
}

// prepare completes a line with the object's place, destination and error. It reports whether the object has no
// mistakes, and reports them.
func (o *object) prepare(line *redirects.Line, to string) (ok bool) {
	line.At, line.Refused = o.At, o.refused
	if line.Answer == redirects.Leads && line.To == nil {
		line.To = redirects.Literal(to)
	}
	isGivenUp := o.table.IsGivenUp(o.At)
	if o.wrong != nil && !isGivenUp {
		o.table.Wrong(o.At, "%s", o.wrong)
	}
	return o.wrong == nil && !isGivenUp
}

// add adds the line of a path, or of all paths that begin with it.
func (o *object) add(line redirects.Line, path, to string, isPrefix bool) {
	if o.prepare(&line, to) {
		o.table.AddPath(line, path, isPrefix)
	}
}

// addMatch adds the lines of a regular expression.
func (o *object) addMatch(line redirects.Line, expression, to string) {
	switch ok := o.prepare(&line, to); {
	case !ok:
	case o.refused != nil:
		o.table.RefuseLine(line, pathexpr.Front(expression, "/"), o.refused)
	default:
		o.table.AddMatch(line, expression, to, pathexpr.Options{})
	}
}
