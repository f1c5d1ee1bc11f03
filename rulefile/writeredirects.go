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

// writeRedirects writes rules as a _redirects file, in an order in which the first matching line is
// the right one: those for one path first, then more specific ones. A rule without a status gets
// the default status, because a line without one has another.
func writeRedirects(w io.Writer, all iter.Seq[resolver.Rule]) error {
	var errs Errors
	b := bufio.NewWriter(w)
	rules := inOrder(all)
	indexes := make(map[string]int, len(rules))
	for i, rule := range rules {
		indexes[resolver.CanonicalKey(rule.Key, false)] = i
	}
	for i, rule := range rules {
		lines, err := redirectsOf(rule)
		for _, made := range slices.Concat(lines.last.Own, lines.last.Ends) {
			in, ok := indexes[resolver.CanonicalKey(made.Key, false)]
			_, hasBelow := indexes[resolver.CanonicalKey(made.Key+"/{+rest}", false)]
			if err == nil && (!ok || in > i || !made.Exact && !hasBelow && rules[in].Exact) {
				instead := "; add one for that key"
				if ok {
					instead = ", which has one; write json or csv"
				}
				err = fmt.Errorf("the line of a _redirects file would be a rule for %s, too%s", made.Key,
					instead)
			}
		}
		if err != nil {
			errs.leaveOut(rule, err)
			continue
		}
		b.WriteString(lines.text)
	}
	return cmp.Or(b.Flush(), errs.orNil()) // the first error of all writes
}

// inOrder returns rules with a status, in the order of their lines. Few are not for one path. Lines
// for keys that span segments also match the path in front of the span. So they come after all
// others for as many segments, unless one of these also matches what is below.
func inOrder(rules iter.Seq[resolver.Rule]) []resolver.Rule {
	var single, others []resolver.Rule
	isSpan := func(rule resolver.Rule) bool { return strings.Contains(rule.Key, "{+") }
	areBelow := make(map[int]bool) // by their number of segments
	for rule := range rules {
		rule = withStatus(rule, resolver.DefaultStatus)
		if rule.Exact && !resolver.IsTemplate(rule.Key) {
			single = append(single, rule)
			continue
		}
		others = append(others, rule)
		if !isSpan(rule) && (!rule.Exact || variableAtEnd.MatchString(rule.Key)) {
			areBelow[patternOf(rule).OwnSegments()] = true
		}
	}
	slices.SortStableFunc(others, func(a, b resolver.Rule) int {
		p, q := patternOf(a), patternOf(b)
		n := p.OwnSegments()
		if n != q.OwnSegments() || areBelow[n] || isSpan(a) == isSpan(b) {
			return p.Compare(q)
		}
		return q.Compare(p) // which has those that span segments first
	})
	return append(single, others...)
}

// patternOf parses the key of a rule.
func patternOf(rule resolver.Rule) *pattern.Pattern {
	return pattern.Parse(resolver.CanonicalKey(rule.Key, false), rule.Exact)
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

// addLine adds a line if it is read as the rule. The error says how it would be read.
func (l *linesOfRule) addLine(line string, rule resolver.Rule) error {
	const cannot = "a _redirects file cannot have it: "
	alone, err := rulesOfLine(line)
	if err != nil {
		return errors.New(cannot + err.Error())
	}
	isRule := func(read resolver.Rule) bool { return asRead(read) == asRead(rule) }
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
	return redirects.IsURL(path) && strings.Count(path, "/") == len("//")
}

// withPlaceholders writes variables as placeholders, and those that span or end segments as "*".
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
	// variableAtEnd matches a key whose last segment ends in a variable, which is "*" in a line.
	variableAtEnd = regexp.MustCompile(`[^/]\{\w+\}$`)
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
	line := p.translate(func(int) resolver.Position { return resolver.Position{} })
	if p.refused != nil {
		return alone, p.refused
	}
	return redirects.RulesAlone(line, redirects.SlashesIgnored)
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
