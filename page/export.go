package page

import (
	"bytes"
	"encoding/xml"
	"mime"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

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

// openSearchDescription lets browsers search links from their address bar (OpenSearch 1.1, draft 6).
type openSearchDescription struct {
	XMLName       xml.Name        `xml:"http://a9.com/-/spec/opensearch/1.1/ OpenSearchDescription"`
	ShortName     string          `xml:"ShortName"`
	Description   string          `xml:"Description"`
	InputEncoding string          `xml:"InputEncoding"`
	URLs          []openSearchURL `xml:"Url"`
}

type openSearchURL struct {
	Type     string `xml:"type,attr"`
	Template string `xml:"template,attr"`
}

// openSearch answers with the description.
func (r *request) openSearch(w http.ResponseWriter) error {
	d := openSearchDescription{
		ShortName:   shortened(r.links.UniqueName+" links", 16),
		Description: "Search the links of " + r.links.UniqueName, InputEncoding: "UTF-8",
		URLs: []openSearchURL{
			{"text/html", r.absolute("?q=") + "{searchTerms}"},
		},
	}
	b, err := xml.MarshalIndent(d, "", "\t")
	if err != nil {
		return err
	}
	h := w.Header()
	h.Del("Vary")
	h.Set("Content-Type", "application/opensearchdescription+xml")
	return send(w, r.Request, http.StatusOK, append([]byte(xml.Header), append(b, '\n')...))
}

// shortened returns the first characters of a text.
func shortened(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most])
	}
	return text
}

// absolute returns the URL of a page below the root, as the client sees it. Where the path was
// rewritten on its way to the handler it cannot be known, and is that of the handler.
func (r *request) absolute(below string) string {
	scheme, host := live.ClientOrigin(r.Request)
	return scheme + "://" + host + stripped(r.Request) + r.page.Path + "/" + below
}

// stripped returns what was cut from the beginning of a request's path before it came here, as by
// handle_path.
func stripped(r *http.Request) string {
	original, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request)
	if !ok || original.URL == nil {
		return ""
	}
	before, found := strings.CutSuffix(original.URL.EscapedPath(), r.URL.EscapedPath())
	if !found {
		return ""
	}
	return before
}

// sendPicture sends a QR code.
func (r *request) sendPicture(w http.ResponseWriter, code *qrCode) error {
	var b bytes.Buffer
	if err := code.PNG(&b); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "image/png")
	h.Set("Content-Disposition", "attachment; filename=qr.png")
	return send(w, r.Request, http.StatusOK, b.Bytes())
}
