package page

import (
	"mime"
	"net/http"

	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// export streams all rules as a file in a format.
func (r *request) export(w http.ResponseWriter, extension string) error {
	format, err := rulefile.ParseFormat(extension)
	if err != nil || format != rulefile.JSON && format != rulefile.CSV {
		return r.page.write(w, r.Request, notFound(r.layout(), "There are export.json and export.csv."))
	}
	serving := r.links.Serving()
	tag, h := live.EntityTag(serving.Digest), w.Header()
	h.Set("ETag", tag)
	h.Del("Vary")
	conditions, _ := live.PreconditionsOf(r.Request) // one that cannot be read asks for nothing here
	if conditions.IsKnown(tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", map[rulefile.Format]string{
		rulefile.JSON: "application/json", rulefile.CSV: "text/csv; charset=utf-8",
	}[format])
	h.Set("Content-Disposition", mime.FormatMediaType("attachment",
		map[string]string{"filename": r.links.UniqueName + "-links." + extension}))
	if r.Method == http.MethodHead {
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
	return rulefile.Write(w, format, serving.Ruleset.RulesBelow(""))
}
