package rulefile

import (
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// Conversion says what became of the lines of a file in another format. A rule of a JSON or CSV
// file is a line here.
type Conversion struct {
	// Exact is how many lines mean the same.
	Exact int
	// Approximated mean nearly the same; the reports say in which way they differ.
	Approximated Lines
	// Refused could not be converted, as they are no rules, or the other format cannot have them, or
	// they could not be loaded. They are left out.
	Refused Lines
	// Dropped are never reached by a request. They make no rules.
	Dropped Lines
	// Remarks say what the file as a whole means elsewhere and its rules cannot say.
	Remarks []string
}

// Lines are lines that do not mean the same in another format.
type Lines struct {
	Count int
	// Reports are in the order of the lines, of which one can have several.
	Reports []LineReport
}

// LineReport says what became of a line.
type LineReport struct {
	Position resolver.Position
	Key      string // of the rule that it is about, if it is about one
	Message  string
}

// String returns position, key and message.
func (l LineReport) String() string {
	message := l.Message
	if l.Key != "" {
		message = "key " + quote(l.Key) + ": " + message
	}
	return (&Error{l.Position, message}).Error()
}

// Convert reads rules in one format and writes those in another that it can have and that can be
// loaded. What becomes of each line is told in the conversion; comments are not carried over. The
// error is the reader's or the writer's own.
func (o Reading) Convert(
	w io.Writer, to Format, r io.Reader, from Format, source string,
) (Conversion, error) {
	o.observer = new(observer)
	c := converter{reading: o, from: from, to: to, source: source,
		checker: resolver.NewRuleChecker()}
	var inReading error
	inWriting := Write(w, to, func(yield func(resolver.Rule) bool) {
		inReading = c.read(r, func(rule resolver.Rule) { yield(rule) })
	})
	for _, err := range []error{inReading, inWriting} {
		listed, is := errors.AsType[Errors](err)
		if err != nil && !is {
			return c.done, err
		}
		for _, e := range listed {
			c.done.Refused.report(e.Position, "", e.Message)
		}
	}
	if err := c.checkChains(r); err != nil {
		return c.done, err
	}
	c.finish()
	return c.done, nil
}

// converter is a conversion under way.
type converter struct {
	reading  Reading
	from, to Format
	source   string
	checker  *resolver.RuleChecker // nil when all is read
	// chainsMayFail tells that the rules together have to be compiled.
	chainsMayFail bool
	done          Conversion
	places        []place // of all rules that were read
}

// read passes the rules to write that are good.
func (c *converter) read(r io.Reader, write func(resolver.Rule)) error {
	warnings, err := c.reading.Read(r, c.from, c.source, func(rule resolver.Rule) {
		c.places = append(c.places, c.placeOf(rule.Position))
		if c.take(rule) {
			write(rule)
		}
	})
	c.chainsMayFail = c.checker.MayFailInChains()
	c.checker = nil // as writing takes memory, too
	for _, w := range warnings {
		switch w.Kind {
		case WarnNeverReached:
			c.done.Dropped.report(w.Position, w.Key, w.Message)
		case WarnLeftOut:
			c.done.Refused.report(w.Position, w.Key, w.Message)
		case WarnApproximated:
			c.done.Approximated.report(w.Position, w.Key, w.Message)
		case WarnWholeTable:
			c.done.Remarks = append(c.done.Remarks, w.Message)
		default:
			c.done.Remarks = append(c.done.Remarks, w.String())
		}
	}
	return err
}

// take reports whether a rule is good, and takes down what becomes of it.
func (c *converter) take(rule resolver.Rule) bool {
	if err := checkVisible(rule); err != nil {
		c.done.Refused.report(rule.Position, rule.Key, err.Error())
		return false
	}
	if wrong := c.checker.Check(rule); wrong != nil {
		for _, err := range wrong {
			c.done.Refused.report(rule.Position, rule.Key, err.Message)
		}
		return false
	}
	if how := approximation(rule, c.from, c.to); how != "" {
		c.done.Approximated.report(rule.Position, rule.Key, how)
	}
	return true
}

func (l *Lines) report(at resolver.Position, key, message string) {
	l.Reports = append(l.Reports, LineReport{at, key, message})
}

// checkChains compiles the rules that have been written, where they can be too much together. For
// that they are read again.
func (c *converter) checkChains(r io.Reader) error {
	if !c.chainsMayFail {
		return nil
	}
	again, ok := r.(io.Seeker)
	if ok {
		_, err := again.Seek(0, io.SeekStart)
		ok = err == nil
	}
	if !ok {
		c.done.Remarks = append(c.done.Remarks, "the chains of what is written may be too long "+
			"together, which only a file tells; check it")
		return nil
	}
	compiler, err := resolver.NewCompiler(resolver.Options{})
	if err != nil {
		return err
	}
	refused := c.placesOf(c.done.Refused)
	_, err = c.reading.Read(r, c.from, c.source, func(rule resolver.Rule) {
		if !contains(refused, c.placeOf(rule.Position)) {
			compiler.Add(rule)
		}
	})
	if _, listed := errors.AsType[Errors](err); err != nil && !listed {
		return err
	}
	_, err = compiler.Compile()
	wrong, listed := errors.AsType[resolver.RuleErrors](err)
	for _, e := range wrong {
		c.done.Refused.report(e.Position, e.Key, e.Message+"; the rule is written all the same")
	}
	if listed {
		return nil
	}
	return err
}

// finish counts lines. Each counts once, as the worst that became of one of its rules.
func (c *converter) finish() {
	done := &c.done
	refused := c.placesOf(done.Refused)
	done.Approximated.Reports = slices.DeleteFunc(done.Approximated.Reports,
		func(l LineReport) bool { return contains(refused, c.placeOf(l.Position)) })
	dropped := without(c.placesOf(done.Dropped), refused)
	approximated := without(c.placesOf(done.Approximated), dropped)
	done.Refused.Count, done.Dropped.Count, done.Approximated.Count =
		len(refused), len(dropped), len(approximated)
	// a line can be part of the next one's rule, so that no rule has its place
	all := sorted(slices.Concat(c.places, refused, dropped, approximated))
	done.Exact = max(len(all), c.reading.observer.lines) -
		len(refused) - len(dropped) - len(approximated)
	for _, lines := range []*Lines{&done.Approximated, &done.Refused, &done.Dropped} {
		slices.SortStableFunc(lines.Reports, func(a, b LineReport) int {
			return comparePlaces(a.Position, b.Position)
		})
		lines.Reports = slices.Compact(lines.Reports) // of a line that makes several rules
	}
	if isOfNetlify(c.from) && c.to != Redirects && done.Exact+done.Approximated.Count > 0 {
		done.Remarks = append(done.Remarks, queriesPass)
	}
}

// place is where a line stands: its number in the upper half and, where a line can have several
// rules that count each for itself, the column in the lower one.
type place uint64

func (c *converter) placeOf(at resolver.Position) place {
	p := place(at.Line) << 32
	if c.from == JSON || c.from == Array || c.from == YAML || c.from == Map {
		p |= place(at.Column)
	}
	return p
}

// placesOf returns the places of lines, each once and in their order.
func (c *converter) placesOf(lines Lines) []place {
	places := make([]place, len(lines.Reports))
	for i, l := range lines.Reports {
		places[i] = c.placeOf(l.Position)
	}
	return sorted(places)
}

// sorted puts places in order, each once.
func sorted(places []place) []place {
	slices.Sort(places)
	return slices.Compact(places)
}

func contains(places []place, p place) bool {
	_, is := slices.BinarySearch(places, p)
	return is
}

// without returns the places that are none of others.
func without(places, others []place) []place {
	return slices.DeleteFunc(places, func(p place) bool { return contains(others, p) })
}

// queriesPass is what _redirects files leave to their servers.
const queriesPass = "Netlify and Cloudflare Pages pass on all parameters of a request to a " +
	"destination without a query; query merge keeps the last of each name, and query preserve " +
	"all of them"

// checkVisible refuses a rule that a terminal would obey instead of showing it.
func checkVisible(rule resolver.Rule) error {
	if text := rule.Key + rule.Value; !utf8.ValidString(text) || printable.Text(text) == text {
		return nil
	}
	return errors.New("the key or the destination holds a control character, or one that turns " +
		"the direction of text; remove it, or write it percent-encoded")
}

// isOfNetlify reports whether what a format says has the meaning of _redirects.
func isOfNetlify(format Format) bool { return format == Redirects || format == NetlifyTOML }

// approximation says in which ways a rule differs in another format, or "".
func approximation(rule resolver.Rule, from, to Format) string {
	isGone := rule.Value == resolver.GoneValue
	switch {
	case to == Map:
		return approximationInMap(rule)
	case isOfNetlify(from) == (to == Redirects):
		return ""
	case isOfNetlify(from) && isGone:
		return "the page of the line is left out; requests are an error with status 410, which " +
			"handle_errors answers"
	case isOfNetlify(from) || isGone || rule.Value == resolver.PassValue:
		return ""
	}
	var ways []string
	if rule.Status == 0 {
		ways = append(ways, "the status is written down as 302, which it is by default; one that is "+
			"set for the whole site would not count any more")
	}
	if hasQuery(rule.Value) && rule.Query != resolver.QueryIgnore {
		ways = append(ways, "requests add nothing to the query there, as the destination has one")
	}
	return strings.Join(ways, "; ")
}
