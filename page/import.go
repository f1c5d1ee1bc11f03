package page

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/client"
	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/show"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// The fields of an import's form. Its digest is that of the rules with the import, once the user has
// seen what it does.
const (
	fieldTable = "table"
	fieldFile  = "file" // instead of the table
)

// pathImport is the path of the form, below the page's.
const pathImport = "import"

const (
	mostTable = 8 << 20 // how many bytes a form of an import may have
	mostLines = 200     // how many lines of what it does are shown
)

// importView is the form to import links, with what that would do, once it is known.
type importView struct {
	layout
	*show.Changes
	Saved   bool   `json:"saved"` // never
	Error   string `json:"error,omitempty"`
	Table   string `json:"-"`
	WhyNot  string `json:"why_not,omitempty"`
	Unnamed int    `json:"-"` // how many lines are not shown

	Own, OtherLines []show.ChangeLine `json:"-"`
	Warnings        []remark          `json:"-"`
	// Rule is none: warnings name the key that they are about.
	Rule rule `json:"-"`
}

// importForm returns the form of an import.
func (r *request) importForm(table string) importView {
	v := importView{layout: r.layout(), Table: table, WhyNot: r.whyNotWritable()}
	v.Title = "Import links"
	return v
}

func (importView) template() string { return "import" }

func (v importView) text(w io.Writer) {
	fmt.Fprintln(w, v.Heading())
	for _, line := range append(v.Own, v.OtherLines...) {
		fmt.Fprintf(w, "  %s: was %s, now %s\n", line.Requests, line.Before, line.After)
	}
	for _, told := range v.Warnings {
		fmt.Fprintf(w, "%s: %s: %s\n", told.Kind, told.Key, told.Message)
	}
	if v.Changes != nil {
		fmt.Fprintf(w, "To import it send the same again with digest=%s\n", v.Digest)
	}
}

// Heading says what is to be done.
func (v importView) Heading() string {
	switch c := v.Changes; {
	case v.Error != "":
		return v.Error
	case c == nil:
		return "POST the field table, or file, to import: CSV as it is exported, or JSON"
	case c.Added+c.Changed == 0:
		return "All of these links are there already"
	default:
		return fmt.Sprintf("This adds %s and changes %s", printable.Count(c.Added, "link"),
			printable.Count(c.Changed, "link"))
	}
}

// importLinks imports the links of a form whose user has seen what that does, and otherwise shows
// it.
func (r *request) importLinks() view {
	table, digest, err := r.readImport()
	if why := r.page.whyNoEdits(r.user); err == nil && why != "" {
		err = client.Errorf(http.StatusForbidden, "%s", why)
	}
	if err != nil {
		return r.importRefused(table, err)
	}
	var effects *live.Effects
	var warnings []lint.Warning
	edit := &live.Edit{Remote: r.RemoteAddr, User: r.user}
	edit.Make = func(serving *resolver.Ruleset) (changes []live.Change, err error) {
		changes, warnings, err = changesOfTable(table, serving)
		return changes, err
	}
	edit.Confirm = func(f *live.Effects) error {
		if effects = f; digest != f.Digest {
			return unconfirmed{f}
		}
		return nil
	}
	_, err = r.links.Apply(r.Context(), edit)
	if _, is := errors.AsType[unconfirmed](err); is {
		effects.Warnings = append(warnings,
			slices.DeleteFunc(effects.Warnings, live.IsAboutTheSite)...)
		return r.importShown(table, effects)
	}
	if err != nil {
		return r.importRefused(table, err)
	}
	return imported{layout: r.layout(), Saved: true, Changes: show.ChangesOf(effects)}
}

// changesOfTable returns the changes that set the rules of a table, or of a JSON object.
func changesOfTable(table string, serving *resolver.Ruleset) (
	changes []live.Change, warnings []lint.Warning, err error,
) {
	format := rulefile.CSV
	if strings.HasPrefix(strings.TrimSpace(table), "{") {
		format = rulefile.JSON
	}
	changes, err = live.ChangesBy(serving, func(
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
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch kind {
	case formType:
		err = r.ParseForm()
	case "multipart/form-data":
		err = r.ParseMultipartForm(mostTable)
	default:
		return "", "", client.Errorf(http.StatusUnsupportedMediaType,
			"an import is a form; send it with Content-Type: %s or multipart/form-data", formType)
	}
	if tooLarge, is := errors.AsType[*http.MaxBytesError](err); is {
		return "", "", client.Errorf(http.StatusRequestEntityTooLarge,
			"the table has more than %d bytes; import it in parts", tooLarge.Limit)
	}
	if err == nil && r.MultipartForm != nil {
		table, err = contentOf(r.MultipartForm.File[fieldFile])
	}
	if err != nil {
		return "", "", client.Errorf(http.StatusBadRequest, "the form cannot be read: %w", err)
	}
	if table == "" {
		table = r.PostForm.Get(fieldTable)
	}
	if strings.TrimSpace(table) == "" {
		err = client.Errorf(http.StatusUnprocessableEntity,
			"there is no link; paste a table, or choose a file")
	}
	return table, r.PostForm.Get(fieldDigest), err
}

// contentOf returns the content of the first file of a field, "" for none.
func contentOf(files []*multipart.FileHeader) (string, error) {
	if len(files) == 0 {
		return "", nil
	}
	file, err := files[0].Open()
	if err != nil {
		return "", err
	}
	defer file.Close()
	content, err := io.ReadAll(file)
	return string(content), err
}

var placeInTable = regexp.MustCompile(`(?m)^(\d+):\d+: `)

// importRefused returns the form with why nothing is imported, by line.
func (r *request) importRefused(table string, err error) view {
	v := r.importForm(table)
	v.Error = placeInTable.ReplaceAllString(err.Error(), "line $1: ")
	v.Title, v.Status = "Nothing is imported", client.StatusOf(err)
	return v
}

// importShown returns the form with what the import would do.
func (r *request) importShown(table string, f *live.Effects) view {
	v := r.importForm(table)
	v.Status, v.Changes = http.StatusPreconditionRequired, show.ChangesOf(f)
	v.Own, v.OtherLines = show.LinesOf(f.Own...), show.LinesOf(f.Others...)
	for _, note := range f.Notes {
		v.Own = append(v.Own, show.ChangeLine{Requests: note.Rule.Key, Before: noteText(note.Was),
			After: noteText(note.Rule.Note)})
	}
	v.Unnamed = v.Changes.Unnamed + max(0, len(v.Own)-mostLines)
	v.Own = v.Own[:min(len(v.Own), mostLines)]
	v.Warnings = remarksOf(f.Warnings)
	return v
}

func noteText(note string) string {
	if note == "" {
		return "no note"
	}
	return "note: " + note
}

// imported is the view after an import.
type imported struct {
	layout
	Saved bool `json:"saved"`
	*show.Changes
}

func (imported) template() string { return "message" }

// location returns the start page, which lists what was last changed.
func (v imported) location() string { return v.Root }

func (v imported) text(w io.Writer) {
	fmt.Fprintf(w, "imported %d and changed %d, digest %s\n", v.Added, v.Changed, v.Digest)
}
