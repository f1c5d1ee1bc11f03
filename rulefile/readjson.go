package rulefile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// ReadJSON reads rules in the draft's own form, an object from key to value (section 2). A
// value is the destination as a string or, where a rule has more to say, an object:
//
//	{
//		"github": "https://github.com",
//		"paper": {"to": "https://example.com/paper.pdf", "status": 301, "exact": true},
//		"search": {"to": "https://example.com/?q=caddy", "unlisted": true, "query": "ignore"},
//		"fair": {"to": "/events/fair", "note": "on the posters of 2026"}
//	}
//
// Each rule is passed to add as soon as it is read; its position is source, and the
// line and column of its key. A key that stands twice is passed twice. The error is of
// type [Errors] and lists everything that is no rule, until the end or the first
// syntax error, or it is the reader's own.
func ReadJSON(r io.Reader, source string, add func(resolver.Rule)) error {
	return Reading{}.readJSON(r, source, add)
}

// readJSON is [ReadJSON] that may lend the texts of rules.
func (o Reading) readJSON(r io.Reader, source string, add func(resolver.Rule)) error {
	j := jsonReader{tokens: newJSONScanner(r, source), add: add, isExact: o.isExact()}
	j.tokens.lends = o.Lends
	j.read()
	return j.result()
}

// ReadExpectations reads what is expected of requests, an object from request path to destination,
// "pass" or "error". It is [ReadJSON] with errors that say so.
func ReadExpectations(r io.Reader, source string, add func(resolver.Rule)) error {
	j := jsonReader{tokens: newJSONScanner(r, source), add: add, isOfExpectations: true}
	j.read()
	return j.result()
}

// ReadJSONValue reads the value of a member of an object of rules, and returns the key's rule. The
// error is of type [Errors] or the reader's own.
func ReadJSONValue(r io.Reader, source, key string) (resolver.Rule, error) {
	j := jsonReader{tokens: newJSONScanner(r, source), isValue: true}
	rule := resolver.Rule{Key: key}
	j.readValue(&rule)
	j.readEnd("the value")
	return rule, j.result()
}

// jsonReader reads one object of rules. Where the reading has ended, each token is none.
type jsonReader struct {
	Reports
	tokens *jsonScanner
	add    func(resolver.Rule)
	// isOfExpectations is set where it is no rules that are read, and isValue where it is a value
	// without the object around it.
	isOfExpectations, isValue bool
	// isExact is what rules are that do not say it.
	isExact bool

	// span is where the member of the rule that is passed to add stands in the input.
	span memberSpan
	// open and close are where the object begins and ends in the file.
	open, close int
}

// memberSpan is where a member of the object stands. Its name goes from key to keyEnd, its value
// from value to end. The zero value is none.
type memberSpan struct{ key, keyEnd, value, end int }

// result returns everything that is wrong.
func (j *jsonReader) result() error {
	_, err := j.Result(io.EOF)
	return err
}

// objectPerLink is what is wrong with lists of links, in which all rules would be called alike.
const objectPerLink = "this is an object for each link, as golink exports them; rules are one " +
	"object from key to destination, such as {\"docs\": \"https://docs.example\"}; a list of golink is " +
	"converted with --from golink"

// isObjectPerLink reports whether a text that begins so has an object for each link. Its first one
// has a member that leads nowhere, and another object behind it, or members as golink has them.
func isObjectPerLink(begin []byte) bool {
	if bytes.IndexByte(begin, '}') < 0 {
		return false // no object ends there, as in any large file of plain rules
	}
	decoder := json.NewDecoder(bytes.NewReader(begin))
	var first map[string]any
	if decoder.Decode(&first) != nil {
		return false // it is longer, as one object of rules is, or no JSON
	}
	leadsNowhere := false
	for _, value := range first {
		word, isText := value.(string)
		leadsNowhere = leadsNowhere || isText && !resolver.IsValue(word)
	}
	next, _ := decoder.Token()
	isGolink := first["Short"] != nil && first["Long"] != nil
	return leadsNowhere && (isGolink || next == json.Delim('{'))
}

// read reads the whole input, unless it has another object for each link.
func (j *jsonReader) read() {
	begin, _ := j.tokens.r.Peek(j.tokens.r.Size())
	if !j.isOfExpectations && isObjectPerLink(begin) {
		j.fail(&Error{resolver.Position{Source: j.tokens.source, Line: 1, Column: 1}, objectPerLink})
	}
	j.readAll()
}

// readAll reads an object of rules, and to the end of the input.
func (j *jsonReader) readAll() {
	start, all := j.next(), "rules"
	what := "rules are an object from key to destination"
	if j.isOfExpectations {
		all = "expectations"
		what = "expectations are an object from request path to destination, pass, gone or error"
	}
	switch {
	case start.kind == '[' && !j.isOfExpectations:
		j.fail(&Error{start.at, what + ", not an array; a list of redirects, such as Vercel's, is " +
			"converted with --from array"})
	case start.kind != '{':
		j.fail(&Error{start.at, what + ", not " + kindOf(start)})
	}
	j.open = j.tokens.offset - 1
	j.readMembers(j.readRule, j.readPlainRules)
	j.close = j.tokens.offset - 1
	j.readEnd("the object of " + all)
}

// readEnd reads to the end of the input, where nothing may be any more.
func (j *jsonReader) readEnd(behind string) {
	if j.end != nil {
		return
	}
	extra, err := j.tokens.token()
	if err == nil {
		err = &Error{extra.at, "nothing may follow " + behind}
	}
	j.fail(err)
}

// readMembers reads the members of an object whose "{" has been read. It calls readValue behind
// each name and its ":", and readOn, which may read some more, behind each ",".
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

// readPlainRules reads rules for as long as they are simple.
func (j *jsonReader) readPlainRules() {
	j.tokens.plainMembers(func(rule resolver.Rule, span memberSpan) {
		rule.Exact, j.span = j.isExact, span
		j.add(rule)
	})
}

// readRule reads the value of a key.
func (j *jsonReader) readRule(key jsonToken) {
	errsBefore := len(j.errs)
	j.checkText(key)
	rule := resolver.Rule{Key: key.text, Position: key.at, Exact: j.isExact}
	value := j.readValue(&rule)
	j.span = memberSpan{key.start, key.end, value, j.tokens.offset}
	if j.end == nil && len(j.errs) == errsBefore {
		j.add(rule)
	}
}

// readValue reads the value of rule's key into it, and returns where in the input it begins.
func (j *jsonReader) readValue(rule *resolver.Rule) (start int) {
	value := j.nextValue()
	switch value.kind {
	case jsonString:
		j.checkText(value)
		rule.Value = value.text
		return value.start
	case '{':
		j.readObject(rule, value.at)
		return value.start
	}
	instead := `write the destination as a string, or as an object {"to": "…"}`
	if j.isOfExpectations {
		instead = `write a destination, "pass" or "error" as a string`
	}
	j.wrong(value.at, "the value of %s is %s: %s", quote(rule.Key), kindOf(value),
		cmp.Or(j.insteadOfStatus(rule.Key, value), instead))
	j.skip(value)
	return value.start
}

// insteadOfStatus says which member to write for a status of an error, if a rule has that.
func (j *jsonReader) insteadOfStatus(key string, status jsonToken) string {
	if j.isOfExpectations || status.kind != jsonWord {
		return ""
	}
	return resolver.InsteadOfStatus(status.text, func(outcome string) string {
		return quote(key) + ": " + quote(outcome)
	})
}

// jsonObject is a value that is an object, while it is read.
type jsonObject struct {
	rule *resolver.Rule
	// seen are the members that there are, also those under another name.
	seen []*property
	// nested are the names of others whose values could be those of keys: as many as are reported.
	nested []jsonToken
}

// readObject reads a value that is an object, whose "{" stands at start.
func (j *jsonReader) readObject(rule *resolver.Rule, start resolver.Position) {
	o := jsonObject{rule: rule}
	j.readMembers(func(name jsonToken) { j.readMember(&o, name) }, func() {})
	key := quote(rule.Key)
	if o.seen == nil && o.nested != nil && !j.isValue && !j.isOfExpectations {
		first := o.nested[0].text
		j.wrong(start, "rules are not nested: write %s for the key %s in %s, or take %s and its "+
			"braces away, if it only wraps the rules", quote(rule.Key+"/"+first), quote(first), key, key)
		return
	}
	for _, name := range o.nested {
		j.reportMember(rule, name)
	}
	if !slices.Contains(o.seen, destinationProperty) {
		j.wrong(start, `the value of %s has no "to", which is the destination`, key)
	}
}

// readMember reads what an object says of its rule under a name.
func (j *jsonReader) readMember(o *jsonObject, name jsonToken) {
	p := memberNamed(name.text)
	isOwn := p != nil && p.member == name.text
	if isOwn && slices.Contains(o.seen, p) {
		j.wrong(name.at, "%q stands twice in the value of %s", name.text, quote(o.rule.Key))
	}
	value := j.nextValue()
	switch {
	case isOwn:
		j.setMember(o.rule, p, value)
	case p != nil:
		j.wrong(name.at, "the value of %s has a member %s; it is called %q here", quote(o.rule.Key),
			quote(name.text), p.member)
	case value.kind != '{' && !resolver.IsValue(value.text):
		j.reportMember(o.rule, name)
	case len(o.nested) < maxErrors:
		o.nested = append(o.nested, name)
	}
	if p != nil {
		o.seen = append(o.seen, p)
	}
	j.skip(value)
}

// reportMember reports a member that means nothing here.
func (j *jsonReader) reportMember(rule *resolver.Rule, name jsonToken) {
	j.wrong(name.at, "the value of %s has a member %s; the members are "+
		`"to", "status", "exact", "unlisted", "query" and "note"`, quote(rule.Key), quote(name.text))
}

// setMember puts the value of a member into a rule, or reports what it takes.
func (j *jsonReader) setMember(rule *resolver.Rule, p *property, value jsonToken) {
	if p.words == "" {
		j.checkText(value)
	}
	if p.setMember(rule, value) {
		return
	}
	instead := ""
	if p == statusProperty {
		instead = behind(j.insteadOfStatus(rule.Key, value))
	}
	j.wrong(value.at, "%q in the value of %s takes %s, not %s%s", p.member, quote(rule.Key), p.takes,
		kindOf(value), instead)
}

// checkText reports a string that is not Unicode text.
func (j *jsonReader) checkText(token jsonToken) {
	if token.broken {
		j.wrong(token.at, "this string %s", notUnicode)
	}
}

// skip passes over the rest of a value whose first token has been read.
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

// next reads a token where there has to be one. There is none where the reading has ended.
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

// nextValue reads the token that a value begins with.
func (j *jsonReader) nextValue() jsonToken {
	token := j.next()
	if strings.IndexByte("}],:", byte(token.kind)) >= 0 {
		j.failJSON(token, "in front of this a value is missing")
	}
	return token
}

// failJSON ends the reading at a token with which it is no JSON.
func (j *jsonReader) failJSON(token jsonToken, why string) { j.fail(notJSON(token.at, why)) }

// kindOf says in words what a token begins.
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
