package page

import (
	"context"
	"iter"
	"mime"
	"net/http"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/client"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// export streams all rules as a file.
func (r *request) export(w http.ResponseWriter, extension string) error {
	format, err := rulefile.ParseFormat(extension)
	if err != nil || format != rulefile.JSON && format != rulefile.CSV {
		return r.page.write(w, r.Request, notFound(r.layout(), "There are export.json and export.csv."))
	}
	serving := r.links.Serving()
	h := w.Header()
	h.Set("ETag", client.EntityTag(serving.Digest))
	conditions, _ := client.PreconditionsOf(r.Request) // an invalid one has no effect here
	if conditions.IsKnown(serving.Digest) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", map[rulefile.Format]string{
		rulefile.JSON: "application/json", rulefile.CSV: "text/csv; charset=utf-8",
	}[format])
	h.Set("Content-Disposition", mime.FormatMediaType("attachment",
		map[string]string{"filename": r.links.UniqueName + "-links." + extension}))
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	select {
	case r.page.exports <- struct{}{}:
		defer func() { <-r.page.exports }()
	default:
		h.Set("Retry-After", "10")
		h.Del("Content-Disposition")
		h.Del("ETag")
		return r.page.write(w, r.Request, failure(r.layout(), http.StatusServiceUnavailable,
			"Others are exporting the links; try again."))
	}
	deadlines := http.NewResponseController(w)
	_ = deadlines.SetWriteDeadline(time.Now().Add(exportTime)) // not every writer has one
	defer deadlines.SetWriteDeadline(time.Time{})              //nolint:errcheck // as above
	return rulefile.Write(w, format, whileAsked(r.Context(), serving.RulesBelow("")))
}

// exportTime is how long an export may take: a client that does not read blocks others.
const exportTime = 5 * time.Minute

// whileAsked passes rules on until the client has gone.
func whileAsked(ctx context.Context, rules iter.Seq[resolver.Rule]) iter.Seq[resolver.Rule] {
	return func(yield func(resolver.Rule) bool) {
		for rule := range rules {
			if ctx.Err() != nil || !yield(rule) {
				return
			}
		}
	}
}
