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

	"github.com/caddy-shortlink/shortlink/resolver"
)

// writeRedirects writes rules as a _redirects file. A rule without a status gets the one that it
// has by default, as a line without one means something else.
func writeRedirects(w io.Writer, rules iter.Seq[resolver.Rule]) error {
	var errs Errors
	b := bufio.NewWriter(w)
	for _, rule := range longestFirst(slices.Collect(rules)) {
		rule = withStatus(rule, resolver.DefaultStatus)
		lines := redirectsOf(rule)
		if err := checkInRedirects(rule, lines); err != nil {
			errs.leaveOut(rule, err)
			continue
		}
		b.WriteString(lines)
	}
	if err := b.Flush(); err != nil { // the first error of all that was written
		return err
	}
	return errs.orNil()
}

// withStatus returns a rule with the status that its line has. A rule that is gone has none.
func withStatus(rule resolver.Rule, byDefault int) resolver.Rule {
	if rule.Value != resolver.GoneValue {
		rule.Status = cmp.Or(rule.Status, byDefault, resolver.DefaultStatus)
	}
	return rule
}

// redirectsOf returns the lines that a rule makes.
func redirectsOf(rule resolver.Rule) string {
	from, status := "/"+rule.Key, strconv.Itoa(rule.Status)
	if resolver.IsTemplate(rule.Key) {
		from, rule.Value = withPlaceholders(from), withPlaceholders(rule.Value)
	}
	if rule.Value == resolver.GoneValue {
		if !rule.Exact {
			from += star
		}
		return fmt.Sprintf("%s %s %d\n", from, pageOfGone(rule.Key), statusGone)
	}
	exact := from + " " + rule.Value + " " + status + "\n"
	if rule.Exact {
		return exact
	}
	path, rest := cutPath(rule.Value)
	below := strings.TrimSuffix(path, "/") + "/" + splat + rest
	prefix := from + star + " " + below + " " + status + "\n"
	if path == "/" || !strings.HasSuffix(path, "/") {
		return prefix
	}
	return exact + prefix
}

// pageOfGone returns the page that a line names for a path that is gone. It has the variables of a
// template in its query: only those are placeholders wherever they stand in the path.
func pageOfGone(key string) string {
	page := "/" + strconv.Itoa(statusGone)
	for i, variable := range simpleVariable.FindAllStringSubmatch(key, -1) {
		page += string("?&"[min(i, 1)]) + variable[1] + "=:" + variable[1]
	}
	return page
}

// withPlaceholders writes the variables of a template as placeholders.
func withPlaceholders(template string) string {
	return simpleVariable.ReplaceAllString(template, ":$1")
}

var (
	simpleVariable       = regexp.MustCompile(`\{([A-Za-z]\w*)\}`)
	simpleVariableInWord = regexp.MustCompile(`\{[A-Za-z]\w*\}\w`)
)

// checkInRedirects refuses lines that do not say what a rule does.
func checkInRedirects(rule resolver.Rule, lines string) error {
	isTemplate := resolver.IsTemplate(rule.Key)
	if err := checkWritable(rule); err != nil {
		return err
	}
	switch {
	case rule.Value == resolver.PassValue:
		return errors.New("a _redirects file has no line that lets a path pass, and a shorter path " +
			"takes it there; keep the rules in a JSON or CSV file")
	case rule.Unlisted:
		return errors.New("a _redirects file has no unlisted rules")
	case rule.Query != resolver.QueryDefault && !replacesQuery(rule):
		return errors.New("a _redirects file has no query modes; a line whose destination has a " +
			"query means ignore")
	case strings.ContainsAny(rule.Key+rule.Value, lineSpace+"\n"):
		return errors.New("a _redirects file has no spaces in paths and destinations; write %20")
	case isTemplate && strings.ContainsAny(lines, "{}"):
		return errors.New("a _redirects file has no variables but those like {name}, as :name")
	case isTemplate && simpleVariableInWord.MatchString(rule.Key+" "+rule.Value):
		return errors.New("a _redirects file cannot tell where a placeholder ends that a letter, " +
			"digit or \"_\" follows")
	}
	return checkReading(lines, rule)
}

// replacesQuery reports whether a rule does with queries what the line of a destination with one
// does.
func replacesQuery(rule resolver.Rule) bool {
	before, _, _ := strings.Cut(rule.Value, "#")
	_, query, _ := strings.Cut(before, "?")
	return rule.Query == resolver.QueryIgnore && query != ""
}

// checkReading refuses lines that are read as something else than the rule.
func checkReading(lines string, rule resolver.Rule) error {
	const cannot = "a _redirects file cannot have it: "
	file := newRedirectsFile()
	for line := range strings.Lines(lines) {
		file.add(strings.TrimSuffix(line, "\n"), rule.Position)
	}
	if len(file.errs) > 0 {
		return errors.New(cannot + file.errs[0].Message)
	}
	var read resolver.Rule
	file.each(func(rule resolver.Rule) { read = rule })
	read.Position, read.Query = rule.Position, rule.Query
	if read != rule {
		return fmt.Errorf(cannot+"its line would be the rule from %q to %q", read.Key, read.Value)
	}
	return nil
}
