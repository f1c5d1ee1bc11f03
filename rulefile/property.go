package rulefile

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// property is a part of a rule in a file: a column of a table, and a member of a JSON object.
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
	set func(rule *resolver.Rule, text string) (ok bool)
	// get returns the text for a rule, "" for none.
	get func(rule *resolver.Rule) string
}

var (
	keyProperty = textProperty(property{
		name: "key", others: []string{"from", "source", "short", "slug"},
		usual: []string{"path", "alias", "origin", "old", "oldpath", "oldurl", "sourcepath",
			"sourceurl", "frompath", "fromurl", "redirectfrom"},
	}, func(rule *resolver.Rule) *string { return &rule.Key })

	destinationProperty = textProperty(property{
		name: "destination", member: "to", others: []string{"to", "target", "url"},
		usual: []string{"new", "newpath", "newurl", "targetpath", "targeturl", "destinationpath",
			"destinationurl", "topath", "tourl", "redirectto", "redirecturl"},
	}, func(rule *resolver.Rule) *string { return &rule.Value })

	statusProperty = &property{
		name: "status", member: "status", others: []string{"code"},
		words: statusCodes, takes: statusCodes, kind: jsonWord,
		usual: []string{"statuscode", "httpstatus", "httpcode", "httpstatuscode", "redirectcode",
			"redirectstatus", "responsecode"},
		set: func(rule *resolver.Rule, text string) (ok bool) {
			rule.Status, ok = statusCode(text)
			return ok
		},
		get: func(rule *resolver.Rule) string {
			if rule.Status == 0 {
				return ""
			}
			return strconv.Itoa(rule.Status)
		},
	}

	exactProperty = truthProperty("exact", func(rule *resolver.Rule) *bool { return &rule.Exact })

	unlistedProperty = truthProperty("unlisted",
		func(rule *resolver.Rule) *bool { return &rule.Unlisted })

	queryProperty = &property{
		name: "query", member: "query",
		words: QueryModes + ", or nothing", takes: QueryModes, kind: jsonString,
		set: func(rule *resolver.Rule, text string) (ok bool) {
			rule.Query, ok = ParseQueryMode(text)
			return ok
		},
		get: func(rule *resolver.Rule) string { return rule.Query.String() },
	}

	noteProperty = textProperty(property{name: "note", member: "note"},
		func(rule *resolver.Rule) *string { return &rule.Note })
)

// textProperty completes a property that is any text.
func textProperty(p property, of func(rule *resolver.Rule) *string) *property {
	p.takes, p.kind = "a string", jsonString
	p.set = func(rule *resolver.Rule, text string) bool { *of(rule) = text; return true }
	p.get = func(rule *resolver.Rule) string { return *of(rule) }
	return &p
}

const trueOrFalse = "true or false"

// truthProperty returns a property that is written as its name, or not at all.
func truthProperty(name string, of func(rule *resolver.Rule) *bool) *property {
	return &property{
		name: name, member: name,
		words: "the word " + name + ", or nothing", takes: trueOrFalse, kind: jsonWord,
		set: func(rule *resolver.Rule, text string) bool {
			*of(rule) = text == name
			return text == name || text == ""
		},
		get: func(rule *resolver.Rule) string {
			if *of(rule) {
				return name
			}
			return ""
		},
	}
}

// properties are all properties, in the order of columns.
var properties = []*property{
	keyProperty, destinationProperty, statusProperty, exactProperty, unlistedProperty, queryProperty,
	noteProperty,
}

// fewColumns is how many columns a table without a header has.
const fewColumns = 5

// Columns that are not properties; nothing is written for them.
var (
	// noProperty is a column without a name.
	noProperty = &property{
		name: "nothing", words: "nothing", get: nothing,
		set: func(*resolver.Rule, string) bool { return false },
	}
	// unknownProperty is skipped: requests, which coverage writes.
	unknownProperty = &property{name: "requests", get: nothing}
	// strayProperty is a name that makes a header an error.
	strayProperty = &property{name: "nothing", get: nothing}
)

func nothing(*resolver.Rule) string { return "" }

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
func (p *property) setField(rule *resolver.Rule, field string) error {
	isText := p.words == ""
	switch {
	case p.set == nil || field == "" && !isText:
		return nil
	case !p.set(rule, field):
		instead := ""
		if p == statusProperty {
			instead = InsteadOfStatus(field)
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
func (p *property) setMember(rule *resolver.Rule, value jsonToken) (ok bool) {
	text := value.text
	switch isTruth := p.takes == trueOrFalse; {
	case isTruth && text == "true":
		text = p.name
	case isTruth && text == "false":
		text = ""
	case isTruth:
		return false
	}
	return p.set(rule, text) && value.kind == p.kind
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
