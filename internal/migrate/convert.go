package migrate

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// Conversion reports the result for each line of a file in another format. A rule of a JSON or CSV
// file counts as a line here.
type Conversion struct {
	// Exact counts the lines with the same meaning in the new format.
	Exact int
	// Approximated are lines with nearly the same meaning. The reports name the difference.
	Approximated Lines
	// Refused are lines that were left out. They are not rules, or the other format cannot express
	// them, or they do not load.
	Refused Lines
	// Dropped are lines that no request reaches. They make no rules.
	Dropped Lines
	// Exactness says how many rules are exact and why, and what to write for the other.
	Exactness string
	// Remarks describe what holds for the whole file and cannot be written as a rule.
	Remarks []string
	// Elsewhere are the refused lines that Caddy's redir can express.
	Elsewhere []Redirect
}

// Lines are lines whose meaning differs in another format.
type Lines struct {
	Count int
	// Reports are in the order of the lines. A line can have several.
	Reports []lint.Warning
}

func (l *Lines) report(at resolver.Position, key, message string) {
	l.Reports = append(l.Reports, lint.Warning{Position: at, Key: key, Message: message})
}

// Convert reads rules in one format and writes them in another. It leaves out rules that the other
// format cannot express or that do not load. The conversion reports the result for each line;
// comments are lost. The error comes from the reader or the writer.
func Convert(w io.Writer, to rulefile.Format, in Input, from Format) (Conversion, error) {
	c := converter{from: from, to: to, checker: resolver.NewRuleChecker()}
	var readErr error
	writeErr := Write(w, to, func(yield func(resolver.Rule) bool) {
		readErr = c.read(in, func(rule resolver.Rule) { yield(rule) })
	})
	for _, err := range []error{readErr, writeErr} {
		listed, is := errors.AsType[rulefile.Errors](err)
		if err != nil && !is {
			return c.done, err
		}
		for _, e := range listed {
			c.done.Refused.report(e.Position, "", e.Message)
		}
	}
	c.count()
	c.done.Exactness = c.exactness(in.Reading.Exact)
	if from.IsNetlify && to != rulefile.Redirects && c.done.Exact+c.done.Approximated.Count > 0 {
		c.done.Remarks = append(c.done.Remarks, "Netlify and Cloudflare Pages pass on all parameters "+
			"of a request to a destination without a query; query merge keeps the last of each name, "+
			"and query preserve all of them")
	}
	return c.done, nil
}

// converter is the state of a conversion.
type converter struct {
	from    Format
	to      rulefile.Format
	checker *resolver.RuleChecker // nil after reading
	windows []schedule.Window     // of the last rule, here to avoid an allocation per rule
	done    Conversion
	// rules counts those that are valid, and exact those of them that are exact.
	rules, exact int
	entries      int              // of the file; 0 if its reader does not count
	places       []packedPosition // of all rules that were read
}

// read passes the valid rules to write, unless the file is of another kind.
func (c *converter) read(in Input, write func(resolver.Rule)) error {
	const enough = 512
	text, instead := bufio.NewReader(in.Reader), ""
	if c.from.HasLines {
		instead = "write --from json for rules, or --from array for a list of redirects"
	}
	begin, _ := text.Peek(enough)
	in.Reader = text
	if err := rulefile.CheckBeginning(begin, c.from.Name, instead); err != nil {
		at := resolver.Position{Source: in.Source, Line: 1, Column: 1}
		return rulefile.Errors{{Position: at, Message: err.Error()}}
	}
	found, err := c.from.Read(in, func(rule resolver.Rule) {
		c.places = append(c.places, c.packPosition(rule.Position))
		if c.isConverted(rule) {
			write(rule)
			if c.rules++; c.windows[0].Rule.Exact {
				c.exact++
			}
		}
	})
	chainsMayFail := c.checker.MayFailInChains()
	c.checker = nil // frees memory for writing
	c.entries, c.done.Elsewhere = found.Entries, found.Elsewhere
	lists := map[lint.Kind]*Lines{rulefile.WarnNeverReached: &c.done.Dropped,
		rulefile.WarnLeftOut: &c.done.Refused, rulefile.WarnApproximated: &c.done.Approximated}
	for _, w := range found.Warnings {
		if lines := lists[w.Kind]; lines != nil {
			lines.Reports = append(lines.Reports, w)
		} else {
			c.done.Remarks = append(c.done.Remarks, w.String())
		}
	}
	if chainsMayFail {
		c.done.Remarks = append(c.done.Remarks, "the chains of the new file may be too long together; "+
			"run check on it")
	}
	return err
}

// isConverted reports whether a rule is valid, and records the result.
func (c *converter) isConverted(rule resolver.Rule) bool {
	if wrong := c.check(rule); wrong != nil {
		for _, why := range wrong {
			c.done.Refused.report(rule.Position, rule.Key, why)
		}
		return false
	}
	if how := approximation(rule, c.from, c.to); how != "" {
		c.done.Approximated.report(rule.Position, rule.Key, how)
	}
	return true
}

// check returns what is wrong with a rule, in any of its windows.
func (c *converter) check(rule resolver.Rule) (wrong []string) {
	c.windows = schedule.AppendSplit(c.windows[:0], rule)
	for i, w := range c.windows {
		if text := w.Rule.Key + w.Rule.Value; utf8.ValidString(text) && printable.Text(text) != text {
			return []string{"the key or the destination holds a control character, or one that reverses " +
				"the direction of text; remove it, or write it percent-encoded"}
		}
		checker := c.checker
		if i > 0 { // the key stands there for the first one
			checker = resolver.NewRuleChecker()
		}
		for _, err := range checker.Check(w.Rule) {
			wrong = append(wrong, err.Message)
		}
	}
	return wrong
}

// approximation describes how a rule differs in another format. It returns "" if the meaning is the
// same.
func approximation(rule resolver.Rule, from Format, to rulefile.Format) string {
	isGone := rule.Value == resolver.GoneValue
	switch {
	case to == Map:
		return approximationInMap(rule)
	case from.IsNetlify == (to == rulefile.Redirects):
		return ""
	case from.IsNetlify && isGone:
		return "the line's page is left out; requests get an error with status 410, which " +
			"handle_errors can answer"
	case from.IsNetlify || isGone || rule.Value == resolver.PassValue:
		return ""
	}
	var ways []string
	if rule.Status == 0 {
		ways = append(ways, "the status is written as 302, the default; a status set for the whole site "+
			"no longer applies")
	}
	if redirects.HasQuery(rule.Value) && rule.Query != resolver.QueryIgnore {
		ways = append(ways, "the query of requests is dropped there, because the destination has one")
	}
	return strings.Join(ways, "; ")
}

// packedPosition is the position of a line. The upper half is the line number. The lower half is
// the column, in formats that count several entries on a line.
type packedPosition uint64

func (c *converter) packPosition(at resolver.Position) packedPosition {
	p := packedPosition(at.Line) << 32
	if c.from.SeveralPerLine {
		p |= packedPosition(at.Column)
	}
	return p
}

// count counts lines. Each counts once, by the worst result of its rules.
func (c *converter) count() {
	done := &c.done
	kinds := []*Lines{&done.Approximated, &done.Dropped, &done.Refused} // the worst last
	worst := map[packedPosition]int{}                                   // of lines with reports
	for kind, lines := range kinds {
		for _, l := range lines.Reports {
			p := c.packPosition(l.Position)
			worst[p] = max(worst[p], kind)
		}
	}
	for p, kind := range worst {
		c.places = append(c.places, p)
		kinds[kind].Count++
	}
	slices.Sort(c.places)
	done.Exact = max(len(slices.Compact(c.places)), c.entries) - len(worst)
	done.Approximated.Reports = slices.DeleteFunc(done.Approximated.Reports,
		func(l lint.Warning) bool { return kinds[worst[c.packPosition(l.Position)]] == &done.Refused })
	for _, lines := range kinds {
		slices.SortStableFunc(lines.Reports, func(a, b lint.Warning) int {
			return a.Position.Compare(b.Position)
		})
		lines.Reports = slices.CompactFunc(lines.Reports, func(a, b lint.Warning) bool {
			return a.String() == b.String() // a line that makes several rules repeats reports
		})
	}
}

// exactness says how many rules are exact and why, and what to write for the other.
func (c *converter) exactness(said *bool) string {
	const unsaid = "where the file does not say it, "
	why := unsaid + "rules are exact; --exact=false changes that"
	switch {
	case c.rules == 0:
		return ""
	case c.from.SaysExact:
		why = "each line of the file says it; to change it, edit the new rules"
	case said != nil:
		why = fmt.Sprintf(unsaid+"--exact=%t does; --exact=%t is the opposite", *said, !*said)
	case c.from.Name == rulefile.JSON || c.from.Name == rulefile.CSV:
		why = unsaid + "keys that begin with \"/\" or are URLs make exact rules; --exact and " +
			"--exact=false change that"
	case c.from.Name == "golink":
		why = unsaid + "rules match below their paths as well; --exact changes that"
	}
	return fmt.Sprintf("exact rules, which match nothing below their paths: %d of %d; %s", c.exact,
		c.rules, why)
}
