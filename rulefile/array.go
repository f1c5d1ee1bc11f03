package rulefile

import (
	"bufio"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// arrayReader reads lists of redirects in JSON, as Vercel, Next.js, Mintlify, Firebase and
// Docusaurus have them. Whose a list is, its members tell.
type arrayReader struct {
	jsonReader
	t *foreignTable

	program arrayProgram
	// held are the entries, as one at the end can tell what those in front of it mean.
	held     []heldEntry
	text     lineStore
	isFound  bool // there is a list, or an entry
	hasQuery bool // a destination has one
	taken    int  // entries
	unsaid   int  // entries without a status
	internal int  // entries that Next.js has made itself
	unknown  []string
	sites    []string // of Firebase that have redirects
}

// arrayProgram is whose redirects a list has. Of those that its entries tell, the last one counts.
type arrayProgram uint8

const (
	vercel arrayProgram = iota
	vercelBulk
	nextJS
	firebase
	docusaurus
)

// arrayPrograms have for each program its name, and the status of entries that have none.
var arrayPrograms = [...]struct {
	name   string
	status int
}{
	vercel: {"Vercel", 308}, vercelBulk: {"Vercel", 307}, nextJS: {"Next.js", 308},
	firebase: {"Firebase", 301}, docusaurus: {"Docusaurus", 0},
}

// isPlain reports whether paths are no patterns.
func (p arrayProgram) isPlain() bool { return p == vercelBulk || p == docusaurus }

// readArray reads a list of redirects, a file that holds one, or an object on each line.
func readArray(t *foreignTable, r io.Reader) error {
	text, _ := withoutByteOrderMark(r)
	if begin, _ := text.Peek(256); programBegin.Match(begin) {
		return &Error{resolver.Position{Source: t.source, Line: 1, Column: 1}, "this is a program, and " +
			"no JSON; of Next.js take the routes-manifest.json of the build folder, of others write " +
			"their list of redirects as JSON"}
	}
	return newArrayReader(t, text).readFile()
}

// programBegin is what configurations in JavaScript begin with.
var programBegin = regexp.MustCompile(
	`^\s*(module\.exports|(export|import|const)\s|/\*\* @type|// @ts-check)`)

func newArrayReader(t *foreignTable, text *bufio.Reader) *arrayReader {
	a := &arrayReader{t: t}
	a.tokens = newJSONScanner(text, t.source)
	t.slashesCount = true
	return a
}

// readFile reads the whole file.
func (a *arrayReader) readFile() error {
	err := a.readValues()
	a.t.file.errs = append(a.t.file.errs, a.errs...)
	slices.SortStableFunc(a.t.file.errs, inOrder)
	a.finish()
	return err
}

// readValues reads one list or object, or objects one behind the other.
func (a *arrayReader) readValues() error {
	for first := true; ; first = false {
		token, err := a.tokens.token()
		switch {
		case err == io.EOF && !first:
			return nil
		case err != nil:
			return orTooEarly(err, a.tokens.position())
		case token.kind == '{':
			err = a.readObject(token.at, outermost)
		case token.kind == '[' && first:
			a.isFound = true
			err = a.readList(a.readEntryToken)
		case first:
			return &Error{token.at, "redirects are a list of objects, or an object with the member " +
				"\"redirects\", not " + kindOf(token)}
		default:
			return &Error{token.at, "nothing may follow the list of redirects"}
		}
		if err != nil {
			return err
		}
		if first && !a.isFound {
			a.errs.add(token.at, "there are no redirects here; they are a list of objects, or that is "+
				"the member \"redirects\" of an object, or of \"hosting\" in it; write --from json if "+
				"these are rules of shortlink")
		}
	}
}

// arrayPlace is where in a file an object stands.
type arrayPlace uint8

const (
	outermost arrayPlace = iota
	inHosting
	inList
)

// readList reads the elements of a list whose "[" has been read.
func (a *arrayReader) readList(readElement func(jsonToken) error) error {
	token, err := a.next()
	if err != nil || token.kind == ']' {
		return err
	}
	for {
		if strings.IndexByte("}],:", byte(token.kind)) >= 0 {
			return notJSON(token.at, "in front of this a value is missing")
		}
		if err := readElement(token); err != nil {
			return err
		}
		behind, err := a.next()
		if err != nil || behind.kind == ']' {
			return err
		}
		if behind.kind != ',' {
			return notJSON(behind.at, `in front of this a "," is missing`)
		}
		if token, err = a.next(); err != nil {
			return err
		}
	}
}

// readEntryToken reads an element of a list of redirects.
func (a *arrayReader) readEntryToken(token jsonToken) error {
	if err := a.errs.tooMany(token.at); err != nil {
		return err
	}
	if token.kind == '{' {
		return a.readObject(token.at, inList)
	}
	a.t.note(token.at)
	a.errs.add(token.at, "a redirect is an object with source and destination, not %s", kindOf(token))
	return a.skip(token)
}

// readObject reads an object whose "{" has been read: a redirect, or what holds a list of them.
func (a *arrayReader) readObject(at resolver.Position, place arrayPlace) error {
	e := arrayEntry{at: at}
	site, taken := "", a.taken
	err := a.readMembers(func(name jsonToken) error {
		value, err := a.nextValue()
		if err != nil {
			return err
		}
		switch {
		case place != inList && name.text == "redirects" && value.kind == '[':
			a.isFound = true
			return a.readList(a.readEntryToken)
		case place == outermost && name.text == "hosting" && value.kind == '{':
			a.tellsProgram(firebase)
			return a.readObject(value.at, inHosting)
		case place == outermost && name.text == "hosting" && value.kind == '[':
			a.tellsProgram(firebase)
			return a.readSites(value.at)
		case place == inHosting && (name.text == "target" || name.text == "site"):
			site = value.text
		case place != inList && name.text == "cleanUrls" && value.text == "false":
			return nil
		}
		return a.readEntryMember(&e, name, value)
	}, func() {})
	switch {
	case err != nil:
		return err
	case place == inList || place == outermost && e.isEntry():
		a.isFound = true
		a.take(&e)
	default:
		a.remarkMembers(e.unknown)
	}
	if place == inHosting && a.taken > taken {
		a.sites = append(a.sites, site)
	}
	return nil
}

// remarkMembers says which members beside the list make redirects, too.
func (a *arrayReader) remarkMembers(names []string) {
	if slices.ContainsFunc(names, isMadeByDocusaurus) {
		a.t.remark("fromExtensions, toExtensions and createRedirects depend on the pages that " +
			"Docusaurus builds, and are left out; write their redirects down")
	}
	others := slices.DeleteFunc(names, func(name string) bool {
		return !slices.Contains([]string{"rewrites", "routes", "cleanUrls", "trailingSlash"}, name)
	})
	if len(others) > 0 {
		a.t.remark("what leads requests elsewhere beside the redirects is left out: %s; cleanUrls and "+
			"trailingSlash make redirects of their own", quotedList(others))
	}
}

// isMadeByDocusaurus reports whether a member makes redirects of pages that are built.
func isMadeByDocusaurus(name string) bool {
	return slices.Contains([]string{"fromExtensions", "toExtensions", "createRedirects"}, name)
}

// readSites reads the sites of Firebase, of which one can have redirects.
func (a *arrayReader) readSites(at resolver.Position) error {
	err := a.readList(func(token jsonToken) error {
		if token.kind == '{' {
			return a.readObject(token.at, inHosting)
		}
		return a.skip(token)
	})
	if len(a.sites) > 1 {
		a.held, a.unsaid = nil, 0
		a.errs.add(at, "several sites have redirects: %s; convert each alone, from a file with that one "+
			"in \"hosting\"", quotedList(a.sites))
	}
	return err
}

// tellsProgram takes down whose an entry is.
func (a *arrayReader) tellsProgram(p arrayProgram) { a.program = max(a.program, p) }

// finish makes lines of all entries, and says what is true of the whole list.
func (a *arrayReader) finish() {
	a.t.lastCounts = a.program == vercelBulk
	for i, held := range a.held {
		a.held[i].text = ""
		a.addLines(held.entry(a.t.source))
	}
	t, program := a.t, arrayPrograms[a.program]
	t.defaultStatus, t.program = program.status, program.name
	switch a.program {
	case vercelBulk:
		t.defaultQuery = resolver.QueryIgnore
		t.remark("Vercel takes paths of bulk redirects in either letter case, unless an entry says " +
			"caseSensitive; the option fold case does so for a whole site")
	case nextJS:
		t.remark("Next.js takes paths in either letter case; the option fold case does so for a site")
	}
	if a.hasQuery {
		t.remark("of a parameter that both the request and a destination have, Vercel and Next.js take " +
			"the destination's, Firebase has both, and rules take the request's; the option protect q " +
			"keeps the destination's of a parameter q")
	}
	if a.internal > 0 {
		t.remark("Next.js has made some entries itself, which are marked internal; they are left out")
	}
	if len(a.unknown) > 0 {
		t.remark("members that say nothing here are passed over: %s", quotedList(a.unknown))
	}
	if a.unsaid == 0 || t.reading.Status != 0 {
		return
	}
	if t.defaultStatus == 0 {
		t.remark("the pages of Docusaurus have no status, and rules without one have 302; --status " +
			"sets another")
		return
	}
	t.remark("entries without a status have %d, as at %s; --status sets another", t.defaultStatus,
		t.program)
}

// quotedList lists names, as many as a person reads.
func quotedList(names []string) string {
	const most = 20
	var quoted []string
	for _, name := range names[:min(len(names), most)] {
		quoted = append(quoted, quote(name))
	}
	if len(names) > most {
		quoted = append(quoted, "…")
	}
	return strings.Join(quoted, ", ")
}
