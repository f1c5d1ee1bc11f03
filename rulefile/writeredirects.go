package rulefile

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/pattern"
)

// Of the lines of a _redirects file that match a path, the first wins. Of the rules of a ruleset,
// the one with the longest key does.

// writeRedirects writes rules as a _redirects file, in an order in which the first matching line is
// the right one. A rule without a status gets the default status, because a line without one has
// another.
func writeRedirects(w io.Writer, rules iter.Seq[resolver.Rule]) error {
	var errs Errors
	t := newRedirectsTable(rules)
	texts := make([]string, len(t.rules))
	for i, rule := range t.rules {
		lines, err := redirectsOf(rule.Rule)
		place := i
		if err == nil {
			place, err = t.lineIndexOf(i, lines.last)
		}
		switch {
		case err == nil && place == i:
			texts[i] = lines.text + texts[i]
		case err == nil:
			texts[place] += lines.text
		case !t.isPartOfAnother(rule.Rule):
			errs.leaveOut(rule.Rule, err)
		}
	}
	b := bufio.NewWriter(w)
	for _, text := range texts {
		b.WriteString(text)
	}
	return cmp.Or(b.Flush(), errs.orNil()) // the first error of all writes
}

// redirectsTable is rules on the way to a _redirects file.
type redirectsTable struct {
	rules   []tableRule    // exact ones for one path first, then more specific ones
	indexes map[string]int // indexes of rules, by canonical key
}

// tableRule is a rule of a table, and its parsed key, unless it is for one path only.
type tableRule struct {
	resolver.Rule
	pattern *pattern.Pattern
}

func (r *tableRule) keyPattern() *pattern.Pattern {
	if r.pattern == nil {
		return patternOf(r.Rule)
	}
	return r.pattern
}

func newRedirectsTable(rules iter.Seq[resolver.Rule]) *redirectsTable {
	t := &redirectsTable{indexes: make(map[string]int)}
	for rule := range rules {
		placed := tableRule{Rule: withStatus(rule, resolver.DefaultStatus)}
		if !rule.Exact || resolver.IsTemplate(rule.Key) {
			placed.pattern = patternOf(rule)
		}
		t.rules = append(t.rules, placed)
	}
	slices.SortStableFunc(t.rules, func(a, b tableRule) int {
		switch {
		case a.pattern != nil && b.pattern != nil:
			return a.pattern.Compare(b.pattern)
		case a.pattern != nil:
			return 1
		case b.pattern != nil:
			return -1
		}
		return 0
	})
	for i, rule := range t.rules {
		t.indexes[resolver.CanonicalKey(rule.Key, false)] = i
	}
	return t
}

// indexOf returns the index of a key's rule.
func (t *redirectsTable) indexOf(key string) (i int, ok bool) {
	i, ok = t.indexes[resolver.CanonicalKey(key, false)]
	return i, ok
}

// lineIndexOf returns the index of the rule after which to write the lines of the i-th one: after
// those for all other paths that its last line matches, whose rules are last. It returns an error
// if a line would match paths that no other rule matches, or if another line would match first.
func (t *redirectsTable) lineIndexOf(i int, last redirects.Alone) (index int, err error) {
	index = i
	for _, made := range slices.Concat(last.Own, last.Ends) {
		other, ok := t.indexOf(made.Key)
		_, hasBelow := t.indexOf(made.Key + "/{+rest}")
		switch {
		case !ok:
			return 0, fmt.Errorf("the line of a _redirects file would be a rule for %s, too; add one for "+
				"that key", made.Key)
		case !made.Exact && !hasBelow && t.rules[other].Exact:
			return 0, fmt.Errorf("the line of a _redirects file would be a rule for what is below %s, "+
				"too; add one for that", made.Key)
		}
		index = max(index, other)
	}
	own := t.rules[i].keyPattern()
	for _, other := range t.rules[i+1 : index+1] {
		if _, both := own.Overlap(other.keyPattern()); both {
			return 0, fmt.Errorf("in a _redirects file the lines of %s match what is below it, too; make "+
				"that rule exact", other.Key)
		}
	}
	return index, nil
}

// patternOf parses the key of a rule.
func patternOf(rule resolver.Rule) *pattern.Pattern {
	return pattern.Parse(resolver.CanonicalKey(rule.Key, false), rule.Exact)
}

// isPartOfAnother reports whether the line of another rule makes this rule, too: that for a path
// with a slash at its end, or for what is below a segment that begins with a text.
func (t *redirectsTable) isPartOfAnother(rule resolver.Rule) bool {
	key, isSlashed := strings.CutSuffix(rule.Key, "/")
	if !isSlashed {
		key = spanAtEnd.ReplaceAllString(rule.Key, "")
	}
	i, ok := t.indexOf(key)
	if !ok || key == rule.Key {
		return false
	}
	of := t.rules[i].Rule
	if isSlashed {
		of.Value, rule.Value = withSlash(of.Value), withSlash(rule.Value)
		of.Key, of.Exact, of.Position = rule.Key, true, rule.Position
		return of == rule
	}
	lines, err := redirectsOf(of)
	isMade := func(made resolver.Rule) bool { return isRead(made, rule) }
	return err == nil && slices.ContainsFunc(lines.last.Own, isMade)
}

// withStatus returns a rule with the status of its line. One that does not redirect has none.
func withStatus(rule resolver.Rule, byDefault int) resolver.Rule {
	if rule.Value != resolver.GoneValue && rule.Value != resolver.PassValue {
		rule.Status = cmp.Or(rule.Status, byDefault, resolver.DefaultStatus)
	}
	return rule
}

// linesOfRule are the lines for a rule.
type linesOfRule struct {
	text string
	last redirects.Alone // the rules that the last line makes
}

// addLine adds a line if it is read as the rule, or returns an error that says how it would be
// read.
func (l *linesOfRule) addLine(line string, rule resolver.Rule) error {
	const cannot = "a _redirects file cannot have it: "
	alone, err := rulesOfLine(line)
	if err != nil {
		return errors.New(cannot + err.Error())
	}
	isRule := func(read resolver.Rule) bool { return isRead(read, rule) }
	if alone.Own != nil && !slices.ContainsFunc(slices.Concat(alone.Own, alone.Instead), isRule) {
		likely := alone.Own[len(alone.Own)-1]
		return fmt.Errorf(cannot+"its line would be the rule from %q to %q", likely.Key, likely.Value)
	}
	l.text, l.last = l.text+line+"\n", alone
	return nil
}

// redirectsOf returns the lines for a rule, or an error that says why there are none.
func redirectsOf(rule resolver.Rule) (lines linesOfRule, err error) {
	if rule.Windows != "" {
		return lines, errors.New("a line is there always, and this rule has windows; write json or csv")
	}
	if err := checkInRedirects(rule); err != nil {
		return lines, err
	}
	from, to, err := withPlaceholders("/"+rule.Key, rule.Value)
	if err != nil {
		return lines, err
	}
	status := strconv.Itoa(rule.Status)
	switch rule.Value {
	case resolver.GoneValue:
		to, status = "/410", "410"
	case resolver.PassValue:
		to, status = from, "200"
		if strings.HasSuffix(from, "*") {
			to = strings.TrimSuffix(from, "*") + splat
		}
	}
	if rule.Exact || resolver.IsTemplate(rule.Key) && strings.HasSuffix(from, "*") {
		err = lines.addLine(from+" "+to+" "+status, rule)
	} else {
		err = lines.addBelow(rule, from, to, status)
	}
	return lines, err
}

// addBelow adds the lines of a rule for a path and all below it.
func (l *linesOfRule) addBelow(rule resolver.Rule, from, to, status string) error {
	path, rest := cutPath(to)
	below := strings.TrimSuffix(path, "/") + "/" + splat + rest
	switch {
	case rule.Value == resolver.GoneValue:
		below = to
	case rule.Value != resolver.PassValue:
		itself := rule
		itself.Exact, rule.Value = true, withSlash(rule.Value)
		if rule.Value == itself.Value || isHostAlone(path) {
			break
		}
		if err := l.addLine(from+" "+to+" "+status, itself); err != nil {
			return err
		}
	}
	return l.addLine(from+star+" "+below+" "+status, rule)
}

// withSlash adds a slash to the end of a destination's path, if there is none.
func withSlash(destination string) string {
	path, rest := cutPath(destination)
	return strings.TrimSuffix(path, "/") + "/" + rest
}

// isHostAlone reports whether a destination has no path, which equals "/".
func isHostAlone(path string) bool {
	return isURL(path) && strings.Count(path, "/") == len("//")
}

// withPlaceholders writes the variables of a rule as placeholders, and those that span or end
// segments as "*".
func withPlaceholders(key, value string) (from, to string, err error) {
	if !resolver.IsTemplate(key) {
		return key, value, nil
	}
	names := make(map[string]string)
	segments := strings.Split(key, "/")
	for i, segment := range segments {
		found := variableInKey.FindStringSubmatch(segment)
		if found == nil {
			continue
		}
		before, after, _ := strings.Cut(segment, found[0])
		isSpan, name := found[1] != "", found[2]
		isWhole, isEnd := before+after == "", after == "" && i == len(segments)-1
		switch {
		case isSpan && isWhole, isEnd && !isSpan && !isWhole:
			names[name] = splat
			segments[i] = before + "*"
		case isWhole:
			names[name] = ":" + name
			if dropped := strings.TrimPrefix(name, "_"); dropped != "" {
				name = dropped
			}
			segments[i] = ":" + name
		default:
			return "", "", errors.New("a _redirects file has placeholders only for whole segments, " +
				"and \"*\" after text at the end of a path")
		}
	}
	to = variableInKey.ReplaceAllStringFunc(value, func(expression string) string {
		return cmp.Or(names[strings.Trim(expression, "{+}")], expression)
	})
	from = strings.Join(segments, "/")
	if strings.ContainsAny(from+to, "{}") {
		return "", "", errors.New("a _redirects file has only variables like {name} and {+name}")
	}
	return from, to, nil
}

var (
	variableInKey = regexp.MustCompile(`\{(\+?)([A-Za-z_]\w*)\}`)
	spanAtEnd     = regexp.MustCompile(`/\{\+[A-Za-z_]\w*\}$`)
)

// checkInRedirects returns an error for a rule that no line can express.
func checkInRedirects(rule resolver.Rule) error {
	if err := checkWritable(rule); err != nil {
		return err
	}
	switch {
	case rule.Unlisted:
		return errors.New("a _redirects file has no unlisted rules")
	case rule.Note != "":
		return errors.New("a _redirects file has no notes; remove the note")
	case rule.Query != resolver.QueryDefault && !replacesQuery(rule):
		return errors.New("a _redirects file has no query modes; a line whose destination has a " +
			"query means ignore")
	case strings.ContainsAny(rule.Key+rule.Value, lineSpace+"\n"):
		return errors.New("a _redirects file has no spaces in paths and destinations; write %20")
	}
	return nil
}

// replacesQuery reports whether a rule treats queries as a line whose destination has one, or as a
// line that leads to such a line.
func replacesQuery(rule resolver.Rule) bool {
	_, rest := cutPath(rule.Value)
	return rule.Query == resolver.QueryIgnore &&
		(strings.HasPrefix(rest, "?") || strings.HasPrefix(rule.Value, "/"))
}

// rulesOfLine returns the rules of a line by itself.
func rulesOfLine(text string) (alone redirects.Alone, err error) {
	var p lineParser
	p.parse(text)
	if p.refused != nil {
		return alone, p.refused
	}
	line := p.translate(func(int) resolver.Position { return resolver.Position{} })
	if p.refused != nil {
		return alone, p.refused
	}
	return redirects.RulesAlone(line, redirects.SlashesIgnored)
}

// isRead reports whether a rule that was read equals one that was written.
func isRead(read, written resolver.Rule) bool {
	read.Position = written.Position
	return read == written || asRead(read) == asRead(written)
}

// asRead returns a rule without what a line of a _redirects file cannot express: names of variables
// and their encoding, a slash at the end of a path, and whether requests add to a query. Rules that
// lines can tell apart stay different.
func asRead(rule resolver.Rule) resolver.Rule {
	key := rule.Key
	rule.Position, rule.Query = resolver.Position{}, resolver.QueryDefault
	rule.Key = resolver.CanonicalKey(key, false)
	path, rest := cutPath(rule.Value)
	switch isTemplate := resolver.IsTemplate(key); {
	case isTemplate && strings.HasSuffix(path, "}"):
		rule.Exact = false
	case isHostAlone(path):
		rule.Value = path + "/" + rest
	}
	rule.Value = withNumbers(key, rule.Value)
	return rule
}

// withNumbers replaces the names of variables in a key and its value with numbers.
func withNumbers(key, value string) string {
	for n, found := range variableInKey.FindAllStringSubmatch(key, -1) {
		number := "{" + strconv.Itoa(n+1) + "}"
		value = strings.ReplaceAll(value, "{"+found[2]+"}", number)
		value = strings.ReplaceAll(value, "{+"+found[2]+"}", number)
	}
	return value
}

// cutPath splits a destination after its path.
func cutPath(destination string) (path, rest string) {
	if i := strings.IndexAny(destination, "?#"); i >= 0 {
		return destination[:i], destination[i:]
	}
	return destination, ""
}
