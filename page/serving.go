package page

import (
	"fmt"
	"io"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/show"
)

// serving is what views tell of the rules that serve.
type serving struct {
	State show.Status `json:"status"`
}

func (v serving) text(w io.Writer) {
	fmt.Fprintf(w, "%s, digest %s\n", printable.Count(v.State.Rules, "rule"), v.State.Digest)
	if last := v.State.LastLoad; last.Error != "" {
		fmt.Fprintf(w, "rejected at %s: %s\n", last.Time.UTC().Format(time.RFC3339), last.Error)
	}
}

// servingPage is the view of what serves, and from where.
type servingPage struct {
	layout
	serving
	// Loaded is when the rules that serve were loaded.
	Loaded time.Time `json:"loaded"`
	// EditedSource is the source that edits go to.
	EditedSource string `json:"-"`
}

func (r *request) servingPage() view {
	v := servingPage{layout: r.layout(), serving: serving{show.StatusOfRunning(r.links)},
		EditedSource: r.links.EditedSource()}
	v.Title, v.Loaded = "What serves", v.State.Loaded
	return v
}

// Broken are the rules that are answered with an error.
func (v servingPage) Broken() []show.BrokenRule { return v.State.Broken }

// Rules is how many rules serve.
func (v servingPage) Rules() string { return number(uint64(v.State.Rules)) }

func (servingPage) template() string { return "serving" }

func (v servingPage) text(w io.Writer) {
	v.serving.text(w)
	fmt.Fprintf(w, "loaded at %s\n", v.Loaded.UTC().Format(time.RFC3339))
	for _, from := range v.State.Sources {
		fmt.Fprintln(w, "from", from.Source)
	}
}
