package command

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/source"
)

// writeCaddyfile writes a Caddyfile of what no rule can express, and returns a remark on it.
func (c *converting) writeCaddyfile(
	ctx context.Context, from string, all []migrate.Redirect,
) (remark string, err error) {
	f := newCaddyfile(from, all)
	if f.n == 0 {
		return "none of the refused lines can be written to " + c.caddyfile + ", so it is not", nil
	}
	err = source.ReplaceFile(ctx, c.caddyfile, f.write)
	if err != nil {
		return "", fmt.Errorf("%s: %w", c.caddyfile, err)
	}
	return fmt.Sprintf("%s has %s that no rule can express", c.caddyfile,
		printable.Count(f.n, "redirect")), nil
}

// caddyfile has the redirects of the site in a snippet, and those of other hosts in their sites.
type caddyfile struct {
	from  string // the file that was converted
	n     int    // of redirects
	hosts []string
	lines map[string][]string // by host; the site's is ""
}

// plainURL matches a URL, or a path, that Caddy's matchers take as it is: host, path, and query.
// plainTo matches a destination, and plainAccept an expression, that needs no quotation marks.
var (
	plainURL = regexp.MustCompile(
		`^(?:https?://([\w.-]+(?::\d+)?))?(/(?:[\w.~/+,;=@!-]*|\*))(?:\?([\w.~/%+,;=@!&-]+))?$`)
	plainAccept = regexp.MustCompile(`^[\w/.+*\\^$()|;=,-]*$`)
	plainTo     = regexp.MustCompile(
		`^(?:https?://[\w.-]+(?::\d+)?)?(?:/[\w.~/%+,;=@!-]*)?(?:/{splat})?(?:\?[\w.~/%+,;=@!&-]*)?` +
			`(?:#[\w-]*)?$`)
)

func newCaddyfile(from string, all []migrate.Redirect) *caddyfile {
	f := &caddyfile{from: from, lines: map[string][]string{}}
	seen := map[string]bool{} // the first of several counts
	for _, r := range all {
		parts := plainURL.FindStringSubmatch(r.URL)
		to, hasRest := strings.CutSuffix(r.To, "/{splat}")
		_, err := regexp.Compile(r.Accept)
		if parts == nil || seen[r.URL+" "+r.Accept] || err != nil || !plainAccept.MatchString(r.Accept) ||
			r.To == "" || !plainTo.MatchString(r.To) ||
			hasRest && parts[2] != "/*" {
			continue
		}
		seen[r.URL+" "+r.Accept] = true
		f.n++
		switch {
		case hasRest && r.KeepsQuery:
			to += "{uri}"
		case hasRest:
			to += "{path}"
		case r.KeepsQuery:
			to += "{http.request.uri.prefixed_query}"
		}
		var conditions []string
		if parts[3] != "" {
			conditions = append(conditions, fmt.Sprintf("expression `{query} == %q`", parts[3]))
		}
		if r.Accept != "" {
			conditions = append(conditions, "header_regexp Accept "+r.Accept)
		}
		f.add(parts[1], parts[2], conditions, fmt.Sprintf("%s %d", to, r.Status))
	}
	return f
}

// add adds a redirect of a path, under conditions, with its destination and status.
func (f *caddyfile) add(host, path string, conditions []string, to string) {
	if f.lines[host] == nil && host != "" {
		f.hosts = append(f.hosts, host)
	}
	matcher := path
	if conditions != nil {
		matcher = fmt.Sprintf("@moved%d", f.n)
		f.lines[host] = append(f.lines[host], matcher+" {", "\tpath "+path)
		for _, condition := range conditions {
			f.lines[host] = append(f.lines[host], "\t"+condition)
		}
		f.lines[host] = append(f.lines[host], "}")
	}
	f.lines[host] = append(f.lines[host], "redir "+matcher+" "+to)
}

// write writes the Caddyfile.
func (f *caddyfile) write(to io.Writer) error {
	w := bufio.NewWriter(to)
	fmt.Fprintf(w, "# Redirects of %s that are no rules. Import this file in a Caddyfile, behind its "+
		"global options.\n", printable.Text(f.from))
	slices.Sort(f.hosts)
	if own := f.lines[""]; own != nil {
		fmt.Fprintln(w, "# The block of the site needs the line: import moved")
		writeBlock(w, "(moved)", own)
	}
	for _, host := range f.hosts {
		writeBlock(w, host, f.lines[host])
	}
	return w.Flush()
}

func writeBlock(w io.Writer, name string, lines []string) {
	fmt.Fprintf(w, "\n%s {\n", name)
	for _, line := range lines {
		fmt.Fprintf(w, "\t%s\n", line)
	}
	fmt.Fprintln(w, "}")
}
