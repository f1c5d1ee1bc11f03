package migrate

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// Map is the format of maps in nginx, Apache or HAProxy: a path and a destination on each line.
const Map rulefile.Format = "map"

// ToFormats returns the formats that rules can be written in.
func ToFormats() []rulefile.Format {
	return []rulefile.Format{rulefile.JSON, rulefile.CSV, rulefile.Redirects, Map}
}

// ParseTo returns the output format with the given name.
func ParseTo(name string) (rulefile.Format, error) {
	if to := rulefile.Format(name); slices.Contains(ToFormats(), to) {
		return to, nil
	}
	return "", fmt.Errorf("the formats are %s, not %q", ListOf(ToFormats()), name)
}

// ListOf lists names in a sentence.
func ListOf[T ~string](names []T) (list string) {
	for i, name := range names {
		switch {
		case i > 0 && i == len(names)-1:
			list += " and "
		case i > 0:
			list += ", "
		}
		list += string(name)
	}
	return list
}

// Write writes rules in one of [ToFormats]. The errors are those of [rulefile.Write].
func Write(w io.Writer, to rulefile.Format, rules iter.Seq[resolver.Rule]) error {
	if to == Map {
		return writeMap(w, rules)
	}
	if to == rulefile.CSV { // which takes rules twice, and these are read once
		rules = slices.Values(slices.Collect(rules))
	}
	return rulefile.Write(w, to, rules)
}

// writeMap writes rules as a map: a path, a blank and a destination on each line. HAProxy and
// Apache read this form. Other properties of a rule are lost.
func writeMap(w io.Writer, rules iter.Seq[resolver.Rule]) error {
	var errs rulefile.Errors
	b := bufio.NewWriter(w)
	for rule := range rules {
		if err := checkInMap(rule); err != nil {
			errs = append(errs, &rulefile.Error{Position: rule.Position,
				Message: "key " + printable.Quote(rule.Key) + ": " + err.Error()})
			continue
		}
		b.WriteString("/" + rule.Key + " " + rule.Value + "\n")
	}
	if err := b.Flush(); err != nil || errs == nil { // the first error of any write
		return err
	}
	return errs
}

// checkInMap refuses a rule that a line of a map cannot express, or that is read as another one.
func checkInMap(rule resolver.Rule) error {
	switch {
	case rule.Windows != "" || resolver.IsTemplate(rule.Key) || CheckDestination(rule.Value) != nil:
		return errors.New("a line of a map leads one path to one destination, always; rules with " +
			"templates, windows, gone or pass are for json and csv")
	case strings.ContainsAny(rule.Key+rule.Value, Space+"\n"):
		return errors.New("paths and destinations in a map have no spaces; write %20")
	case strings.HasSuffix(rule.Key, "/") || strings.Contains(rule.Key, "//") ||
		EncodePercents(rule.Key) != rule.Key:
		return errors.New("a map would match another path; write the key without empty segments, and " +
			"%25 for \"%\"")
	case strings.HasSuffix(rule.Value, ";"), strings.HasSuffix(rule.Value, "{"):
		return errors.New("a destination in a map cannot end in \";\" or \"{\", which end lines of " +
			"nginx; write it percent-encoded")
	}
	return nil
}

// beyondASCII matches characters whose decoded and encoded forms differ.
var beyondASCII = regexp.MustCompile(`[^\x00-$&-\x7F]`)

// approximationInMap describes how a rule differs in a map. It returns "" if the meaning is the
// same.
func approximationInMap(rule resolver.Rule) string {
	isIgnored, hasQuery := rule.Query == resolver.QueryIgnore, redirects.HasQuery(rule.Value)
	hasMode := !isIgnored && rule.Query != resolver.QueryDefault
	var ways []string
	for _, way := range []struct {
		is  bool
		how string
	}{
		{rule.Status != 0, "a map has no status; set " + strconv.Itoa(rule.Status) +
			" in the configuration of the server"},
		{beyondASCII.MatchString(rule.Key), "nginx and Apache look up decoded paths and HAProxy those " +
			"of the request, so at most one of them finds a key with \"%\" or beyond ASCII"},
		{strings.ContainsAny(rule.Key+rule.Value, "\"';{}$\\"), "quotation marks, braces, \";\", \"$\" " +
			"and \"\\\" have another meaning in nginx; write them percent-encoded for nginx"},
		{!rule.Exact, "a map matches the path alone, and nothing below it"},
		{isIgnored != hasQuery || hasMode, "a map has no query modes: the query of requests is dropped " +
			"if the destination has one; for another way set it in the configuration of the server"},
		{rule.Unlisted || rule.Note != "", "a map has neither unlisted rules nor notes"},
	} {
		if way.is {
			ways = append(ways, way.how)
		}
	}
	return strings.Join(ways, "; ")
}
