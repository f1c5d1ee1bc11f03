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

// Of the lines of a _redirects file that match a path, the first wins; of the rules of a ruleset,
// that with the longest key.

// writeRedirects writes rules as a _redirects file, in an order in which the first line that
// matches is the right one. A rule without a status gets the one that it has by default, as a line
// without one means something else.
func writeRedirects(w io.Writer, rules iter.Seq[resolver.Rule]) error {
	var errs Errors
	t := newRedirectsTable(rules)
	texts := make([]string, len(t.rules))
	for i, rule := range t.rules {
		lines, err := redirectsOf(rule.Rule)
		place := i
		if err == nil {
			place, err = t.placeOf(i, lines.last)
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
	if err := b.Flush(); err != nil { // the first error of all that was written
		return err
	}
	return errs.orNil()
}

// redirectsTable is what becomes of rules in a _redirects file.
type redirectsTable struct {
	rules  []placedRule   // those for one path alone first, then the more specific ones
	places map[string]int // where they stand, by canonical key
}

// placedRule is a rule of a table, and its key taken apart, unless it is for one path alone.
type placedRule struct {
	resolver.Rule
	pattern *pattern.Pattern
}

func (r *placedRule) keyPattern() *pattern.Pattern {
	if r.pattern == nil {
		return patternOf(r.Rule)
	}
	return r.pattern
}

func newRedirectsTable(rules iter.Seq[resolver.Rule]) *redirectsTable {
	t := &redirectsTable{places: make(map[string]int)}
	for rule := range rules {
		placed := placedRule{Rule: withStatus(rule, resolver.DefaultStatus)}
		if !rule.Exact || resolver.IsTemplate(rule.Key) {
			placed.pattern = patternOf(rule)
		}
		t.rules = append(t.rules, placed)
	}
	slices.SortStableFunc(t.rules, func(a, b placedRule) int {
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
		t.places[resolver.CanonicalKey(rule.Key, false)] = i
	}
	return t
}

// place returns where the rule of a key stands.
func (t *redirectsTable) place(key string) (place int, ok bool) {
	place, ok = t.places[resolver.CanonicalKey(key, false)]
	return place, ok
}

// placeOf returns behind which rule the lines of the i-th one go, of which last are the rules of
// the last one: behind those of the other paths that it would take. It refuses lines that take what
// no other rule says, and those in front of which others would take theirs.
func (t *redirectsTable) placeOf(i int, last redirects.Alone) (place int, err error) {
	place = i
	for _, made := range slices.Concat(last.Own, last.Ends) {
		other, ok := t.place(made.Key)
		_, hasBelow := t.place(made.Key + "/{+rest}")
		switch {
		case !ok:
			return 0, fmt.Errorf("the line of a _redirects file would be a rule for %s, too; add one for "+
				"that key", made.Key)
		case !made.Exact && !hasBelow && t.rules[other].Exact:
			return 0, fmt.Errorf("the line of a _redirects file would be a rule for what is below %s, "+
				"too; add one for that", made.Key)
		}
		place = max(place, other)
	}
	own := t.rules[i].keyPattern()
	for _, other := range t.rules[i+1 : place+1] {
		if _, both := own.Overlap(other.keyPattern()); both {
			return 0, fmt.Errorf("in a _redirects file the lines of %s take what is below it, too; make "+
				"that rule exact", other.Key)
		}
	}
	return place, nil
}

// patternOf takes the key of a rule apart.
func patternOf(rule resolver.Rule) *pattern.Pattern {
	return pattern.Parse(resolver.CanonicalKey(rule.Key, false), rule.Exact)
}

// isPartOfAnother reports whether the line of another rule makes a rule, too: that for a path with
// a slash at its end, or for what is below a segment that begins with a text.
func (t *redirectsTable) isPartOfAnother(rule resolver.Rule) bool {
	key, isSlashed := strings.CutSuffix(rule.Key, "/")
	if !isSlashed {
		key = spanAtEnd.ReplaceAllString(rule.Key, "")
	}
	place, ok := t.place(key)
	if !ok || key == rule.Key {
		return false
	}
	of := t.rules[place].Rule
	if isSlashed {
		of.Value, rule.Value = withSlash(of.Value), withSlash(rule.Value)
		of.Key, of.Exact, of.Position = rule.Key, true, rule.Position
		return of == rule
	}
	lines, err := redirectsOf(of)
	isMade := func(made resolver.Rule) bool { return isRead(made, rule) }
	return err == nil && slices.ContainsFunc(lines.last.Own, isMade)
}

// withStatus returns a rule with the status that its line has. One that leads nowhere has none.
func withStatus(rule resolver.Rule, byDefault int) resolver.Rule {
	if rule.Value != resolver.GoneValue && rule.Value != resolver.PassValue {
		rule.Status = cmp.Or(rule.Status, byDefault, resolver.DefaultStatus)
	}
	return rule
}

// linesOfRule are the lines that a rule makes.
type linesOfRule struct {
	text string
	last redirects.Alone // the rules that the last one makes
}

// add adds a line that is read as a rule, or says what else it is read as.
func (l *linesOfRule) add(line string, rule resolver.Rule) error {
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

// redirectsOf returns the lines that a rule makes, or says why there are none.
func redirectsOf(rule resolver.Rule) (lines linesOfRule, err error) {
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
		err = lines.add(from+" "+to+" "+status, rule)
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
		if err := l.add(from+" "+to+" "+status, itself); err != nil {
			return err
		}
	}
	return l.add(from+star+" "+below+" "+status, rule)
}

// withSlash puts a slash at the end of a destination's path, if there is none.
func withSlash(destination string) string {
	path, rest := cutPath(destination)
	return strings.TrimSuffix(path, "/") + "/" + rest
}

// isHostAlone reports whether the path of a destination is none, which is the same as "/".
func isHostAlone(path string) bool {
	return isURL(path) && strings.Count(path, "/") == len("//")
}

// withPlaceholders writes the variables of a rule as placeholders, and what spans segments, or ends
// one, as "*".
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
			return "", "", errors.New("a _redirects file has placeholders for whole segments alone, " +
				"and \"*\" behind text at the end of a path")
		}
	}
	to = variableInKey.ReplaceAllStringFunc(value, func(expression string) string {
		return cmp.Or(names[strings.Trim(expression, "{+}")], expression)
	})
	from = strings.Join(segments, "/")
	if strings.ContainsAny(from+to, "{}") {
		return "", "", errors.New("a _redirects file has no variables but those like {name} and {+name}")
	}
	return from, to, nil
}

var (
	variableInKey = regexp.MustCompile(`\{(\+?)([A-Za-z_]\w*)\}`)
	spanAtEnd     = regexp.MustCompile(`/\{\+[A-Za-z_]\w*\}$`)
)

// checkInRedirects refuses what no line says.
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

// replacesQuery reports whether a rule does with queries what the line of a destination with one
// does, or one that leads to such a line.
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

// isRead reports whether a rule that has been read is one that was written.
func isRead(read, written resolver.Rule) bool {
	read.Position = written.Position
	return read == written || asRead(read) == asRead(written)
}

// asRead returns a rule without what a line of a _redirects file does not say: how variables are
// called and whether they are encoded, whether a slash at the end of a path is kept, and whether
// requests add to a query. Rules that lines tell apart differ.
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

// withNumbers writes the number of each variable in a key in the place of its name.
func withNumbers(key, value string) string {
	for n, found := range variableInKey.FindAllStringSubmatch(key, -1) {
		number := "{" + strconv.Itoa(n+1) + "}"
		value = strings.ReplaceAll(value, "{"+found[2]+"}", number)
		value = strings.ReplaceAll(value, "{+"+found[2]+"}", number)
	}
	return value
}

// cutPath cuts a destination behind its path.
func cutPath(destination string) (path, rest string) {
	if i := strings.IndexAny(destination, "?#"); i >= 0 {
		return destination[:i], destination[i:]
	}
	return destination, ""
}
