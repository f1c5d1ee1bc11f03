package page

import (
	"bytes"
	"embed"
	"fmt"
	"hash/fnv"
	"html/template"
	"io"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/internal/printable"
)

// view is the content of an answer: as HTML by a template, as JSON by its exported fields with
// names, or as text.
type view interface {
	status() int
	template() string // the name
	text(w io.Writer) // for people at a terminal
}

// redirectingView is a view after an edit: browsers are redirected to a page that can be reloaded.
type redirectingView interface {
	view
	location() string // a relative reference
}

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed assets
var assets embed.FS

// templates are the templates of all views. Each begins with "head" and ends with "foot" of
// layout.html.
var templates = template.Must(
	template.New("").Funcs(functions).ParseFS(templateFiles, "templates/*.html"))

// functions are the functions of templates.
var functions = template.FuncMap{
	"keyPath": keyPath,
	"list": func(root, caption, query, sort string, links []link) linkList {
		return linkList{root, caption, query, sort, links}
	},
	"asset":   assetURL,
	"minute":  func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") },
	"machine": func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") },
	"number":  number,
	"count":   printable.Count,
	"visible": printable.Text,
	"lines":   visibleLines,
	"short":   short,
	"brief":   func(text string) string { return cut(text, mostBrief) },
	"isLong":  func(text string) bool { return len(text) > mostBrief },

	"styleOfMisses": func() template.CSS { return template.CSS(styleOfMisses) },
	"iconOfMisses":  func() template.URL { return iconOfMisses },
}

// mostShown is how many bytes of a key or URL are shown. Copies and forms have all of it.
const mostShown = 500

// mostBrief is how many bytes of a destination are shown where it can be unfolded.
const mostBrief = 200

// short returns a text for display, shortened if it is long.
func short(text string) string { return cut(text, mostShown) }

// cut returns a text for display, of which at most most bytes are left.
func cut(text string, most int) string {
	text = printable.Text(text)
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// write writes a view in the form that the client prefers.
func (p *Page) write(w http.ResponseWriter, r *http.Request, v view) error {
	w.Header().Add("Vary", "Accept")
	form := preferred(r.Header["Accept"])
	if after, is := v.(redirectingView); is && form == formHTML {
		return redirect(w, after.location(), http.StatusSeeOther)
	}
	var b bytes.Buffer
	switch form {
	case formHTML:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if err := templates.ExecuteTemplate(&b, v.template(), v); err != nil {
			p.logger.Error("a page cannot be written", zap.Error(err))
			return err
		}
	case formJSON:
		w.Header().Set("Content-Type", "application/json")
		if err := printable.NewJSONEncoder(&b).Encode(v); err != nil {
			return err
		}
	case formText:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		out := printable.NewWriter(&b)
		v.text(out)
		_ = out.Close() // a buffer cannot fail
	}
	return send(w, r, v.status(), b.Bytes())
}

// redirect sends a client to another path.
func redirect(w http.ResponseWriter, target string, status int) error {
	w.Header().Set("Location", target)
	w.WriteHeader(status)
	return nil
}

// send sends a body, or only its length for HEAD.
func send(w http.ResponseWriter, r *http.Request, status int, body []byte) error {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return nil
	}
	_, err := w.Write(body)
	return err
}

// form is a representation of a view.
type form int

const (
	formText form = iota
	formHTML
	formJSON
)

// preferred returns the form that Accept (RFC 9110 12.5.1) prefers: text, unless HTML or JSON has a
// higher weight.
func preferred(accept []string) form {
	best, weight := formText, 0.0
	names := map[string]form{
		"text/html": formHTML, "application/xhtml+xml": formHTML, "application/json": formJSON,
		"text/plain": formText,
	}
	for element := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		name, parameters, err := mime.ParseMediaType(element)
		form, known := names[name]
		if err != nil || !known {
			continue
		}
		q := 1.0
		if given, is := parameters["q"]; is {
			if q, err = strconv.ParseFloat(given, 64); err != nil || q > 1 {
				continue
			}
		}
		if q > weight {
			best, weight = form, q
		}
	}
	return best
}

// serveAsset answers with a file of the page, whose URL changes with its content.
func serveAsset(w http.ResponseWriter, r *http.Request, name string) error {
	content, err := assets.ReadFile("assets/" + name)
	kind, known := map[string]string{
		".css": "text/css; charset=utf-8",
		".js":  "text/javascript; charset=utf-8",
		".svg": "image/svg+xml",
	}[path.Ext(name)]
	if err != nil || !known {
		w.WriteHeader(http.StatusNotFound)
		return nil
	}
	tag := `"` + versionOf(content) + `"`
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("ETag", tag)
	if r.URL.RawQuery == "v="+versionOf(content) {
		h.Set("Cache-Control", "private, max-age=31536000, immutable")
	}
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	return send(w, r, http.StatusOK, content)
}

// assetURL returns the URL of a file of the page, relative to its root.
func assetURL(root, name string) (string, error) {
	content, err := assets.ReadFile("assets/" + name)
	return root + "assets/" + name + "?v=" + versionOf(content), err
}

func versionOf(content []byte) string {
	sum := fnv.New64a()
	sum.Write(content)
	return fmt.Sprintf("%x", sum.Sum64())
}

// visibleLines is [printable.Text] for several lines.
func visibleLines(text string) string {
	var b strings.Builder
	w := printable.NewWriter(&b)
	_, _ = io.WriteString(w, text) // a builder cannot fail
	_ = w.Close()
	return b.String()
}
