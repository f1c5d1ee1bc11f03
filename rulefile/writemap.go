package rulefile

import (
	"bufio"
	"errors"
	"io"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// writeMap writes rules as a map: a path, a blank and a destination on each line, as HAProxy and
// Apache read it. Of a rule it says nothing else.
func writeMap(w io.Writer, rules iter.Seq[resolver.Rule]) error {
	var errs Errors
	b := bufio.NewWriter(w)
	for rule := range rules {
		if err := checkInMap(rule); err != nil {
			errs.leaveOut(rule, err)
			continue
		}
		b.WriteString("/" + rule.Key + " " + rule.Value + "\n")
	}
	if err := b.Flush(); err != nil { // the first error of all that was written
		return err
	}
	return errs.orNil()
}

// checkInMap refuses what no line of a map says.
func checkInMap(rule resolver.Rule) error {
	switch {
	case resolver.IsTemplate(rule.Key):
		return errors.New("a map has no templates; write a rule for each path")
	case rule.Value == resolver.GoneValue || rule.Value == resolver.PassValue:
		return errors.New("a map has destinations alone, and this rule none; answer its path in the " +
			"configuration of what looks up the map")
	case strings.ContainsAny(rule.Key+rule.Value, lineSpace+"\n"):
		return errors.New("a map has no spaces in paths and destinations; write %20")
	case strings.HasSuffix(rule.Value, ";"), strings.HasSuffix(rule.Value, "{"):
		return errors.New(
			"a destination of a map does not end in \";\" or \"{\", which lines of nginx's " +
				"do; write it percent-encoded")
	case checkDestination(rule.Value) != nil:
		return checkDestination(rule.Value)
	}
	if err := checkWritable(rule); err != nil {
		return err
	}
	path, _, err := newRedirectPath(withEncodedPercents("/"+rule.Key), foreign)
	if err != nil {
		return err
	}
	if path.sets[0].key() != rule.Key {
		return errors.New("a map would have it as " + path.sets[0].key() + "; write the key so")
	}
	return nil
}

// approximationInMap says in which ways a rule differs in a map, or "".
func approximationInMap(rule resolver.Rule) string {
	var ways []string
	if rule.Status != 0 {
		ways = append(ways, "a map has no status, so that "+strconv.Itoa(rule.Status)+" is for the "+
			"configuration of what looks it up")
	}
	if path := "/" + rule.Key; !isPlainASCII(path) {
		ways = append(ways,
			"nginx and Apache look up decoded paths and HAProxy those of the request, so "+
				"that a key with \"%\" or beyond ASCII is found by one of them at most")
	}
	if strings.ContainsAny(rule.Key+rule.Value, "\"';{}$\\") {
		ways = append(ways, "nginx takes quotation marks, braces, \";\", \"$\" and \"\\\" for something "+
			"else; write them percent-encoded for nginx")
	}
	if !rule.Exact {
		ways = append(ways, "a map has the path alone, and nothing below it")
	}
	if rule.Query != resolver.QueryIgnore &&
		(hasQuery(rule.Value) || rule.Query != resolver.QueryDefault) {
		ways = append(ways, "a map has no query modes, and requests add nothing to a query")
	}
	if rule.Query == resolver.QueryIgnore && !hasQuery(rule.Value) {
		ways = append(ways, "a map has no query modes, so that ignore is for the configuration of what "+
			"looks it up")
	}
	if rule.Unlisted {
		ways = append(ways, "a map has no unlisted rules")
	}
	if rule.Note != "" {
		ways = append(ways, "a map has no notes")
	}
	return strings.Join(ways, "; ")
}

// isPlainASCII reports whether a path is the same decoded and encoded.
func isPlainASCII(path string) bool {
	isOther := func(r rune) bool { return r == '%' || r >= utf8.RuneSelf }
	return !strings.ContainsFunc(path, isOther)
}
