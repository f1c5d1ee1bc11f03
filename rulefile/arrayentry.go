package rulefile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// arrayEntry is an object of a list of redirects.
type arrayEntry struct {
	at          resolver.Position
	sources     []string
	destination string
	seen        []string // its members, but for those that are not known
	unknown     []string
	// status is that of statusCode or type, permanent 308, 307, or 0 where the entry has none.
	status, permanent int
	query             resolver.QueryMode // what bulk redirects say of parameters of the request
	isInternal        bool
	isGlob            bool // it has what Firebase alone has
	wrong             []string
	refused           string // why it has no equivalent
}

// isEntry reports whether an object is a redirect.
func (e *arrayEntry) isEntry() bool {
	is := func(name string) bool {
		return slices.Contains([]string{"source", "from", "glob", "destination", "to"}, name)
	}
	return slices.ContainsFunc(e.seen, is)
}

// readEntryMember reads the value of a member of an entry.
func (a *arrayReader) readEntryMember(e *arrayEntry, name, value jsonToken) error {
	if slices.Contains(e.seen, name.text) {
		e.wrong = append(e.wrong, quote(name.text)+" stands twice")
	}
	want, isKnown := "", true
	switch name.text {
	case "source", "glob", "from":
		return a.readSources(e, name, value)
	case "destination", "to":
		e.destination, want = value.text, e.checkString(value)
	case "permanent":
		want = "true or false"
		if is, ok := truth(value); ok {
			want, e.permanent = "", 307
			if is {
				e.permanent = 308
			}
		}
	case "statusCode", "type", "status":
		want = e.readStatus(value)
		e.isGlob = e.isGlob || name.text == "type"
	case "has", "missing":
		return a.readConditions(e, name, value)
	case "env":
		e.refuse("a rule has no \"env\", as its destination does not depend on the server's settings")
	case "regex":
		e.seen = append(e.seen, name.text)
		return a.skip(value)
	default:
		want, isKnown = e.readTruth(name.text, value)
	}
	if isKnown {
		e.seen = append(e.seen, name.text)
	} else {
		e.unknown = append(e.unknown, name.text)
	}
	if want != "" {
		e.wrong = append(e.wrong, fmt.Sprintf("%q takes %s, not %s", name.text, want, kindOf(value)))
	}
	return a.skip(value)
}

// readTruth reads the value of a member that is true or false.
func (e *arrayEntry) readTruth(name string, value jsonToken) (want string, isKnown bool) {
	names := []string{"basePath", "locale", "internal", "caseSensitive", "sensitive", "query",
		"preserveQueryParams"}
	if !slices.Contains(names, name) {
		return "", false
	}
	is, ok := truth(value)
	if !ok {
		return "true or false", true
	}
	switch name {
	case "internal":
		e.isInternal = is
	case "query", "preserveQueryParams":
		if e.query = resolver.QueryIgnore; is {
			e.query = resolver.QueryPreserve
		}
	}
	return "", true
}

func (e *arrayEntry) refuse(why string) { e.refused = cmp.Or(e.refused, why) }

// checkString says what a member takes whose value is no good text.
func (e *arrayEntry) checkString(value jsonToken) (want string) {
	switch {
	case value.kind != jsonString:
		return "a string"
	case value.broken:
		e.wrong = append(e.wrong, "a string "+notUnicode)
	case hasMarks(value.text):
		e.wrong = append(e.wrong, "a string holds control characters; remove them")
	}
	return ""
}

// readStatus reads the value of a member that is a status.
func (e *arrayEntry) readStatus(value jsonToken) (want string) {
	code, ok := statusCode(value.text)
	if e.status = code; ok && value.kind == jsonWord {
		return ""
	}
	if code >= 100 && code <= 999 && value.kind == jsonWord {
		e.status = 0
		e.refuse(errNoStatus(code).Error())
		return ""
	}
	e.status = 0
	return statusCodes
}

// errNoStatus is why an entry with a status is refused that rules do not have.
func errNoStatus(code int) error {
	instead := "write " + statusCodes
	switch {
	case code == 410:
		instead = "write a rule to gone"
	case code >= 400:
		instead = "use Caddy's error"
	case code >= 200 && code < 300:
		instead = "use Caddy's rewrite or reverse_proxy"
	}
	return fmt.Errorf("a rule has no status %d; %s", code, instead)
}

// readSources reads a path, or a list of them.
func (a *arrayReader) readSources(e *arrayEntry, name, value jsonToken) error {
	e.seen = append(e.seen, name.text)
	e.isGlob = e.isGlob || name.text == "glob"
	add := func(value jsonToken) error {
		if want := e.checkString(value); want != "" {
			e.wrong = append(e.wrong, fmt.Sprintf("%q takes a path, not %s", name.text, kindOf(value)))
			return a.skip(value)
		}
		e.sources = append(e.sources, value.text)
		return nil
	}
	if value.kind != '[' || name.text != "from" {
		return add(value)
	}
	return a.readList(add)
}

// readConditions reads conditions. Of these a rule can have one: the host, if it is the site's.
func (a *arrayReader) readConditions(e *arrayEntry, name, value jsonToken) error {
	e.seen = append(e.seen, name.text)
	if value.kind != '[' {
		e.wrong = append(e.wrong, fmt.Sprintf("%q takes a list, not %s", name.text, kindOf(value)))
		return a.skip(value)
	}
	var kinds, hosts []string
	err := a.readList(func(token jsonToken) error {
		if token.kind != '{' {
			kinds = append(kinds, "")
			return a.skip(token)
		}
		kind, host := "", ""
		err := a.readMembers(func(name jsonToken) error {
			value, err := a.nextValue()
			if err != nil {
				return err
			}
			switch name.text {
			case "type":
				kind = value.text
			case "value":
				host = value.text
			}
			return a.skip(value)
		}, func() {})
		kinds, hosts = append(kinds, kind), append(hosts, host)
		return err
	})
	if err != nil || len(kinds) == 0 {
		return err
	}
	isHost := len(kinds) == 1 && kinds[0] == "host" && name.text == "has"
	switch {
	case isHost && isHostOf(a.t.reading.Hosts, strings.ReplaceAll(hosts[0], `\.`, ".")):
		a.t.approximate(e.at, "the redirect is for the host "+quote(hosts[0])+" alone, and the rule for "+
			"every host of the site")
	case isHost:
		e.refuse(errOtherHost(hosts[0]).Error())
	default:
		e.refuse("a rule has no condition " + quote(name.text) + " (" + cmp.Or(kinds[0], "?") +
			"); use Caddy's redir with a matcher")
	}
	return nil
}

// take takes in an entry that has been read.
func (a *arrayReader) take(e *arrayEntry) {
	a.taken++
	a.tellsProgram(e.program())
	for _, name := range e.unknown {
		if !slices.Contains(a.unknown, name) && len(a.unknown) <= 20 {
			a.unknown = append(a.unknown, name)
		}
	}
	switch {
	case len(e.sources) > 0 || len(e.wrong) > 0 && e.has("source", "glob", "from"):
	case e.has("regex"):
		e.refuse("a rule's path is no regular expression; " + insteadOfExpression)
	default:
		e.wrong = append(e.wrong, `it has no "source", which is the path`)
	}
	if !e.has("destination", "to") {
		e.wrong = append(e.wrong, `it has no "destination"`)
	}
	for _, wrong := range e.wrong {
		a.errs.add(e.at, "redirect of %s: %s", quote(strings.Join(e.sources, " ")), wrong)
	}
	switch {
	case len(e.wrong) > 0:
		a.t.note(e.at)
	case e.isInternal:
		a.t.note(e.at)
		a.internal++
	default:
		a.hold(e)
	}
}

// has reports whether an entry has one of some members.
func (e *arrayEntry) has(names ...string) bool {
	return slices.ContainsFunc(e.seen, func(name string) bool { return slices.Contains(names, name) })
}

// program returns whose entry it is.
func (e *arrayEntry) program() arrayProgram {
	switch {
	case e.has("from"):
		return docusaurus
	case e.isGlob:
		return firebase
	case e.has("basePath", "locale", "internal"):
		return nextJS
	case e.has("caseSensitive", "sensitive", "query", "preserveQueryParams"):
		return vercelBulk
	}
	return vercel
}

// heldEntry is an entry until all have been read: destination, reason to refuse it, two statuses,
// the query mode and the sources, with zero bytes between them.
type heldEntry struct {
	text         string
	line, column int32
}

// hold keeps an entry until it is known whose it is.
func (a *arrayReader) hold(e *arrayEntry) {
	if e.status == 0 && e.permanent == 0 {
		a.unsaid++
	}
	fields := []string{e.destination, e.refused, strconv.Itoa(e.status), strconv.Itoa(e.permanent),
		strconv.Itoa(int(e.query))}
	text := a.text.keep([]byte(strings.Join(append(fields, e.sources...), "\x00")))
	a.held = append(a.held, heldEntry{text, int32(e.at.Line), int32(e.at.Column)})
}

// entry returns the entry that is held.
func (h heldEntry) entry(source string) *arrayEntry {
	at := resolver.Position{Source: source, Line: int(h.line), Column: int(h.column)}
	fields := strings.Split(h.text, "\x00")
	e := &arrayEntry{at: at, destination: fields[0], refused: fields[1]}
	e.status, _ = strconv.Atoi(fields[2])
	e.permanent, _ = strconv.Atoi(fields[3])
	query, _ := strconv.Atoi(fields[4])
	e.query = resolver.QueryMode(query)
	if fields = fields[5:]; len(fields) > 0 {
		e.sources = fields
	}
	return e
}

// addLines adds the lines of an entry.
func (a *arrayReader) addLines(e *arrayEntry) {
	line := foreignLine{at: e.at, status: a.statusOf(e), query: a.queryOf(e)}
	if err := checkDestination(e.destination); err != nil {
		e.refuse(err.Error())
	}
	if a.program == vercel && e.status != 0 && e.permanent != 0 {
		e.refuse("Vercel takes no entry with both \"permanent\" and \"statusCode\"; remove one of " +
			"the two")
	}
	if len(e.sources) == 0 {
		a.t.refuse(e.at, "", e.refused)
	}
	for _, source := range e.sources {
		patterns, err := a.patternsOf(e, source)
		if err != nil {
			a.t.refuse(e.at, "", err.Error())
		}
		for i := range patterns {
			unknown := a.addPattern(e, line, &patterns[i])
			if i == 0 { // they have the same variables
				a.warnOfUnknown(e, unknown)
			}
		}
	}
}

// addPattern adds the line for a path of an entry. It returns what in the destination looks like a
// variable, and is none of the path's.
func (a *arrayReader) addPattern(
	e *arrayEntry, line foreignLine, pattern *pathPattern,
) (unknown string) {
	line.path = pattern.path
	line.to, line.itself, unknown = pattern.destination(e.destination)
	if e.refused != "" {
		a.t.refuse(e.at, line.path, e.refused)
	} else {
		a.t.add(line)
	}
	return unknown
}

// warnOfUnknown says what in a destination looks like a variable; "" for nothing.
func (a *arrayReader) warnOfUnknown(e *arrayEntry, unknown string) {
	if unknown == "" || a.program.isPlain() || unknown[0] == '$' && a.program != vercel {
		return
	}
	a.t.approximate(e.at, unknown+" stands for nothing, as the path does not have it, and stays "+
		"as it is in the destination")
}

// statusOf returns the status of an entry, 0 for none.
func (a *arrayReader) statusOf(e *arrayEntry) int {
	return cmp.Or(e.status, e.permanent)
}

// queryOf returns what an entry does with queries: but for bulk redirects and Docusaurus, that of
// the request goes along also to a destination that has one.
func (a *arrayReader) queryOf(e *arrayEntry) resolver.QueryMode {
	switch {
	case a.program == vercelBulk:
		return cmp.Or(e.query, a.t.reading.Query)
	case a.program == docusaurus && strings.ContainsAny(e.destination, "?#"):
		return resolver.QueryIgnore
	case !hasQuery(e.destination):
		return resolver.QueryDefault
	}
	a.hasQuery = true
	return cmp.Or(a.t.reading.Query, resolver.QueryPreserve)
}

// patternsOf takes the path of an entry apart. Of the patterns that take a request, the first
// counts.
func (a *arrayReader) patternsOf(e *arrayEntry, source string) ([]pathPattern, error) {
	if host, path, isURL := cutHost(source); isURL {
		if !isHostOf(a.t.reading.Hosts, host) {
			return nil, errOtherHost(host)
		}
		source = path
	}
	if a.program == firebase && source != "" && source[0] != '/' {
		source = "/" + source
	}
	switch isPlain := a.program.isPlain(); {
	case isPlain && strings.ContainsAny(source, "*()"):
		return nil, errors.New("what stands in a path here is taken as it is, and no request has " +
			"such a path")
	case isPlain:
		return onePattern(pathPattern{path: source}, checkPlainPath(source))
	case a.program == firebase && !strings.Contains(e.destination, "/:"):
		return onePattern(globPattern(source))
	}
	return parsePathPatterns(source)
}
