package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/webroot"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
)

// Warnings of a comparison with the files of the site.
const (
	kindHidden    lint.Kind = "hides a page"
	kindMissing   lint.Kind = "destination is missing"
	kindUnread    lint.Kind = "unreadable directory"
	kindTemplates lint.Kind = "rules with variables"
)

// rootCheck compares the rules of a handler with the files of its site.
type rootCheck struct {
	root    *webroot.Root
	dir     string
	ruleset *resolver.Ruleset
	site    lint.Site
	folds   bool // keys match without regard to case
	report  *checkReport

	hidden map[int]*hiddenFiles // by the number of the rule
	buffer []byte
}

// hiddenFiles are the files whose requests a rule answers.
type hiddenFiles struct {
	n     int
	first string
}

// checkRoot adds the warnings of a comparison with the site's files, which are in dir. hosts are
// those of the site besides the host of the options' origin.
func (r *checkReport) checkRoot(
	ruleset *resolver.Ruleset, options resolver.Options, root *webroot.Root, dir string,
	hosts []string,
) {
	c := rootCheck{
		root: root, dir: dir, ruleset: ruleset, site: lint.SiteOf(ruleset, hosts),
		folds:  options.FoldCase,
		report: r, hidden: map[int]*hiddenFiles{},
	}
	c.findUnread()
	c.findTemplates()
	c.findHidden()
	lint.Unanswered(ruleset, hosts, c.checkDestination)
}

func (c *rootCheck) find(kind lint.Kind, rule resolver.Rule, message string) {
	f := lint.Finding{Severity: lint.SeverityWarning}
	f.Kind, f.Position, f.Key, f.Message = kind, rule.Position, rule.Key, message
	if kind == kindTemplates {
		f.Severity = lint.SeverityNote
	}
	c.report.addFinding(f)
}

// findUnread reports directories that could not be read.
func (c *rootCheck) findUnread() {
	for _, err := range c.root.Unread() {
		c.find(kindUnread, resolver.Rule{}, printable.Text(err.Error())+
			"; their files count as missing")
	}
}

// findTemplates reports that rules with variables are not compared.
func (c *rootCheck) findTemplates() {
	n := 0
	for range c.ruleset.Templates() {
		n++
	}
	if n > 0 {
		c.find(kindTemplates, resolver.Rule{}, printable.Count(n, "rule")+" with variables "+
			isOrAre(n)+" not compared with the files of "+printable.Text(c.dir))
	}
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// findHidden finds the rules that answer requests for files.
func (c *rootCheck) findHidden() {
	for file := range c.root.All() {
		c.noteRulesOf(file)
	}
	for number, files := range c.hidden {
		rule, ok := c.ruleset.Numbered(number)
		if !ok {
			continue
		}
		c.find(kindHidden, rule, "the rule takes the requests for "+
			filesText(files.n, printable.Text(files.first))+" in "+printable.Text(c.dir)+
			"; remove it, or what it hides, or keep a path from it by a rule with pass")
	}
}

// filesText says how many files there are, and names the first.
func filesText(n int, first string) string {
	if n == 1 {
		return "the file " + first
	}
	return fmt.Sprintf("%d files, the first being %s,", n, first)
}

// noteRulesOf records the rules that answer requests for a file, by any of its paths.
func (c *rootCheck) noteRulesOf(file string) {
	var noted []int
	paths := webroot.URLPaths(file)
	for _, path := range paths {
		number, ok := c.ruleThatTakes(path, paths[0], file)
		if !ok || slices.Contains(noted, number) {
			continue
		}
		noted = append(noted, number)
		files := c.hidden[number]
		if files == nil {
			files = &hiddenFiles{first: file}
			c.hidden[number] = files
		}
		files.n++
	}
}

// ruleThatTakes returns the rule without variables that answers requests for a path of a file,
// unless it leads to that very file. Not every site serves paths other than the file's own, so
// those count if they are a key, but not below one.
func (c *rootCheck) ruleThatTakes(path, own, file string) (number int, ok bool) {
	scheme, host, _ := strings.Cut(c.site.Origin(), "://")
	request, ok := resolver.NewRequest(scheme, host, path)
	if !ok {
		return 0, false
	}
	var result resolver.Result
	c.buffer, result = c.ruleset.AppendDestination(c.buffer[:0], &request)
	if result.Outcome == resolver.Pass || resolver.IsTemplate(result.Key) ||
		path != own && !c.isKey(path, result.Key) {
		return 0, false
	}
	if result.Outcome == resolver.Redirect {
		destination, atSite := c.site.Path(string(c.buffer))
		if page, ok := c.root.Page(destination); atSite && ok && page == file {
			return 0, false
		}
	}
	return result.Rule, true
}

// isKey reports whether a path is a key, perhaps with a slash at its end.
func (c *rootCheck) isKey(path, key string) bool {
	key = resolver.CanonicalKey(key, c.folds)
	path = resolver.CanonicalKey(path[1:], c.folds)
	return path == key || strings.TrimSuffix(path, "/") == key
}

// checkDestination reports a path of the site that neither a rule nor a file answers. A rule that
// also matches what lies below its key may lead to a directory.
func (c *rootCheck) checkDestination(rule resolver.Rule, path string) {
	if _, ok := c.root.Page(path); ok {
		return
	}
	if n, _ := c.root.Below(path); n > 0 && !rule.Exact {
		return
	}
	c.find(kindMissing, rule,
		"no rule answers "+printable.Text(path)+", and there is no such file in "+
			printable.Text(c.dir)+", nor with .html or as an index; write the path of a file, or a rule "+
			"for this path")
}

// openRoot lists the files in the directory of --root; nil if none is given.
func openRoot(cmd *cobra.Command, dir string) (*webroot.Root, error) {
	switch {
	case dir == "" && cmd.Flags().Changed("root"):
		return nil, errors.New("--root takes the directory of the site's files; it is empty")
	case dir == "":
		return nil, nil
	}
	root, err := webroot.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("--root takes the directory of the site's files: %w", err)
	}
	return root, nil
}
