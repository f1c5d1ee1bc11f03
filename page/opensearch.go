package page

import (
	"encoding/xml"
	"net/http"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/client"
)

// openSearchDescription lets browsers search links from their address bar (OpenSearch 1.1,
// draft 6).
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

// absolute returns the URL of a page below the root, as the client sees it. If the path was
// rewritten on its way to the handler, the URL is as the handler sees it.
func (r *request) absolute(below string) string {
	scheme, host := client.Origin(r.Request)
	return scheme + "://" + host + stripped(r.Request) + r.page.Path + "/" + below
}

// stripped returns the prefix that was stripped from a request's path before it reached the page,
// for example by handle_path.
func stripped(r *http.Request) string {
	asked, path := askedURL(r).EscapedPath(), r.URL.EscapedPath()
	if path == "/" {
		return strings.TrimSuffix(asked, "/") // of a prefix without its slash, one is left
	}
	before, found := strings.CutSuffix(asked, path)
	if !found {
		return ""
	}
	return before
}
