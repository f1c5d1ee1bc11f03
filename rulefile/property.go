package rulefile

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/schedule"
)

// property is a part of a rule in a file, or of one of its windows: a column of a table, and a
// member of a JSON object.
type property struct {
	name   string // of a column
	member string // of an object
	// others are other names of the column.
	others []string
	// usual are the names of such columns in tables of other programs, without blanks and dashes.
	usual []string
	// words says what the column can contain, "" for any text; takes what the member can be, which
	// is a token of this kind.
	words, takes string
	kind         jsonKind
	// set sets the property of a rule from a text, and reports whether that is valid. If nil, the
	// column is skipped.
	set func(w *schedule.Window, text string) (ok bool)
	// get returns the text for a rule, "" for none.
	get func(w *schedule.Window) string
	// instead returns what to write instead of a text that set refuses, or ""; nil for nothing.
	instead func(text string) string
}

var (
	keyProperty = textProperty(property{
		name: "key", others: []string{"from", "source", "short", "slug"},
		usual: []string{"path", "alias", "origin", "old", "oldpath", "oldurl", "sourcepath",
			"sourceurl", "frompath", "fromurl", "redirectfrom"},
	}, func(w *schedule.Window) *string { return &w.Rule.Key })

	destinationProperty = textProperty(property{
		name: "destination", member: "to", others: []string{"to", "target", "url"},
		usual: []string{"new", "newpath", "newurl", "targetpath", "targeturl", "destinationpath",
			"destinationurl", "topath", "tourl", "redirectto", "redirecturl"},
	}, func(w *schedule.Window) *string { return &w.Rule.Value })

	statusProperty = &property{
		name: "status", member: "status", others: []string{"code"},
		words: statusCodes, takes: statusCodes, kind: jsonWord,
		usual: []string{"statuscode", "httpstatus", "httpcode", "httpstatuscode", "redirectcode",
			"redirectstatus", "responsecode"},
		set: func(w *schedule.Window, text string) (ok bool) {
			w.Rule.Status, ok = statusCode(text)
			return ok
		},
		get: func(w *schedule.Window) string {
			if w.Rule.Status == 0 {
				return ""
			}
			return strconv.Itoa(w.Rule.Status)
		},
		instead: InsteadOfStatus,
	}

	exactProperty = truthProperty("exact",
		func(w *schedule.Window) *bool { return &w.Rule.Exact })

	unlistedProperty = truthProperty("unlisted",
		func(w *schedule.Window) *bool { return &w.Rule.Unlisted })

	queryProperty = &property{
		name: "query", member: "query",
		words: QueryModes + ", or nothing", takes: QueryModes, kind: jsonString,
		set: func(w *schedule.Window, text string) (ok bool) {
			w.Rule.Query, ok = ParseQueryMode(text)
			return ok
		},
		get: func(w *schedule.Window) string { return w.Rule.Query.String() },
	}

	noteProperty = textProperty(property{name: "note", member: "note"},
		func(w *schedule.Window) *string { return &w.Rule.Note })

	sinceProperty = timeProperty("since",
		func(w *schedule.Window) *schedule.Time { return &w.Since })

	untilProperty = timeProperty("until",
		func(w *schedule.Window) *schedule.Time { return &w.Until })
)

// timeProperty returns a property that is a time, or nothing.
func timeProperty(name string, of func(w *schedule.Window) *schedule.Time) *property {
	return &property{
		name: name, member: name,
		words: "a time, or nothing", takes: "a time", kind: jsonString,
		set: func(w *schedule.Window, text string) bool {
			t, err := schedule.ParseTime(text)
			if err == nil {
				*of(w) = t
			}
			return err == nil
		},
		get: func(w *schedule.Window) string { return of(w).String() },
		instead: func(text string) string {
			_, err := schedule.ParseTime(text)
			if err == nil {
				return ""
			}
			return behind(err.Error())
		},
	}
}

// textProperty completes a property that is any text.
func textProperty(p property, of func(w *schedule.Window) *string) *property {
	p.takes, p.kind = "a string", jsonString
	p.set = func(w *schedule.Window, text string) bool { *of(w) = text; return true }
	p.get = func(w *schedule.Window) string { return *of(w) }
	return &p
}

const trueOrFalse = "true or false"

// truthProperty returns a property that is written as its name, or not at all.
func truthProperty(name string, of func(w *schedule.Window) *bool) *property {
	return &property{
		name: name, member: name,
		words: "the word " + name + ", or nothing", takes: trueOrFalse, kind: jsonWord,
		set: func(w *schedule.Window, text string) bool {
			*of(w) = text == name
			return text == name || text == ""
		},
		get: func(w *schedule.Window) string {
			if *of(w) {
				return name
			}
			return ""
		},
	}
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
	// noProperty is a column without a name.
	noProperty = &property{
		name: "nothing", words: "nothing", get: nothing,
		set: func(*schedule.Window, string) bool { return false },
	}
	// unknownProperty is skipped: requests, which coverage writes.
	unknownProperty = &property{name: "requests", get: nothing}
	// strayProperty is a name that makes a header an error.
	strayProperty = &property{name: "nothing", get: nothing}
)

func nothing(*schedule.Window) string { return "" }

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

// UsualColumnName returns our name for a usual name of a column in tables of redirects, or "".
// isType says that it is a status only if it contains one.
func UsualColumnName(name string) (own string, isType bool) {
	name = strings.NewReplacer(" ", "", "_", "", "-", "").Replace(strings.ToLower(name))
	for _, p := range properties {
		if slices.Contains(p.usual, name) {
			return p.name, false
		}
	}
	if slices.Contains([]string{"type", "redirect", "redirecttype"}, name) {
		return statusProperty.name, true
	}
	return "", false
}

// memberNamed returns the property for the name of a member, in our words or those of others, or
// nil.
func memberNamed(name string) *property {
	for _, p := range properties[1:] {
		if p.member == name {
			return p
		}
	}
	if own, _ := UsualColumnName(name); own != "" {
		name = own
	}
	if p := propertyNamed(name); p.member != "" {
		return p
	}
	return nil
}

// setField sets a property of a rule from a field of a row, or returns an error.
func (p *property) setField(w *schedule.Window, field string) error {
	isText := p.words == ""
	switch {
	case p.set == nil || field == "" && !isText:
		return nil
	case !p.set(w, field):
		instead := ""
		if p.instead != nil {
			instead = p.instead(field)
		}
		return errors.New("this column holds " + p.words + ", not " + quote(field) + instead)
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
