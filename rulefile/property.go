package rulefile

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// property is a part of a rule in a file, or of one of its windows: a column of a table, and a
// member of a JSON object.
type property struct {
	name   string // of a column
	member string // of an object
	// others are other names of the column.
	others []string
	// words says what the column can contain, "" for any text; takes what the member can be, which
	// is a token of this kind.
	words, takes string
	kind         jsonKind
	// field returns a pointer to the property of a window; nil for columns that are no property.
	field func(w *schedule.Window) any
}

var (
	keyProperty = &property{name: "key", others: []string{"from", "source", "short", "slug"},
		field: func(w *schedule.Window) any { return &w.Rule.Key }}
	destinationProperty = &property{name: "destination", member: "to",
		others: []string{"to", "target", "url"}, takes: "a string", kind: jsonString,
		field: func(w *schedule.Window) any { return &w.Rule.Value }}
	statusProperty = &property{name: "status", member: "status", others: []string{"code",
		"status_code"},
		words: statusCodes, takes: statusCodes, kind: jsonWord,
		field: func(w *schedule.Window) any { return &w.Rule.Status }}
	exactProperty = &property{name: "exact", member: "exact",
		words: "the word exact, or nothing", takes: trueOrFalse, kind: jsonWord,
		field: func(w *schedule.Window) any { return &w.Rule.Exact }}
	unlistedProperty = &property{name: "unlisted", member: "unlisted",
		words: "the word unlisted, or nothing", takes: trueOrFalse, kind: jsonWord,
		field: func(w *schedule.Window) any { return &w.Rule.Unlisted }}
	queryProperty = &property{name: "query", member: "query",
		words: QueryModes + ", or nothing", takes: QueryModes, kind: jsonString,
		field: func(w *schedule.Window) any { return &w.Rule.Query }}
	noteProperty = &property{name: "note", member: "note", takes: "a string", kind: jsonString,
		field: func(w *schedule.Window) any { return &w.Rule.Note }}
	sinceProperty = &property{name: "since", member: "since",
		words: "a time, or nothing", takes: "a time", kind: jsonString,
		field: func(w *schedule.Window) any { return &w.Since }}
	untilProperty = &property{name: "until", member: "until",
		words: "a time, or nothing", takes: "a time", kind: jsonString,
		field: func(w *schedule.Window) any { return &w.Until }}
)

const trueOrFalse = "true or false"

// set sets the property from a text, and reports whether that is valid.
func (p *property) set(w *schedule.Window, text string) (ok bool) {
	var err error
	switch field := p.field(w).(type) {
	case *string:
		*field = text
	case *bool:
		*field = text == p.name
		return *field || text == ""
	case *int:
		*field, ok = statusCode(text)
		return ok
	case *resolver.QueryMode:
		*field, ok = ParseQueryMode(text)
		return ok
	case *schedule.Time:
		*field, err = schedule.ParseTime(text)
	}
	return err == nil
}

// get returns the text of the property, "" for none.
func (p *property) get(w *schedule.Window) string {
	if p.field == nil {
		return ""
	}
	switch field := p.field(w).(type) {
	case *string:
		return *field
	case *bool:
		if *field {
			return p.name
		}
	case *int:
		if *field != 0 {
			return strconv.Itoa(*field)
		}
	case *resolver.QueryMode:
		return field.String()
	case *schedule.Time:
		return field.String()
	}
	return ""
}

// isSaid reports whether any of the rows has the property.
func (p *property) isSaid(rows []schedule.Window) bool {
	for i := range rows {
		if p.get(&rows[i]) != "" {
			return true
		}
	}
	return false
}

// instead returns what to write instead of a text that set refuses, or "".
func (p *property) instead(text string) string {
	switch p {
	case statusProperty:
		return InsteadOfStatus(text)
	case sinceProperty, untilProperty:
		if _, err := schedule.ParseTime(text); err != nil {
			return behind(err.Error())
		}
	}
	return ""
}

// properties are all properties, in the order of columns.
var properties = []*property{
	keyProperty, destinationProperty, statusProperty, exactProperty, unlistedProperty, queryProperty,
	noteProperty, sinceProperty, untilProperty,
}

// fewColumns is how many columns a table without a header has.
const fewColumns = 5

// Columns that are not properties; nothing is written for them.
var (
	// noProperty is a column without a name. It holds nothing.
	noProperty = &property{name: "nothing", words: "nothing"}
	// unknownProperty is skipped: requests, which coverage writes.
	unknownProperty = &property{name: "requests"}
	// strayProperty is a name that makes a header an error.
	strayProperty = &property{name: "nothing"}
)

// propertyNamed returns the property for the name of a column, in any case.
func propertyNamed(name string) *property {
	name = strings.ToLower(strings.TrimSpace(name))
	switch name {
	case "":
		return noProperty
	case unknownProperty.name:
		return unknownProperty
	}
	for _, p := range properties {
		if name == p.name || slices.Contains(p.others, name) {
			return p
		}
	}
	return strayProperty
}

// ColumnName returns our name for the name of a column. ok is false if no column has it.
func ColumnName(name string) (own string, ok bool) {
	switch p := propertyNamed(name); p {
	case noProperty:
		return "", true
	case unknownProperty:
		return name, true
	default:
		return p.name, p != strayProperty
	}
}

// memberNamed returns the property for the name of a member, or of the column, or nil.
func memberNamed(name string) *property {
	if p := propertyNamed(name); p.member != "" {
		return p
	}
	return nil
}

// setField sets a property of a rule from a field of a row, or returns an error.
func (p *property) setField(w *schedule.Window, field string) error {
	isText := p.words == ""
	switch {
	case field == "" && !isText, p == unknownProperty, p == strayProperty:
		return nil
	case p == noProperty || !p.set(w, field):
		return errors.New("this column holds " + p.words + ", not " + quote(field) + p.instead(field))
	case p == keyProperty:
		return checkKeyField(field)
	case isText:
		return checkText(field)
	}
	return nil
}

// setMember sets a property of a rule from the value of a member, and reports whether the value is
// valid.
func (p *property) setMember(w *schedule.Window, value jsonToken) (ok bool) {
	text := value.text
	switch isTruth := p.takes == trueOrFalse; {
	case isTruth && text == "true":
		text = p.name
	case isTruth && text == "false":
		text = ""
	case isTruth:
		return false
	}
	return p.set(w, text) && value.kind == p.kind
}

// remove removes a property.
func (p *property) remove(w *schedule.Window) {
	switch p {
	case sinceProperty:
		w.Since = schedule.Begin
	case untilProperty:
		w.Until = schedule.End
	default:
		p.set(w, "")
	}
}

// checkKeyField returns an error for a key that cannot be in a table.
func checkKeyField(key string) error {
	switch {
	case key == "":
		return errors.New("the key is empty")
	case key[0] == '#':
		return errors.New("a key cannot begin with \"#\", like a comment; for a number sign " +
			"in the path write %23")
	}
	return checkText(key)
}
