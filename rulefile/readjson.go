package rulefile

import (
	"cmp"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// ReadJSON reads rules in the draft's own form, an object from key to value (section 2). A value is
// the destination as a string. If a rule has more to say, it is an object:
//
//	{
//		"github": "https://github.com",
//		"paper": {"to": "https://example.com/paper.pdf", "status": 301, "exact": true},
//		"search": {"to": "https://example.com/?q=caddy", "unlisted": true, "query": "ignore"},
//		"fair": {"to": "/events/fair", "note": "on the posters of 2026"},
//		"sale": [{"to": "/soon", "until": "2027-03-01"},
//			{"to": "/sale", "since": "2027-03-01", "until": "2027-03-08T18:00:00+01:00"}]
//	}
//
// A rule with "since" or "until" is there for that time only; an array has several in the order of
// time. The rule that is passed then has [resolver.Rule.Windows].
//
// Each rule is passed to add as soon as it is read. Its position is source, and the line and column
// of its key. A duplicate key is passed twice. The error is an [Errors] or the reader's own. It
// lists everything that is not a rule, up to the end or the first syntax error.
func ReadJSON(r io.Reader, source string, add func(resolver.Rule)) error {
	return Reading{}.readJSON(r, source, add)
}

// readJSON is [ReadJSON] that may lend the strings of rules.
func (o Reading) readJSON(r io.Reader, source string, add func(resolver.Rule)) error {
	j := jsonReader{tokens: newJSONScanner(r, source), add: add, isExact: o.isExact()}
	j.tokens.lends = o.Lends
	return j.read()
}

// ReadExpectations reads expectations, an object from request path to destination, "pass", "gone"
// or "error". It is [ReadJSON] with other messages.
func ReadExpectations(r io.Reader, source string, add func(resolver.Rule)) error {
	j := jsonReader{tokens: newJSONScanner(r, source), add: add, isOfExpectations: true}
	return j.read()
}

// ReadJSONPatch reads a JSON merge patch (RFC 7396) of an object of rules. It passes on each rule
// as it is then, or the key of one that null removes. Members of an object are merged with those of
// the rule that now returns, which has them also where it is written as a string; null takes one
// away. An array replaces the rule. If now is nil, it reads all rules, like [ReadJSON]. The error
// is an [Errors] or the reader's own.
func ReadJSONPatch(
	r io.Reader, source string, now func(key string) (resolver.Rule, bool),
	change func(rule resolver.Rule, isRemoved bool),
) error {
	j := jsonReader{tokens: newJSONScanner(r, source), now: now}
	j.add = func(rule resolver.Rule) {
		change(rule, j.isNull)
		j.isNull = false
	}
	return j.read()
}

// ReadJSONValue reads the value of a member of an object of rules, and returns the key's rule. The
// error is an [Errors] or the reader's own.
func ReadJSONValue(r io.Reader, source, key string) (resolver.Rule, error) {
	j := jsonReader{tokens: newJSONScanner(r, source), isValue: true}
	rule := resolver.Rule{Key: key}
	j.readValue(&rule)
	return rule, j.readEnd("the value")
}

// jsonReader reads one object of rules. After the reading has ended, no token is left.
type jsonReader struct {
	Reports
	tokens *jsonScanner
	add    func(resolver.Rule)
	// isOfExpectations: expectations are read, not rules. isValue: a value is read without the
	// object around it.
	isOfExpectations, isValue bool
	// now returns the rule that a merge patch is of; nil for no patch. isNull: it removes the rule.
	now    func(key string) (resolver.Rule, bool)
	isNull bool
	// isExact is the default for rules that do not say it.
	isExact bool

	// span is the member of the rule that is being passed to add.
	span memberSpan
	// open and close are the offsets of the object's braces in the file.
	open, close int
}

// memberSpan are the offsets of a member of the object: its name from key to keyEnd, its value from
// value to end. The zero value is none.
type memberSpan struct{ key, keyEnd, value, end int }

// listOfLinks matches the beginning of a list of links: golink's, or objects whose first member is
// no destination. As rules, all of these would have the same keys.
var listOfLinks = regexp.MustCompile(`^\s*\{\s*("Short"\s*:\s*"[^"/]*"\s*,\s*"Long"|` +
	`"[^"]*"\s*:\s*"[^"/]*"[^{}]*\}\s*\{)`)

// read reads an object of rules, up to the end of the input. The error has all errors.
func (j *jsonReader) read() error {
	all, what := "rules", "rules are an object from key to destination, not "
	if j.isOfExpectations {
		all = "expectations"
		what = "expectations are an object from request path to destination, pass, gone or error, not "
	} else if begin, _ := j.tokens.r.Peek(j.tokens.r.Size()); listOfLinks.Match(begin) {
		j.fail(&Error{resolver.Position{Source: j.tokens.source, Line: 1, Column: 1},
			"this is an object for each link, as golink exports them; rules are one object from key to " +
				`destination, such as {"docs": "https://docs.example"}; a list of golink is converted ` +
				"with --from golink"})
	}
	switch start := j.next(); {
	case start.kind == '[' && !j.isOfExpectations:
		j.fail(&Error{start.at, what + "an array; a list of redirects, such as Vercel's, is converted " +
			"with --from array"})
	case start.kind != '{':
		j.fail(&Error{start.at, what + kindOf(start)})
	}
	j.open = j.tokens.offset - 1
	j.readMembers(j.readRule, j.readPlainRules)
	j.close = j.tokens.offset - 1
	return j.readEnd("the object of " + all)
}

// readEnd checks that the input ends here, and returns all errors.
func (j *jsonReader) readEnd(behind string) error {
	if j.end == nil {
		extra, err := j.tokens.token()
		if err == nil {
			err = &Error{extra.at, "nothing may follow " + behind}
		}
		j.fail(err)
	}
	_, err := j.Result(io.EOF)
	return err
}

// readMembers reads the members of an object after its "{". It calls readValue after each name and
// its ":", and readOn, which may read more members, after each ",".
func (j *jsonReader) readMembers(readValue func(name jsonToken), readOn func()) {
	name := j.next()
	for j.end == nil && name.kind != '}' {
		if name.kind != jsonString {
			j.failJSON(name, "a name in quotation marks belongs here, not "+kindOf(name))
		}
		if colon := j.next(); colon.kind != ':' {
			j.failJSON(colon, `in front of this a ":" is missing`)
		}
		readValue(name)
		behind := j.next()
		if behind.kind == '}' {
			return
		}
		if behind.kind != ',' {
			j.failJSON(behind, `in front of this a "," is missing`)
		}
		if j.end == nil {
			readOn()
		}
		if name = j.next(); name.kind == '}' {
			j.failJSON(name, `there is a "," too much in front of this "}"`)
		}
	}
}

// readPlainRules reads rules as long as they are simple.
func (j *jsonReader) readPlainRules() {
	j.tokens.plainMembers(func(rule resolver.Rule, span memberSpan) {
		rule.Exact, j.span = j.isExact, span
		j.add(rule)
	})
}

// readRule reads the value of a key.
func (j *jsonReader) readRule(key jsonToken) {
	errsBefore := len(j.errs)
	rule := resolver.Rule{Key: key.text, Position: key.at, Exact: j.isExact}
	value := j.readValue(&rule)
	j.span = memberSpan{key.start, key.end, value, j.tokens.offset}
	if j.end == nil && len(j.errs) == errsBefore {
		j.add(rule)
	}
}

// readValue reads the value of rule's key into it, and returns its offset in the input.
func (j *jsonReader) readValue(rule *resolver.Rule) (start int) {
	value := j.nextValue()
	j.isNull = j.now != nil && value.isNull()
	switch {
	case value.kind == jsonString:
		rule.Value = value.text
	case value.kind == '{' || value.kind == '[' && !j.isOfExpectations:
		j.readWindows(rule, value)
	case !j.isNull:
		instead := `write the destination as a string, or as an object {"to": "…"}`
		if j.isOfExpectations {
			instead = `write a destination, "pass", "gone" or "error" as a string`
		}
		j.wrong(value.at, "the value of %s is %s: %s", quote(rule.Key), kindOf(value),
			cmp.Or(insteadOfStatus(rule.Key, value), instead))
		j.skip(value)
	}
	return value.start
}

// insteadOfStatus returns the member to write for the status of an error, if a rule can have it.
func insteadOfStatus(key string, status jsonToken) string {
	return resolver.InsteadOfStatus(status.text, func(outcome string) string {
		return quote(key) + ": " + quote(outcome)
	})
}

// readWindows reads a value that is an object, or an array of the objects of a key's windows.
func (j *jsonReader) readWindows(rule *resolver.Rule, value jsonToken) {
	errsBefore, start := len(j.errs), value.at
	isArray := value.kind == '['
	if isArray {
		value = j.next()
	}
	var windows []schedule.Window
	for j.end == nil && value.kind != ']' {
		o := jsonObject{Window: schedule.Always(*rule), isPatch: j.now != nil && !isArray}
		o.Rule.Position = value.at
		if value.kind == '{' {
			j.readObject(&o)
		} else {
			j.wrong(value.at, "the array of %s has objects, each for a time, such as "+
				`{"to": "https://x.example", "until": "2027-03-01"}, not %s`, quote(rule.Key), kindOf(value))
			j.skip(value)
		}
		windows = append(windows, o.Window)
		if !isArray {
			break
		}
		if value = j.next(); value.kind == ']' {
			break
		} else if value.kind != ',' {
			j.failJSON(value, `in front of this a "," is missing`)
		}
		value = j.nextValue()
	}
	if len(windows) == 0 {
		j.wrong(start, "the array of %s is empty; write an object for each time, or remove the key",
			quote(rule.Key))
	}
	if j.end == nil && len(j.errs) == errsBefore {
		j.join(rule, windows, "the value of "+quote(rule.Key))
	}
}

// jsonObject is a value that is an object, while it is read.
type jsonObject struct {
	schedule.Window      // at the place of the value
	isPatch         bool // it is merged with the rule
	// seen are the members so far, also under other names.
	seen []*property
	// nested is the name of the first unknown member whose value could be that of a key.
	nested jsonToken
}

// readObject reads a value that is an object after its "{".
func (j *jsonReader) readObject(o *jsonObject) {
	hasDestination := o.isPatch && j.setNow(&o.Window)
	j.readMembers(func(name jsonToken) { j.readMember(o, name) }, func() {})
	start, key, first := o.Rule.Position, quote(o.Rule.Key), o.nested.text
	switch isNested := o.nested.kind != 0; {
	case isNested && o.seen == nil && !j.isValue && !j.isOfExpectations:
		j.wrong(start, "rules are not nested: write %s for the key %s in %s, or remove %s and its "+
			"braces, if it only wraps the rules", quote(o.Rule.Key+"/"+first), quote(first), key, key)
		return
	case isNested:
		j.reportMember(o, o.nested)
	}
	if !hasDestination && !slices.Contains(o.seen, destinationProperty) {
		j.wrong(start, `the value of %s has no "to", which is the destination`, key)
	}
}

// setNow sets a window that a patch is merged with to that of its key's rule. Several windows are
// an array, which is no object to merge with.
func (j *jsonReader) setNow(w *schedule.Window) (ok bool) {
	rule, ok := j.now(w.Rule.Key)
	rule.Key, rule.Position = w.Rule.Key, w.Rule.Position
	windows := schedule.Split(rule)
	if ok = ok && len(windows) == 1; ok {
		*w = windows[0]
	}
	return ok
}

// readMember reads a member of an object.
func (j *jsonReader) readMember(o *jsonObject, name jsonToken) {
	p := memberNamed(name.text)
	isOwn := p != nil && p.member == name.text
	if isOwn && slices.Contains(o.seen, p) {
		j.wrong(name.at, "%q is given twice in the value of %s", name.text, quote(o.Rule.Key))
	}
	value := j.nextValue()
	switch {
	case isOwn && p != destinationProperty && o.isPatch && value.isNull():
		p.remove(&o.Window)
	case isOwn:
		j.setMember(&o.Window, p, value)
	case p != nil:
		j.wrong(name.at, "the value of %s has a member %s; it is called %q here", quote(o.Rule.Key),
			quote(name.text), p.member)
	case value.kind != '{' && !resolver.IsValue(value.text):
		j.reportMember(o, name)
	case o.nested.kind == 0:
		o.nested = name
	}
	if p != nil {
		o.seen = append(o.seen, p)
	}
	j.skip(value)
}

// reportMember reports an unknown member.
func (j *jsonReader) reportMember(o *jsonObject, name jsonToken) {
	j.wrong(name.at, "the value of %s has a member %s; the members are "+
		`"to", "status", "exact", "unlisted", "query", "note", "since" and "until"`,
		quote(o.Rule.Key), quote(name.text))
}

// setMember sets a rule's property from a member, or reports what the member takes.
func (j *jsonReader) setMember(w *schedule.Window, p *property, value jsonToken) {
	if p.setMember(w, value) {
		return
	}
	instead := p.instead(value.text)
	if p == statusProperty {
		instead = behind(insteadOfStatus(w.Rule.Key, value))
	}
	j.wrong(value.at, "%q in the value of %s takes %s, not %s%s", p.member, quote(w.Rule.Key),
		p.takes, kindOf(value), instead)
}

// skip skips the rest of a value after its first token.
func (j *jsonReader) skip(value jsonToken) {
	for depth := 0; j.end == nil; value = j.next() {
		switch value.kind {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if depth == 0 {
			return
		}
	}
}

// next reads a token that must be there. After the reading has ended, there is none.
func (j *jsonReader) next() jsonToken {
	if j.end != nil {
		return jsonToken{}
	}
	token, err := j.tokens.token()
	if err != nil {
		j.fail(orTooEarly(err, j.tokens.position()))
		return jsonToken{}
	}
	return token
}

// nextValue reads the first token of a value.
func (j *jsonReader) nextValue() jsonToken {
	token := j.next()
	if strings.IndexByte("}],:", byte(token.kind)) >= 0 {
		j.failJSON(token, "before this a value is missing")
	}
	return token
}

// failJSON ends the reading at an invalid token.
func (j *jsonReader) failJSON(token jsonToken, why string) { j.fail(notJSON(token.at, why)) }

// kindOf returns in words what a token begins.
func kindOf(token jsonToken) string {
	switch token.kind {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case jsonString:
		return quote(token.text)
	case jsonWord:
		return token.text
	}
	return quote(string(rune(token.kind)))
}
