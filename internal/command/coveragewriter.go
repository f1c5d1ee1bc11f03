package command

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/coverage"
	"github.com/caddy-shortlink/shortlink/internal/printable"
)

// coverageWriter writes the report about URLs.
type coverageWriter struct {
	counts *coverage.Counts
	report *coverage.Report
	out    *bufio.Writer
	notes  io.Writer
	// rootNotes are about directories below --root.
	rootNotes []string
	fold      bool // keys match without regard to case
	probes    bool // list them

	progress *progress // of suggesting
}

func (w *coverageWriter) write(format string, c colours) error {
	switch format {
	case formatJSON:
		return w.writeJSON()
	case formatCSV:
		w.writeNotes()
		return w.writeCSV()
	}
	w.writeNotes()
	return w.writeText(c)
}

// writeText writes the totals, and the first missing URLs.
func (w *coverageWriter) writeText(c colours) error {
	fmt.Fprintf(w.out, "%-10s%10s%12s\n", "", "URLs", "requests")
	var all coverage.Total
	line := func(name string, total coverage.Total) {
		fmt.Fprintf(w.out, "%-10s%10d%12d\n", name, total.URLs, total.Requests)
	}
	for class, total := range w.report.Totals {
		if class := coverage.Class(class); class != coverage.Probe || total.URLs > 0 {
			line(class.String(), total)
		}
		all.URLs += total.URLs
		all.Requests += total.Requests
	}
	line("total", all)
	if err := w.writeMissing(c); err != nil {
		return err
	}
	w.writeProbes(c)
	return nil
}

// writeMissing writes the missing URLs with suggestions.
func (w *coverageWriter) writeMissing(c colours) error {
	count := w.report.Totals[coverage.Missing].URLs
	if count > 0 {
		c.heading(w.out, red, fmt.Sprintf("\nmissing (%d)", count))
	}
	for missing := range limit(shownFindings, w.report.Missing()) {
		candidates := perhaps(w.report.Candidates(missing.Path))
		fmt.Fprintf(w.out, "%8d  %s%s\n", missing.Requests, missing.Path, candidates)
	}
	w.writeMore(count)
	return nil
}

// writeProbes writes what scanners have asked for, or only the total.
func (w *coverageWriter) writeProbes(c colours) {
	total := w.report.Totals[coverage.Probe]
	switch {
	case total.URLs == 0:
	case !w.probes:
		fmt.Fprintf(w.out, "\nprobes: %s, %s; --probes lists them\n", probesText(total),
			printable.Count(int(total.Requests), "request"))
	default:
		c.heading(w.out, yellow, fmt.Sprintf("\nprobes (%d)", total.URLs))
		for probe := range limit(shownFindings, w.report.Probes()) {
			fmt.Fprintf(w.out, "%8d  %s\n", probe.Requests, probe.Path)
		}
		w.writeMore(total.URLs)
	}
}

func probesText(total coverage.Total) string {
	return printable.Count(total.URLs, "URL") + " that scanners ask any site for"
}

// writeMore writes how many URLs of a list are not shown.
func (w *coverageWriter) writeMore(count int) {
	if more := count - shownFindings; more > 0 {
		fmt.Fprintf(w.out, "  and %d more; --format json has them all\n", more)
	}
}

// limit returns the first n URLs.
func limit(n int, urls iter.Seq[coverage.MissingURL]) iter.Seq[coverage.MissingURL] {
	return func(yield func(coverage.MissingURL) bool) {
		left := n
		for url := range urls {
			if left--; left < 0 || !yield(url) {
				return
			}
		}
	}
}

// perhaps says what was perhaps meant.
func perhaps(candidates []coverage.Candidate) string {
	var all []string
	for _, candidate := range candidates {
		if candidate.Key != "" {
			all = append(all, "key "+candidate.Key)
		} else {
			all = append(all, "page "+candidate.Page)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "  (perhaps " + strings.Join(all, ", ") + ")"
}

// writeCSV writes the missing URLs as a file of rules without destinations.
func (w *coverageWriter) writeCSV() error {
	rows := csv.NewWriter(w.out)
	rows.Write([]string{"key", "destination", "requests"}) //nolint:errcheck // Error has the first one
	var without coverage.Total
	first := ""
	urls, probes := w.report.Missing(), w.report.Totals[coverage.Probe]
	if w.probes {
		urls = w.report.AllMissing()
	} else if probes.URLs > 0 {
		fmt.Fprintf(w.notes, "Note: %s left out; --probes writes them, too\n", probesText(probes))
	}
	for key, missing := range coverage.Keys(urls, w.fold) {
		if key == "" {
			if without.URLs++; without.URLs == 1 {
				first = missing.Path
			}
			continue
		}
		if strings.IndexByte("=+-@", key[0]) >= 0 {
			key = "/" + key // else a spreadsheet could take it for a formula of a stranger
		}
		// nolint:errcheck // see above
		rows.Write([]string{key, "", strconv.FormatUint(missing.Requests, 10)})
	}
	rows.Flush()
	if without.URLs > 0 {
		fmt.Fprintf(w.notes, "Note: %s left out: no rule can have the key, or an earlier row has "+
			"it; the first is %s\n", printable.Count(without.URLs, "missing path"), first)
	}
	return rows.Error()
}

// coverageJSON is the report as JSON, without the missing URLs.
type coverageJSON struct {
	Totals struct {
		Redirect coverage.Total `json:"redirect"`
		Gone     coverage.Total `json:"gone"`
		Page     coverage.Total `json:"page"`
		Error    coverage.Total `json:"error"`
		Missing  coverage.Total `json:"missing"`
		Probe    coverage.Total `json:"probe"`
	} `json:"totals"`
	LeftOut struct {
		Hosts   uint64         `json:"other_hosts"`
		Methods uint64         `json:"other_methods"`
		Entries uint64         `json:"other_entries"`
		Skipped uint64         `json:"skipped"`
		Times   uint64         `json:"other_times"`
		Undated uint64         `json:"undated"`
		Min     coverage.Total `json:"below_min"`
	} `json:"left_out"`
	Unread struct {
		Lines uint64   `json:"lines"`
		First []string `json:"first"`
	} `json:"unread"`
	Notes     []string `json:"notes"`
	Truncated bool     `json:"truncated"`
	Uncounted uint64   `json:"uncounted"`
}

// result returns the report without the missing URLs.
func (w *coverageWriter) result() (r coverageJSON) {
	of, left := &w.report.Totals, w.counts.LeftOut
	t := &r.Totals
	t.Redirect, t.Gone, t.Page = of[coverage.Redirect], of[coverage.Gone], of[coverage.Page]
	t.Error, t.Missing, t.Probe = of[coverage.Error], of[coverage.Missing], of[coverage.Probe]
	l := &r.LeftOut
	l.Hosts, l.Methods, l.Entries, l.Skipped = left.Hosts, left.Methods, left.Entries, left.Skipped
	l.Times, l.Undated = left.Times, left.Undated
	l.Min = w.report.BelowMin
	r.Unread.Lines, r.Unread.First = w.counts.Unread.Lines,
		append([]string{}, w.counts.Unread.First...)
	r.Notes = append([]string{}, slices.Concat(w.counts.Notes, w.rootNotes)...)
	r.Truncated, r.Uncounted = left.Overflow > 0, left.Overflow
	return r
}

// mostSuggested is for how many missing URLs there are suggestions. Each takes up to a millisecond.
const mostSuggested = 10_000

// writeJSON writes one object. The missing URLs can be many, and are streamed.
func (w *coverageWriter) writeJSON() error {
	head, err := printable.JSON(w.result())
	if err != nil {
		return err
	}
	fmt.Fprintf(w.out, "%s,\"missing\":", bytes.TrimSuffix(head, []byte("}")))
	n := 0
	w.progress.setTotal(int64(min(w.report.Totals[coverage.Missing].URLs, mostSuggested)))
	err = w.writeJSONArray(w.report.Missing(), func(missing *coverage.MissingURL) {
		if n++; n <= mostSuggested {
			w.progress.advanceTo(int64(n))
			missing.Candidates = w.report.Candidates(missing.Path)
		}
	})
	if err != nil {
		return err
	}
	fmt.Fprint(w.out, ",\"probes\":")
	asTheyAre := func(*coverage.MissingURL) {}
	if err := w.writeJSONArray(w.report.Probes(), asTheyAre); err != nil {
		return err
	}
	_, err = fmt.Fprint(w.out, "}\n")
	return err
}

// writeJSONArray writes URLs, each with the members that add adds.
func (w *coverageWriter) writeJSONArray(
	urls iter.Seq[coverage.MissingURL], add func(*coverage.MissingURL),
) error {
	fmt.Fprint(w.out, "[")
	separator := "\n"
	for url := range urls {
		add(&url)
		line, err := printable.JSON(url)
		if err != nil {
			return err
		}
		fmt.Fprintf(w.out, "%s%s", separator, line)
		separator = ",\n"
	}
	_, err := fmt.Fprint(w.out, "\n]")
	return err
}

// writeNotes writes to standard error what was not counted.
func (w *coverageWriter) writeNotes() {
	note := func(format string, args ...any) { fmt.Fprintf(w.notes, "Note: "+format+"\n", args...) }
	for _, text := range slices.Concat(w.counts.Notes, w.rootNotes) {
		note("%s", text)
	}
	unread, left := w.counts.Unread, w.counts.LeftOut
	if unread.Lines > 0 {
		note("lines that could not be read: %d", unread.Lines)
		for _, line := range unread.First {
			fmt.Fprintln(w.notes, "  "+line)
		}
		if more := unread.Lines - uint64(len(unread.First)); more > 0 {
			fmt.Fprintf(w.notes, "  and %d more\n", more)
		}
	}
	for _, part := range []struct {
		n    uint64
		what string
	}{
		{left.Hosts, "requests left out, for other hosts"},
		{left.Methods, "requests left out, with other methods than GET and HEAD"},
		{left.Entries, "log entries that are not requests"},
		{left.Skipped, "requests left out, as --skip says"},
		{left.Times, "requests left out, of other times"},
		{left.Undated, "requests left out, without a date"},
		{w.report.BelowMin.Requests, "requests for URLs below --min"},
	} {
		if part.n > 0 {
			note("%s: %d", part.what, part.n)
		}
	}
	if left.Overflow > 0 {
		note("requests not counted, because at most %d URLs are held: %d; leave some out with "+
			"--skip, or read fewer files at a time", coverage.MostURLs, left.Overflow)
	}
}
