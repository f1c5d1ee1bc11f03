package command

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-shortlink/shortlink/internal/admin"
	"github.com/caddy-shortlink/shortlink/internal/printable"
)

// hitsQuery is the command line of "caddy shortlink hits".
type hitsQuery struct {
	unused, format string
	days           bool
	top            uint64 // 0 for all
}

func hitsCommand() *cobra.Command {
	var o online
	var q hitsQuery
	cmd := &cobra.Command{
		Use:   "hits [--top N] [--unused DURATION | --days [KEY]] [--format text|json|csv]",
		Short: "Says how often the rules of a running Caddy have redirected",
		Long: `Says how often each rule of a running Caddy has redirected, and when last, to the minute.
Servers that share Caddy's storage are counted together. Rules with the most hits come
first; --top limits their number. The last line says how many rules have none.

--unused lists only rules that nobody has needed for this long, directly or through another
rule. Rules without hits, and those that were added since then, are among them.

--days lists each of the last 90 days: how often all rules together have redirected, or the
rule with the key KEY. Days are in UTC, oldest first; the last line is the total.

With --format json and csv all rules are listed by key, also those without hits. The
columns of csv are key, count and last, or date and count.`,
		Example: `  caddy shortlink hits --top 20
  caddy shortlink hits --unused 90d --name docs
  caddy shortlink hits --days wiki
  caddy shortlink hits --format csv > hits.csv`,
		RunE: exiting(func(cmd *cobra.Command, args []string) error {
			if err := q.check(args); err != nil {
				return err
			}
			r, err := o.find()
			if err != nil {
				return err
			}
			if q.days {
				return r.days(cmd, args, q.format)
			}
			return r.hits(cmd, q)
		}),
	}
	o.addFlags(cmd)
	cmd.Flags().Uint64Var(&q.top, "top", 0,
		"Only this many rules, those with the most hits; 0 for all")
	cmd.Flags().StringVar(&q.unused, "unused", "",
		"Only rules not used for this long, such as 90d; includes rules without hits and "+
			"rules added in that period")
	cmd.Flags().BoolVar(&q.days, "days", false,
		"Each of the last 90 days, of all rules together or of the one with this key")
	formatFlag(cmd, &q.format, formatJSON, formatCSV)
	return cmd
}

// check checks the command line.
func (q *hitsQuery) check(args []string) error {
	if err := checkFormat(q.format, formatJSON, formatCSV); err != nil {
		return err
	}
	switch {
	case !q.days && len(args) > 0:
		return errors.New("hits takes no arguments; for one rule write: hits --days docs")
	case len(args) > 1:
		return errors.New("hits --days takes one key at most")
	case q.days && q.unused != "":
		return errors.New("--days lists days and --unused lists rules; write one of them")
	case q.days && q.top > 0:
		return errors.New("--days lists days and --top lists rules; write one of them")
	case q.format != formatText && q.top > 0:
		return errors.New("--top is for text; with --format csv or json all rules are listed by key")
	}
	if _, err := admin.ParseUnused(q.unused); err != nil {
		return fmt.Errorf("--%w", err)
	}
	return nil
}

// days writes the hits of each day: of all rules together or, if args names one, of that.
func (r *remote) days(cmd *cobra.Command, args []string, format string) error {
	path := r.path("hits") + "?days=true"
	if len(args) > 0 {
		path += "&key=" + url.QueryEscape(args[0])
	}
	var answer admin.Days
	if err := r.get(path, &answer); err != nil {
		return err
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	if format == formatJSON {
		return errors.Join(json.NewEncoder(out).Encode(answer), out.Flush())
	}
	if format == formatCSV {
		return errors.Join(writeDaysCSV(out, answer.Days), out.Flush())
	}
	fmt.Fprintln(out, "counted since", answer.Since.Format(time.RFC3339))
	total := uint64(0)
	for _, day := range answer.Days {
		fmt.Fprintf(out, "%s  %10d\n", day.Date, day.Count)
		total += day.Count
	}
	fmt.Fprintf(out, "%-10s  %10d\n", "total", total)
	return out.Flush()
}

// hits writes the hits of rules.
func (r *remote) hits(cmd *cobra.Command, q hitsQuery) error {
	path := r.path("hits")
	if q.unused != "" {
		path += "?unused=" + url.QueryEscape(q.unused)
	}
	response, err := r.do(http.MethodGet, path, nil, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	out := bufio.NewWriter(cmd.OutOrStdout())
	switch q.format {
	case formatJSON:
		_, err = io.Copy(out, response.Body)
	case formatCSV:
		err = writeHitsCSV(out, cmd.ErrOrStderr(), response.Body)
	default:
		err = q.writeText(out, cmd.ErrOrStderr(), response.Body)
	}
	return errors.Join(err, out.Flush())
}

// writeText writes the rules with the most hits first, and how many have none.
func (q *hitsQuery) writeText(w, notes io.Writer, body io.Reader) error {
	type keyHit struct {
		key string
		admin.Hit
	}
	var all []keyHit
	without := 0
	to := hitReader{
		since: func(since string) { fmt.Fprintln(w, "counted since", since) },
		hit: func(key string, h admin.Hit) error {
			if h.Count > 0 || q.unused != "" {
				all = append(all, keyHit{key, h})
			} else {
				without++
			}
			return nil
		},
	}
	if err := to.read(notes, body); err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b keyHit) int { return cmp.Compare(b.Count, a.Count) })
	shown := all
	if q.top > 0 {
		shown = all[:min(q.top, uint64(len(all)))]
	}
	for _, h := range shown {
		fmt.Fprintf(w, "%s  %s\n", hitText(h.Hit), h.key)
	}
	if more := len(all) - len(shown); more > 0 {
		fmt.Fprintf(w, "and %d more\n", more)
	}
	if without > 0 {
		have := "have"
		if without == 1 {
			have = "has"
		}
		fmt.Fprintf(w, "%s %s no hits; --unused 90d lists rules not used for 90 days\n",
			printable.Count(without, "rule"), have)
	}
	return nil
}

// writeHitsCSV writes the hits of all rules as a table, as they arrive.
func writeHitsCSV(w, notes io.Writer, body io.Reader) error {
	rows := csv.NewWriter(w)
	rows.Write([]string{"key", "count", "last"}) //nolint:errcheck // Error has the first one
	to := hitReader{hit: func(key string, h admin.Hit) error {
		return rows.Write([]string{key, strconv.FormatUint(h.Count, 10), lastOf(h, "")})
	}}
	err := to.read(notes, body)
	rows.Flush()
	return errors.Join(err, rows.Error())
}

// writeDaysCSV writes the hits of each day as a table.
func writeDaysCSV(w io.Writer, days []admin.Day) error {
	rows := csv.NewWriter(w)
	rows.Write([]string{"date", "count"}) //nolint:errcheck // Error has the first one
	for _, day := range days {
		rows.Write([]string{day.Date, strconv.FormatUint(day.Count, 10)}) //nolint:errcheck // see above
	}
	rows.Flush()
	return rows.Error()
}

// hitText returns how often and when last a rule has redirected, in columns.
func hitText(h admin.Hit) string { return fmt.Sprintf("%10d  %-20s", h.Count, lastOf(h, "never")) }

// lastOf returns when a rule last redirected.
func lastOf(h admin.Hit, never string) string {
	if h.Last == nil {
		return never
	}
	return h.Last.Format(time.RFC3339)
}

// hitReader reads the hits of all rules as they arrive.
type hitReader struct {
	since func(string) // nil for nobody
	hit   func(key string, h admin.Hit) error
}

// read reads the endpoint's answer, and writes its notes to notes.
func (r *hitReader) read(notes io.Writer, body io.Reader) error {
	answer := json.NewDecoder(body)
	return eachMember(answer, func(name string) error {
		switch name {
		case "since":
			var since string
			if err := answer.Decode(&since); err != nil {
				return err
			}
			if r.since != nil {
				r.since(since)
			}
		case "note":
			var note string
			if err := answer.Decode(&note); err != nil {
				return err
			}
			fmt.Fprintln(notes, "Note:", note)
		case "hits":
			return eachMember(answer, func(key string) error {
				var h admin.Hit
				if err := answer.Decode(&h); err != nil {
					return err
				}
				return r.hit(key, h)
			})
		default:
			var other any
			return answer.Decode(&other)
		}
		return nil
	})
}

// eachMember calls read with the name of each member of an object, to read its value.
func eachMember(d *json.Decoder, read func(name string) error) error {
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		if err := read(fmt.Sprint(name)); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}
