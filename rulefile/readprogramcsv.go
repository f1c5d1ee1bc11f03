package rulefile

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// programTable reads a table that another program has written. As a host counts only if all lines
// have the same, they are held until all have been read.
type programTable struct {
	t       *foreignTable
	rows    *csvReader
	program *csvProgram
	columns []programColumn
	held    []heldLine
	// host is the first one that is not the site's, and isSeveral tells that there are others.
	host      string
	isSeveral bool
}

// heldLine is a line, behind its host ("" for none, or the site's) and a zero byte.
type heldLine struct {
	text   string
	number int32
}

// readProgramCSV reads the rest of a table whose first row has been read.
func (o Reading) readProgramCSV(
	rows *csvReader, p *csvProgram, columns []programColumn, first []string, hasHeader bool,
	source string, add func(resolver.Rule),
) ([]resolver.Warning, error) {
	table := programTable{rows: rows, program: p, columns: columns}
	read := func(t *foreignTable, _ io.Reader) error {
		table.t = t
		t.program, t.slashesCount, t.defaultStatus = p.name, p.slashesCount, p.status
		t.lastCounts = p.lastCounts
		t.remark("this is read as a table of %s", p.name)
		for _, remark := range p.remarks {
			t.remark("%s", remark)
		}
		if hasHeader {
			table.remarkOthers(first)
		} else {
			table.take(first)
		}
		return table.readRows()
	}
	return o.readForeign(nil, read, source, add)
}

// remarkOthers says which columns say nothing here.
func (p *programTable) remarkOthers(header []string) {
	var others []string
	for i, column := range p.columns {
		if column == otherColumn && header[i] != "" {
			others = append(others, strings.Clone(header[i]))
		}
	}
	if len(others) > 0 {
		p.t.remark("columns that say nothing here are passed over: %s", quotedList(others))
	}
}

// readRows reads all rows.
func (p *programTable) readRows() error {
	for {
		row, err := p.rows.next()
		if err != nil {
			p.release()
			p.t.file.errs = append(p.t.file.errs, p.rows.errs...)
			slices.SortStableFunc(p.t.file.errs, inOrder)
			return err
		}
		p.take(row)
	}
}

// take takes in a row.
func (p *programTable) take(row []string) {
	r := programRow{at: p.rows.lines.position(1), program: p.program}
	for i, field := range row[:min(len(row), len(p.columns))] {
		if err := checkText(field); err != nil {
			r.wrong = err
		} else if hasMarks(field) {
			r.wrong = errors.New("the row holds control characters; remove them")
		}
		r.set(p.columns[i], strings.TrimSpace(field))
	}
	for _, field := range row[min(len(row), len(p.columns)):] {
		if field != "" {
			r.wrong = errors.New(quote(field) + " stands behind the last column; put a field with what " +
				"separates columns into quotation marks")
		}
	}
	line := r.line(p.t.reading)
	switch {
	case r.wrong != nil:
		p.t.note(r.at)
		p.rows.errs.add(r.at, "%s", r.wrong)
	case r.isDisabled:
		p.t.drop(r.at, "the redirect is disabled in "+p.program.name)
	case r.refused != "":
		p.t.refuse(r.at, "", r.refused)
	default:
		p.hold(line, r.host)
		if r.goesOn != staysExact {
			p.t.goOn(r.at.Line, r.goesOn)
		}
	}
}

// hold keeps a line until all hosts are known.
func (p *programTable) hold(line foreignLine, host string) {
	switch {
	case slices.Contains(p.t.reading.Hosts, host):
		host = ""
	case p.host == "":
		p.host = strings.Clone(host)
	}
	p.isSeveral = p.isSeveral || host != "" && host != p.host
	if line.status == 0 {
		line.status = p.t.reading.Status
	}
	text := p.t.text.keep([]byte(host + "\x00" + line.encode("")))
	p.held = append(p.held, heldLine{text, int32(line.at.Line)})
}

// release passes on the lines that have been held.
func (p *programTable) release() {
	isOne := p.host != "" && !p.isSeveral && len(p.t.reading.Hosts) == 0
	if isOne {
		p.t.remark("all keys with a host have %s, which is left out", quote(p.host))
	}
	for i, held := range p.held {
		at := resolver.Position{Source: p.t.source, Line: int(held.number), Column: 1}
		p.held[i].text = ""
		host, text, _ := strings.Cut(held.text, "\x00")
		if host == "" || isOne {
			p.t.note(at)
			p.t.storeText(text, int(held.number))
			continue
		}
		line, _ := decodeForeign(text)
		p.t.refuse(at, line.path, errOtherHost(host).Error())
	}
	p.held = nil
}

// programRow is a row of a table of another program.
type programRow struct {
	at                      resolver.Position
	program                 *csvProgram
	key, link, host         string
	destination             string
	status, kind            string
	isPermanent, isDisabled bool
	saysQuery               resolver.QueryMode // resolver.QueryDefault for nothing
	isSubpath, keepsSuffix  bool
	goesOn                  goingOn
	refused                 string
	wrong                   error
}

// set takes in a field.
func (r *programRow) set(column programColumn, field string) {
	switch column {
	case programKey:
		r.key = field
	case programLink:
		if r.link == "" {
			r.link = field
		}
	case programHost:
		if field != "" {
			r.setHost(field)
		}
	case programDestination:
		r.destination = field
	case programStatus:
		r.status = field
	case programType:
		r.kind = strings.ToLower(field)
	case programState:
		r.isDisabled = strings.EqualFold(field, "disabled")
	case programRegex, programFormat:
		if field != "" && field != "0" && !strings.EqualFold(field, "plain") {
			r.refused = "a rule's path is no regular expression; write path and destination into a map " +
				"in YAML for --from yaml, or use Caddy's redir with a path_regexp matcher"
		}
	case programSubdomains:
		if r.isTrue(field) {
			r.refused = "a rule has no host, and none of its subdomains; write a row for each"
		}
	case programPermanent:
		r.isPermanent = r.isTrue(field)
	case programQuery:
		if r.isTrue(field) {
			r.saysQuery = resolver.QueryPreserve
		} else if field != "" {
			r.saysQuery = resolver.QueryIgnore
		}
	case programSubpath:
		r.isSubpath = r.isTrue(field)
	case programSuffix:
		r.keepsSuffix = r.isTrue(field)
	}
}

// isTrue reports what a field of true or false says.
func (r *programRow) isTrue(field string) bool {
	switch strings.ToLower(field) {
	case "true", "t":
		return true
	case "false", "f", "":
		return false
	}
	r.wrong = errors.New("this column holds true or false, not " + quote(field))
	return false
}

// line makes a line of the row, or says why it has none.
func (r *programRow) line(reading Reading) (line foreignLine) {
	line.at = r.at
	line.path = r.path()
	line.to = r.target()
	if r.wrong == nil && r.refused == "" {
		r.setStatus(&line)
	}
	if r.wrong != nil || r.refused != "" {
		return line
	}
	if err := checkDestination(line.to); err != nil && line.answer == leads {
		r.refused = err.Error()
	}
	if err := checkPlainPath(line.path); err != nil {
		r.refused = err.Error()
	} else if strings.ContainsAny(line.path, "*") || strings.Contains(line.to, "$1") {
		r.refused = "a row of " + r.program.name + " has no \"*\" and \"$1\", and is for a path alone; " +
			insteadOfExpression
	}
	line.query = cmp.Or(r.saysQuery, reading.Query, r.query(line.to))
	if r.isSubpath {
		if r.goesOn = swallows; r.keepsSuffix {
			r.goesOn = appends
		}
	}
	return line
}

// query returns what a row that does not say it does with the query of a request.
func (r *programRow) query(to string) resolver.QueryMode {
	if r.program.query == resolver.QueryMerge && !hasQuery(to) {
		return resolver.QueryDefault
	}
	return r.program.query
}

// path returns the path of a key, and takes in its host.
func (r *programRow) path() string {
	text := r.link
	isLink := text != "" || r.program.isLink
	if text == "" {
		text = r.key
	}
	switch host, path, hasScheme := cutHost(text); {
	case text == "" || text == "/":
		r.refused = "the row has no key"
	case hasScheme:
		r.setHost(host)
		return path
	case isLink:
		host, path, _ := strings.Cut(text, "/")
		r.setHost(host)
		return "/" + path
	case text[0] == '/':
		return text
	}
	return "/" + text
}

// setHost takes in the host of a link.
func (r *programRow) setHost(host string) {
	name, err := weburl.ParseHost(host)
	if err != nil {
		r.refused = quote(host) + " is the name of no host; write the key as a path"
		return
	}
	r.host = name
}

// target returns the destination. Dub writes a "'" in front of what a spreadsheet would compute.
func (r *programRow) target() string {
	rest, is := strings.CutPrefix(r.destination, "'")
	if is && rest != "" && strings.IndexByte("=+-@", rest[0]) >= 0 {
		return rest
	}
	return r.destination
}

// setStatus gives the line its status, or makes it one that is gone.
func (r *programRow) setStatus(line *foreignLine) {
	number, _ := strconv.Atoi(r.status)
	switch code, ok := statusCode(r.status); {
	case r.kind != "" && r.kind != "url" && r.kind != "error":
		r.refused = "a rule leads somewhere by a redirect, and not by " + quote(r.kind) +
			"; use Caddy's rewrite or respond"
	case r.status == "410":
		line.answer, line.to = gone, ""
	case ok:
		line.status = code
	case r.status == "" && r.isPermanent:
		line.status = 308
	case r.status == "":
	case number >= 200 && number < 600:
		r.refused = errNoStatus(number).Error()
	default:
		r.wrong = errors.New("the status is " + statusCodes + ", not " + quote(r.status))
	}
}
