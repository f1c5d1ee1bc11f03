package rulefile

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// property is something that a file says of a rule: a column of a table, and a member of an object
// of JSON.
type property struct {
	name string
	// others are more names that a column can have.
	others []string
	// usual are names that columns of redirects have elsewhere, without blanks and dashes.
	usual []string
	// words says what the property can be, "" for any text.
	words string
	// set puts a text into a rule, and reports whether the property can be that. nil: it is passed
	// over.
	set func(rule *resolver.Rule, text string) (ok bool)
	// get returns what is written of a rule, "" where nothing is.
	get func(rule resolver.Rule) string
}

var (
	keyProperty = &property{
		name: "key", others: []string{"from", "source", "short", "slug"},
		usual: []string{"path", "alias", "origin", "old", "oldpath", "oldurl", "sourcepath",
			"sourceurl", "frompath", "fromurl", "redirectfrom"},
		set: func(rule *resolver.Rule, text string) bool { rule.Key = text; return true },
		get: func(rule resolver.Rule) string { return rule.Key },
	}
	destinationProperty = &property{
		name: "destination", others: []string{"to", "target", "url"},
		usual: []string{"new", "newpath", "newurl", "targetpath", "targeturl", "destinationpath",
			"destinationurl", "topath", "tourl", "redirectto", "redirecturl"},
		set: func(rule *resolver.Rule, text string) bool { rule.Value = text; return true },
		get: func(rule resolver.Rule) string { return rule.Value },
	}
	statusProperty = &property{
		name: "status", others: []string{"code"}, words: statusCodes,
		usual: []string{"statuscode", "httpstatus", "httpcode", "httpstatuscode", "redirectcode",
			"redirectstatus", "responsecode"},
		set: func(rule *resolver.Rule, text string) (ok bool) {
			rule.Status, ok = statusCode(text)
			return ok
		},
		get: func(rule resolver.Rule) string {
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
		name: "query", words: QueryModes,
		set: func(rule *resolver.Rule, text string) (ok bool) {
			rule.Query, ok = ParseQueryMode(text)
			return ok
		},
		get: func(rule resolver.Rule) string { return rule.Query.String() },
	}
	noteProperty = &property{
		name: "note",
		set:  func(rule *resolver.Rule, text string) bool { rule.Note = text; return true },
		get:  func(rule resolver.Rule) string { return rule.Note },
	}
)

// truthProperty returns a property that is written as its name, or not at all.
func truthProperty(name string, of func(rule *resolver.Rule) *bool) *property {
	return &property{
		name: name, words: "the word " + name,
		set: func(rule *resolver.Rule, text string) bool {
			*of(rule) = text == name
			return text == name || text == ""
		},
		get: func(rule resolver.Rule) string {
			if *of(&rule) {
				return name
			}
			return ""
		},
	}
}

var (
	// noProperty is what a column without a name has.
	noProperty = &property{
		name: "nothing", set: func(*resolver.Rule, string) bool { return false }, words: "nothing",
	}
	// unknownProperty is passed over: requests, which coverage writes.
	unknownProperty = &property{name: "requests"}
	// strayProperty has a name that makes a header an error.
	strayProperty = &property{name: "nothing"}
)

// properties are all, in the order in which columns are written.
var properties = []*property{
	keyProperty, destinationProperty, statusProperty, exactProperty, unlistedProperty, queryProperty,
	noteProperty,
}

// fewColumns is how many of them stand where no header says which, in their order.
const fewColumns = 5

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

// setField puts the field of a row into a rule, or says what is wrong with it.
func (p *property) setField(rule *resolver.Rule, field string) error {
	switch {
	case p.set == nil:
		return nil
	case p == keyProperty:
		rule.Key = field
		return checkKeyField(field)
	case p.words == "":
		p.set(rule, field)
		return checkText(field)
	case field == "" || p.set(rule, field):
		return nil
	}
	message := "this column holds " + p.words
	switch p {
	case statusProperty:
		return errors.New(message + ", not " + quote(field) + InsteadOfStatus(field))
	case noProperty:
		return errors.New(message + ", not " + quote(field))
	}
	return errors.New(message + ", or nothing, not " + quote(field))
}

// member returns what the property is called in an object of JSON.
func (p *property) member() string {
	if p == destinationProperty {
		return "to"
	}
	return p.name
}

// memberNamed returns the property that a member of an object is, or that is often called so, as
// columns of tables are, or nil. isOwn tells that it is called so here.
func memberNamed(name string) (p *property, isOwn bool) {
	for _, p := range properties[1:] {
		if p.member() == name {
			return p, true
		}
	}
	if own, _ := UsualColumnName(name); own != "" {
		name = own
	}
	if p = propertyNamed(name); slices.Contains(properties[1:], p) {
		return p, false
	}
	return nil, false
}

// setMember puts the value of a member into a rule. It tells what the member takes.
func (p *property) setMember(rule *resolver.Rule, value jsonToken) (want string, ok bool) {
	kind, text := jsonString, value.text
	switch p {
	case statusProperty:
		kind = jsonWord
	case exactProperty, unlistedProperty:
		switch {
		case value.kind != jsonWord:
		case text == "true":
			return "", p.set(rule, p.name)
		case text == "false":
			return "", p.set(rule, "")
		}
		return "true or false", false
	}
	ok = p.set(rule, text) && value.kind == kind
	return cmp.Or(p.words, "a string"), ok
}

// fieldOf returns what the property's column holds of a rule.
func (p *property) fieldOf(rule resolver.Rule) string {
	if p.get == nil {
		return ""
	}
	return p.get(rule)
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
