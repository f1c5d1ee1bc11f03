package page

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/client"
	"github.com/caddy-shortlink/shortlink/internal/effects"
	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/show"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// pathImport is the path of the form that imports links, below the page's. Its fields are a table
// or a file and, once the user has seen what that does, the digest of the rules with it.
const pathImport = "import"

const (
	mostTable = 8 << 20 // how many bytes a form of an import may have
	mostLines = 200     // how many lines of what it does are shown
)

// importView is the form to import links, with what that would do, once it is known.
type importView struct {
	layout
	*show.Changes
	Saved    bool     `json:"saved"`
	Error    string   `json:"error,omitempty"`
	Warnings []remark `json:"-"`
	Table    string   `json:"-"`
	WhyNot   string   `json:"-"`
	// Rule is none, so that each warning names its key.
	Rule rule `json:"-"`
}

func (r *request) importForm(table string) importView {
	v := importView{layout: r.layout(), Table: table, WhyNot: r.whyNotWritable()}
	v.Title = "Import links"
	return v
}

func (importView) template() string { return "import" }

func (v importView) text(w io.Writer) {
	fmt.Fprintln(w, v.Heading())
	if v.Changes != nil {
		fmt.Fprintf(w, "To import it send the same again with digest=%s\n", v.Digest)
	}
}

// Heading says what there is to do.
func (v importView) Heading() string {
	switch {
	case v.Changes == nil && v.Error == "":
		return "POST the field table, or file, to import: CSV as it is exported, or JSON"
	case v.Changes == nil:
		return v.Error
	case v.Added+v.Changed == 0:
		return "All of these links are there already"
	}
	return fmt.Sprintf("This adds %s and changes %s", printable.Count(v.Added, "link"),
		printable.Count(v.Changed, "link"))
}

// Lines are the first lines of what changes, Unnamed is how many more changes or lines there are.
func (v importView) Lines() []show.ChangeLine {
	lines := v.lines()
	return lines[:min(len(lines), mostLines)]
}

func (v importView) Unnamed() int { return v.Changes.Unnamed + max(0, len(v.lines())-mostLines) }

func (v importView) lines() (lines []show.ChangeLine) {
	for _, c := range v.Changes.Changes {
		for _, line := range c.Lines() {
			if c.Kind == show.ChangeWindows {
				line.Before, line.After = ruleIn(c.Was).value(), ruleIn(c.Now).value()
			}
			if !c.IsForClients() {
				line.Requests += " (" + c.Kind + ")"
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// importLinks imports the links of a form whose user has seen what that does, and otherwise shows
// it.
func (r *request) importLinks() view {
	table, digest, err := r.readImport()
	if why := r.page.whyNoEdits(r.user); why != "" {
		err = client.Errorf(http.StatusForbidden, "%s", why)
	}
	v, e := r.importForm(table), new(formEdit)
	edit := r.newEdit(e)
	edit.Make = func(serving *live.Loaded) (changes []live.Change, err error) {
		changes, e.advice, err = changesOfTable(table, serving)
		return changes, err
	}
	edit.Confirm = func(f *effects.Effects) error {
		v.Changes, v.Warnings = show.ChangesOf(f), remarksOf(e.warnings(f))
		if digest == f.Digest {
			return nil
		}
		return unconfirmed{f}
	}
	if err == nil {
		_, err = r.links.Apply(r.Context(), edit)
	}
	switch _, is := errors.AsType[unconfirmed](err); {
	case err == nil:
		v.Saved = true
		return imported{v}
	case is:
		v.Status = http.StatusPreconditionRequired
	default:
		v.Title, v.Status, v.Changes = "Nothing is imported", client.StatusOf(err), nil
		v.Error = placeInTable.ReplaceAllString(err.Error(), "line $1: ")
	}
	return v
}

var placeInTable = regexp.MustCompile(`(?m)^(\d+):\d+: `)

// imported is the view after an import: the start page, which lists what was last changed.
type imported struct{ importView }

func (v imported) location() string { return v.Root }

func (v imported) text(w io.Writer) {
	fmt.Fprintf(w, "imported %d and changed %d, digest %s\n", v.Added, v.Changed, v.Digest)
}

// changesOfTable returns the changes that set the rules of a table, or of a JSON object.
func changesOfTable(table string, serving *live.Loaded) (
	changes []live.Change, warnings []lint.Warning, err error,
) {
	format := rulefile.CSV
	table = strings.TrimPrefix(table, "\ufeff") // of JSON, too, as Windows saves it
	if strings.HasPrefix(strings.TrimSpace(table), "{") {
		format = rulefile.JSON
	}
	changes, err = live.ChangesFor(serving, false, func(
		_ func(string) (resolver.Rule, bool), change func(resolver.Rule, bool),
	) (err error) {
		warnings, err = rulefile.Reading{}.Read(strings.NewReader(table), format, "",
			func(rule resolver.Rule) { change(rule, false) })
		if err != nil {
			return client.Errorf(http.StatusUnprocessableEntity, "%w", printable.Shorten(err))
		}
		return nil
	})
	return changes, warnings, err
}

// readImport reads the fields of an import.
func (r *request) readImport() (table, digest string, err error) {
	r.Body = http.MaxBytesReader(nil, r.Body, mostTable)
	if err = r.ParseForm(); err == nil {
		err = r.ParseMultipartForm(mostTable)
	}
	if err == nil {
		table, err = r.fileOfForm()
	}
	if tooLarge, is := errors.AsType[*http.MaxBytesError](err); is {
		return "", "", client.Errorf(http.StatusRequestEntityTooLarge,
			"the table has more than %d bytes; import it in parts", tooLarge.Limit)
	}
	if err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return "", "", client.Errorf(http.StatusBadRequest, "the form cannot be read: %w", err)
	}
	if table == "" {
		table = r.PostForm.Get("table")
	}
	if strings.TrimSpace(table) == "" {
		return "", "", client.Errorf(http.StatusUnprocessableEntity,
			"there is no link; paste a table, or choose a file")
	}
	return table, r.PostForm.Get(fieldDigest), nil
}

// fileOfForm returns the content of the file that a form has, "" for none.
func (r *request) fileOfForm() (string, error) {
	file, _, err := r.FormFile("file")
	if err != nil {
		return "", nil
	}
	defer file.Close()
	content, err := io.ReadAll(file)
	return string(content), err
}
