package command

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// report writes what became of the lines: one message for each reason at a terminal, else for each
// line.
func (c *converting) report(to io.Writer, done migrate.Conversion) error {
	w := bufio.NewWriter(to)
	if terminalOf(to) == nil || c.all {
		writeConversion(w, done)
	} else {
		writeReasons(w, done)
	}
	return w.Flush()
}

// group is a kind of lines in a report.
type group struct {
	title string
	lines migrate.Lines
}

func groupsOf(c migrate.Conversion) []group {
	return []group{{"approximated", c.Approximated}, {"refused", c.Refused}, {"dropped", c.Dropped}}
}

// writeConversion writes a message for each line.
func writeConversion(w io.Writer, c migrate.Conversion) {
	for _, group := range groupsOf(c) {
		for _, line := range group.lines.Reports {
			fmt.Fprintf(w, "%s: %s\n", group.title, line)
		}
	}
	writeRemarks(w, c)
	fmt.Fprintf(w, "%d exact, %d approximated, %d refused",
		c.Exact, c.Approximated.Count, c.Refused.Count)
	if n := c.Dropped.Count; n > 0 {
		fmt.Fprintf(w, ", %s never reached", printable.Count(n, "line"))
	}
	fmt.Fprintln(w)
}

func writeRemarks(w io.Writer, c migrate.Conversion) {
	for _, remark := range append(slices.Clip(c.Remarks), c.Exactness) {
		if remark != "" {
			fmt.Fprintln(w, "Note:", remark+".")
		}
	}
}

// writeReasons writes a message for each reason, and a summary.
func writeReasons(w io.Writer, c migrate.Conversion) {
	var most reason // of those for which lines are left out
	for _, group := range groupsOf(c) {
		for _, r := range reasonsOf(group.lines) {
			fmt.Fprintf(w, "%s: %s\n", group.title, r.String())
			if group.title == "refused" && len(r.at) > len(most.at) {
				most = r
			}
		}
	}
	writeRemarks(w, c)
	fmt.Fprintf(w, "\nconverted exactly: %d\napproximated:      %d\nleft out:          %d",
		c.Exact, c.Approximated.Count, c.Refused.Count)
	if n := c.Dropped.Count; n > 0 {
		fmt.Fprintf(w, ", and %d that no request reaches", n)
	}
	fmt.Fprintln(w)
	if len(most.at) > 0 {
		fmt.Fprintf(w, "to bring %d more in: %s\n", len(most.at), most.advice())
	}
	if f := newCaddyfile("", c.Elsewhere); f.n > 0 {
		fmt.Fprintf(w, "--caddyfile FILE writes %s for Caddy's redir\n", printable.Count(f.n, "line"))
	}
}

// reason is a message about several lines.
type reason struct {
	message, host string // of the first line; the host that the lines are for, or ""
	key           string // of the first line's rule
	at            []resolver.Position
	isTakenOver   bool // another line gets requests of one of them
}

// reasonsOf groups the reports on lines by their reason, the most frequent first.
func reasonsOf(lines migrate.Lines) (reasons []reason) {
	index := map[string]int{}
	for _, line := range lines.Reports {
		message, behind, _ := strings.Cut(line.Message, "; the line is left out")
		form, host := varying.ReplaceAllString(message, "…"), ""
		if found := forHost.FindStringSubmatch(message); found != nil {
			host = found[1]
			form = host
		}
		i, known := index[form]
		if !known {
			i = len(reasons)
			index[form] = i
			reasons = append(reasons, reason{message: message, host: host, key: line.Key})
		}
		r := &reasons[i]
		r.at = append(r.at, line.Position)
		r.isTakenOver = r.isTakenOver || behind != ""
	}
	slices.SortStableFunc(reasons, func(a, b reason) int { return cmp.Compare(len(b.at), len(a.at)) })
	return reasons
}

var (
	// varying matches what differs in messages with the same reason: quoted texts, paths and places.
	varying = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\S*/\S*|\S+:\d+:\d+`)
	forHost = regexp.MustCompile(`^a rule has no host; if "([^"]+)" is this site's`)
)

// shownPlaces is how many places a reason names.
const shownPlaces = 3

// String returns the number of lines, the first places, and what to do.
func (r *reason) String() string {
	places := r.at[0].String()
	for _, at := range r.at[1:min(len(r.at), shownPlaces)] {
		places += fmt.Sprintf(", %d:%d", at.Line, at.Column)
	}
	if more := len(r.at) - shownPlaces; more > 0 {
		places += fmt.Sprintf(" and %d more; --all has each", more)
	}
	message := r.message
	switch {
	case r.host != "":
		return fmt.Sprintf("%s for %s: %s (%s)", printable.Count(len(r.at), "line"), r.host,
			r.advice(), places)
	case r.key != "":
		message = "key " + printable.Quote(r.key) + ": " + message
	}
	if r.isTakenOver {
		message += "; other lines get requests of these"
	}
	if len(r.at) == 1 {
		return places + ": " + message
	}
	return fmt.Sprintf("%s (%s), the first because %s", printable.Count(len(r.at), "line"), places,
		message)
}

// advice returns what to do about the lines.
func (r *reason) advice() string {
	if r.host != "" {
		return "--line-host " + r.host + ", if it is this site's"
	}
	_, advice, _ := strings.Cut(r.message, "; ")
	return cmp.Or(advice, r.message)
}
