package show

import (
	"fmt"
	"io"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// WriteExplanation writes as text why an outcome is what it is; nothing without an explanation.
func WriteExplanation(w io.Writer, outcome Outcome) error {
	e := outcome.Explanation
	if e == nil {
		return nil
	}
	var t strings.Builder
	for i, step := range e.Walk {
		meaning, with := meaningOf(step.Value)
		fmt.Fprintf(&t, "  %d. %s matches %s%s, which %s", i+1, step.Pathname, step.Rule.Key,
			InBrackets(step.Rule.Position), meaning)
		for _, capture := range step.Captures {
			fmt.Fprintf(&t, "%s%s=%s", with, capture.Name, capture.Raw)
			with = ", "
		}
		if step.Remaining != "" {
			fmt.Fprintf(&t, "; %s remains", step.Remaining)
		}
		t.WriteByte('\n')
		if note := step.Rule.Note; note != "" {
			fmt.Fprintf(&t, "     note: %s\n", note)
		}
	}
	writeEnd(&t, e)
	if outcome.DeadEnd != "" {
		fmt.Fprintf(&t, "  %s\n", outcome.DeadEnd)
	}
	var meant []string
	for _, s := range outcome.Suggestions {
		meant = append(meant, s.Key+InBrackets(s.Position))
	}
	if meant != nil {
		fmt.Fprintf(&t, "  perhaps %s\n", strings.Join(meant, ", "))
	}
	writeParts(&t, e)
	_, err := io.WriteString(w, t.String())
	return err
}

// meaningOf says what a rule with a value does, and the word before captures after that.
func meaningOf(value string) (meaning, with string) {
	switch value {
	case resolver.GoneValue:
		return "is gone", " for "
	case resolver.PassValue:
		return "lets it pass", " for "
	}
	return "leads to " + value, " with "
}

// InBrackets returns a position as it follows a key.
func InBrackets(p resolver.Position) string {
	if where := p.String(); where != "" {
		return " (" + printable.Text(where) + ")"
	}
	return ""
}

// writeEnd writes how the walk ends.
func writeEnd(t *strings.Builder, e *resolver.Explanation) {
	switch {
	case e.Outcome == resolver.Failed || e.Outcome == resolver.Gone:
	case len(e.Walk) == 0:
		t.WriteString("  no key matches the path\n")
	case e.Outcome == resolver.Pass && e.Destination != "":
		fmt.Fprintf(t, "  the destination %s is the request itself\n", e.Destination)
	case isDestinationOfSite(e.Walk[len(e.Walk)-1].Value):
		path := pathOf(e.Walk[len(e.Walk)-1].Value)
		fmt.Fprintf(t, "  no key matches %s: it is a path of the site\n", path)
	}
}

func isDestinationOfSite(value string) bool { return strings.HasPrefix(value, "/") }

// pathOf returns the path of an internal value.
func pathOf(value string) string {
	if end := strings.IndexAny(value, "?#"); end >= 0 {
		return value[:end]
	}
	return value
}

// writeParts writes where the parts of the destination come from.
func writeParts(t *strings.Builder, e *resolver.Explanation) {
	if e.Origin.Kind != resolver.FromNowhere {
		fmt.Fprintf(t, "  scheme and host come from %s\n", e.Origin)
	}
	if e.Appended != "" {
		fmt.Fprintf(t, "  path: %s is appended\n", e.Appended)
	}
	if e.Query != resolver.QueryDefault {
		fmt.Fprintf(t, "  query: the rule for %s says %s\n", e.Walk[0].Rule.Key, e.Query)
	}
	for _, p := range e.Parameters {
		fmt.Fprintf(t, "  query: %s from %s%s\n", p, p.From, displaced(p.Displaced))
	}
	for _, d := range e.Dropped {
		fmt.Fprintf(t, "  query: %s=%s of %s is ignored\n", d.Name, d.Value, d.From)
	}
	if f := e.Fragment; f.Value != "" {
		fmt.Fprintf(t, "  fragment: %s from %s%s\n", f.Value, f.From, displaced(f.Displaced))
	}
}

// displaced says what was replaced.
func displaced(all []resolver.Given) string {
	var parts []string
	for _, d := range all {
		parts = append(parts, fmt.Sprintf("%s from %s", d.Value, d.From))
	}
	if parts == nil {
		return ""
	}
	return ", instead of " + strings.Join(parts, " and ")
}
