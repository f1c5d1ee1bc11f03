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
	j := newJSONReader(r, source, &ruleWords)
	j.add, j.tokens.lends, j.isExact = add, o.Lends, o.isExact()
	return j.result(j.read())
}

// newJSONReader returns a reader without an add.
func newJSONReader(r io.Reader, source string, words *jsonWords) *jsonReader {
	return &jsonReader{tokens: newJSONScanner(r, source), words: words}
}

// jsonWords is what errors call that which is read.
type jsonWords struct {
	all    string // all members
	object string // what they are
	value  string // what to write for the value of one
}

var (
	ruleWords = jsonWords{
		"rules", "rules are an object from key to destination",
		`write the destination as a string, or as an object {"to": "…"}`,
	}
	expectationWords = jsonWords{
		"expectations",
		"expectations are an object from request path to destination, pass, gone or error",
		`write a destination, "pass" or "error" as a string`,
	}
)

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

// ReadExpectations reads what is expected of requests, an object from request path to destination,
// "pass" or "error". It is [ReadJSON] with errors that say so.
func ReadExpectations(r io.Reader, source string, add func(resolver.Rule)) error {
	j := newJSONReader(r, source, &expectationWords)
	j.add = add
	return j.result(j.read())
}

// ReadJSONValue reads the value of a member of an object of rules, and returns the key's rule. The
// error is of type [Errors] or the reader's own.
func ReadJSONValue(r io.Reader, source, key string) (resolver.Rule, error) {
	j := newJSONReader(r, source, &ruleWords)
	j.isValue = true
	rule := resolver.Rule{Key: key}
	_, err := j.readValue(&rule)
	if err == nil {
		err = j.end("the value")
	}
	return rule, j.result(err)
}

// result returns everything that is wrong. end is what ended the reading, nil at the end.
func (j *jsonReader) result(end error) error {
	slices.SortStableFunc(j.errs, inOrder) // that a member is missing is known at the object's end
	return j.errs.withEnd(cmp.Or(end, io.EOF))
}

// jsonReader reads one object of rules. Its methods return an error only for what
// ends the reading; whatever can be got over is put into errs.
type jsonReader struct {
	tokens *jsonScanner
	add    func(resolver.Rule)
	errs   Errors
	words  *jsonWords
	// isValue is set where a value is read without the object around it.
	isValue bool
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

// read reads the whole input, unless it has another object for each link.
func (j *jsonReader) read() error {
	begin, _ := j.tokens.r.Peek(j.tokens.r.Size())
	if j.isOfRules() && isObjectPerLink(begin) {
		return &Error{resolver.Position{Source: j.tokens.source, Line: 1, Column: 1}, objectPerLink}
	}
	return j.readAll()
}

// readAll reads an object of rules, and to the end of the input.
func (j *jsonReader) readAll() error {
	start, err := j.next()
	switch {
	case err != nil:
		return err
	case start.kind == '[' && j.isOfRules():
		return &Error{start.at, j.words.object + ", not an array; a list of redirects, such as " +
			"Vercel's, is converted with --from array"}
	case start.kind != '{':
		return &Error{start.at, j.words.object + ", not " + kindOf(start)}
	}
	j.open = j.tokens.offset - 1
	if err := j.readMembers(j.readRule, j.readPlainRules); err != nil {
		return err
	}
	j.close = j.tokens.offset - 1
	return j.end("the object of " + j.words.all)
}

// isOfRules tells that it is rules that are read.
func (j *jsonReader) isOfRules() bool { return j.words == &ruleWords }

// end reads to the end of the input, where nothing may be any more.
func (j *jsonReader) end(of string) error {
	extra, err := j.tokens.token()
	switch {
	case err == io.EOF:
		return nil
	case err != nil:
		return err
	}
	return &Error{extra.at, "nothing may follow " + of}
}

// readMembers reads the members of an object whose "{" has been read. It calls readValue behind
// each name and its ":", and readOn, which may read some more, behind each ",".
func (j *jsonReader) readMembers(readValue func(name jsonToken) error, readOn func()) error {
	name, err := j.next()
	if err != nil || name.kind == '}' {
		return err
	}
	for {
		if name.kind != jsonString {
			return notJSON(name.at, "a name in quotation marks belongs here, not "+kindOf(name))
		}
		colon, err := j.next()
		if err != nil {
			return err
		}
		if colon.kind != ':' {
			return notJSON(colon.at, `in front of this a ":" is missing`)
		}
		if err := readValue(name); err != nil {
			return err
		}
		behind, err := j.next()
		if err != nil || behind.kind == '}' {
			return err
		}
		if behind.kind != ',' {
			return notJSON(behind.at, `in front of this a "," is missing`)
		}
		readOn()
		if name, err = j.next(); err != nil {
			return err
		}
		if name.kind == '}' {
			return notJSON(name.at, `there is a "," too much in front of this "}"`)
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
func (j *jsonReader) readRule(key jsonToken) error {
	errsBefore := len(j.errs)
	j.checkText(key)
	rule := resolver.Rule{Key: key.text, Position: key.at, Exact: j.isExact}
	value, err := j.readValue(&rule)
	if err != nil {
		return err
	}
	j.span = memberSpan{key.start, key.end, value, j.tokens.offset}
	if len(j.errs) == errsBefore {
		j.add(rule)
	}
	return j.errs.tooMany(j.tokens.position())
}

// readValue reads the value of rule's key into it, and returns where in the input it begins.
func (j *jsonReader) readValue(rule *resolver.Rule) (start int, err error) {
	value, err := j.nextValue()
	if err != nil {
		return 0, err
	}
	start = value.start
	switch value.kind {
	case jsonString:
		j.checkText(value)
		rule.Value = value.text
		return start, nil
	case '{':
		return start, j.readObject(rule, value.at)
	}
	j.errs.add(value.at, "the value of %s is %s: %s", quote(rule.Key), kindOf(value),
		cmp.Or(j.insteadOfStatus(rule.Key, value), j.words.value))
	return start, j.skip(value)
}

// insteadOfStatus says which member to write for a status of an error, if a rule has that.
func (j *jsonReader) insteadOfStatus(key string, status jsonToken) string {
	if !j.isOfRules() || status.kind != jsonWord {
		return ""
	}
	return resolver.InsteadOfStatus(status.text, func(outcome string) string {
		return quote(key) + ": " + quote(outcome)
	})
}

// readObject reads a value that is an object, whose "{" stands at start.
func (j *jsonReader) readObject(rule *resolver.Rule, start resolver.Position) error {
	o := jsonObject{rule: rule}
	err := j.readMembers(func(name jsonToken) error {
		if err := j.errs.tooMany(name.at); err != nil {
			return err
		}
		return j.readMember(&o, name)
	}, func() {})
	if err == nil {
		j.checkObject(&o, start)
	}
	return err
}

// checkObject reports what is wrong with an object, which begins at start, as a whole.
func (j *jsonReader) checkObject(o *jsonObject, start resolver.Position) {
	key := quote(o.rule.Key)
	if o.seen == nil && o.nested != nil && !j.isValue && j.isOfRules() {
		first := o.nested[0].text
		j.errs.add(start, "rules are not nested: write %s for the key %s in %s, or take %s and its "+
			"braces away, if it only wraps the rules", quote(o.rule.Key+"/"+first), quote(first), key, key)
		return
	}
	for _, name := range o.nested {
		j.reportMember(o.rule, name)
	}
	if !slices.Contains(o.seen, destinationProperty) {
		j.errs.add(start, `the value of %s has no "to", which is the destination`, key)
	}
}

// jsonObject is a value that is an object, while it is read.
type jsonObject struct {
	rule *resolver.Rule
	// seen are the members that there are, also those under another name.
	seen []*property
	// nested are the names of others whose values could be those of keys: as many as are reported.
	nested []jsonToken
}

// reportMember reports a member that means nothing here.
func (j *jsonReader) reportMember(rule *resolver.Rule, name jsonToken) {
	j.errs.add(name.at, "the value of %s has a member %s; the members are "+
		`"to", "status", "exact", "unlisted", "query" and "note"`, quote(rule.Key), quote(name.text))
}

// readMember reads what an object says of its rule under a name.
func (j *jsonReader) readMember(o *jsonObject, name jsonToken) error {
	p := memberNamed(name.text)
	if p != nil && slices.Contains(o.seen, p) {
		j.errs.add(name.at, "%q stands twice in the value of %s", name.text, quote(o.rule.Key))
	}
	value, err := j.nextValue()
	if err != nil {
		return err
	}
	if p != nil {
		j.setMember(o.rule, p, value)
	} else if p = memberMeant(name.text); p != nil {
		j.errs.add(name.at, "the value of %s has a member %s; it is called %q here", quote(o.rule.Key),
			quote(name.text), p.member())
	}
	switch {
	case p != nil:
		o.seen = append(o.seen, p)
	case value.kind != '{' && !resolver.IsValue(value.text):
		j.reportMember(o.rule, name)
	case len(o.nested) < maxErrors:
		o.nested = append(o.nested, name)
	}
	return j.skip(value)
}

// setMember puts the value of a member into a rule, or reports what it takes.
func (j *jsonReader) setMember(rule *resolver.Rule, p *property, value jsonToken) {
	if p.words == "" {
		j.checkText(value)
	}
	want, ok := p.setMember(rule, value)
	if ok {
		return
	}
	instead := ""
	if p == statusProperty {
		instead = behind(j.insteadOfStatus(rule.Key, value))
	}
	j.errs.add(value.at, "%q in the value of %s takes %s, not %s%s",
		p.member(), quote(rule.Key), want, kindOf(value), instead)
}

// checkText reports a string that is no Unicode text.
func (j *jsonReader) checkText(token jsonToken) {
	if token.broken {
		j.errs.add(token.at, "this string %s", notUnicode)
	}
}

// skip passes over the rest of a value whose first token has been read.
func (j *jsonReader) skip(value jsonToken) (err error) {
	for depth := 0; ; {
		switch value.kind {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if depth == 0 {
			return nil
		}
		if value, err = j.next(); err != nil {
			return err
		}
	}
}

// next reads a token where there has to be one.
func (j *jsonReader) next() (jsonToken, error) {
	token, err := j.tokens.token()
	if err != nil {
		return token, orTooEarly(err, j.tokens.position())
	}
	return token, nil
}

// nextValue reads the token that a value begins with.
func (j *jsonReader) nextValue() (jsonToken, error) {
	token, err := j.next()
	if err == nil && strings.IndexByte("}],:", byte(token.kind)) >= 0 {
		return token, notJSON(token.at, "in front of this a value is missing")
	}
	return token, err
}

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
