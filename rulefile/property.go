package rulefile

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// property is something that a file says of a rule: a column of a table, and a member of an object
// of JSON.
type property struct {
	name   string // of a column
	member string // of an object
	// others are more names that a column can have.
	others []string
	// usual are names that columns of redirects have elsewhere, without blanks and dashes.
	usual []string
	// words says what a column can hold, "" for any text, and takes what a member can be, which
	// stands there as a token of this kind.
	words, takes string
	kind         jsonKind
	// set puts a text into a rule, and reports whether the property can be that. nil: it is passed
	// over.
	set func(rule *resolver.Rule, text string) (ok bool)
	// get returns what is written of a rule, "" where nothing is.
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

// textProperty completes a property that can be any text.
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

// properties are all, in the order in which columns are written.
var properties = []*property{
	keyProperty, destinationProperty, statusProperty, exactProperty, unlistedProperty, queryProperty,
	noteProperty,
}

// fewColumns is how many of them stand where no header says which, in their order.
const fewColumns = 5

// Columns that are none of them, and of which nothing is written.
var (
	// noProperty is what a column without a name has.
	noProperty = &property{
		name: "nothing", words: "nothing", get: nothing,
		set: func(*resolver.Rule, string) bool { return false },
	}
	// unknownProperty is passed over: requests, which coverage writes.
	unknownProperty = &property{name: "requests", get: nothing}
	// strayProperty has a name that makes a header an error.
	strayProperty = &property{name: "nothing", get: nothing}
)

func nothing(*resolver.Rule) string { return "" }

// propertyNamed returns what a column is that a header calls so, in letters of either case.
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

// ColumnName returns the name under which a column is written that a header calls so. ok is false
// for a name that no column of ours has.
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

// UsualColumnName returns the name of the column that a table of redirects often calls so, "" for
// none. isType tells that it is a status only where it holds one.
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

// memberNamed returns the property that a member of an object is, or that is often called so, as
// columns of tables are, or nil.
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

// setField puts the field of a row into a rule, or says what is wrong with it.
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

// setMember puts the value of a member into a rule, and reports whether the member takes it.
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

// checkKeyField refuses a key that cannot be written as one.
func checkKeyField(key string) error {
	switch {
	case key == "":
		return errors.New("the key is empty")
	case key[0] == '#':
		return errors.New("a key does not begin with \"#\", as a comment does; for a number sign " +
			"in the path write %23")
	}
	return checkText(key)
}
