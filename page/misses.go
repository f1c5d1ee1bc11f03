package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/internal/live"
)

// mostSuggested is how many keys are named that were perhaps meant.
const mostSuggested = 5

// missing is the view of a path or a key that no link has.
type missing struct {
	layout
	Key  string `json:"key"`
	Text string `json:"error"`
	// Suggestions are the links that were perhaps meant.
	Suggestions []suggestion `json:"suggestions,omitempty"`
	// Removed says when there was such a link last, if its removal is known.
	Removed *lastChange `json:"removed,omitempty"`
}

// suggestion is a link that was perhaps meant.
type suggestion struct {
	Key string `json:"key"`
	URL string `json:"url"` // its path
}

func (missing) template() string { return "missing" }

func (v missing) text(w io.Writer) {
	fmt.Fprintln(w, v.Text)
	if v.Removed != nil {
		fmt.Fprintf(w, "It was removed at %s%s.\n", v.Removed.Time.Format(time.RFC3339), v.Removed.By)
	}
	for _, s := range v.Suggestions {
		fmt.Fprintln(w, "perhaps:", s.URL)
	}
}

// NewKey is the key of the link that can be made here: one that matches with a slash at its end and
// without.
func (v missing) NewKey() string { return strings.TrimSuffix(v.Key, "/") }

// addSuggestions adds the links that a request for a path perhaps meant, and where they stand.
func (v *missing) addSuggestions(links *live.RunningRuleset, path, below string) {
	for _, rule := range links.Serving().Suggest(path, mostSuggested) {
		v.Suggestions = append(v.Suggestions, suggestion{rule.Key, below + "/" + rule.Key})
	}
}

// What the answer to a miss includes, as whatever guards the page also guards its files.
var (
	//go:embed assets/style.css
	styleOfMisses []byte
	//go:embed assets/icon.svg
	icon         []byte
	iconOfMisses = template.URL("data:image/svg+xml;base64," + inBase64(icon))
)

func inBase64(content []byte) string { return base64.StdEncoding.EncodeToString(content) }

// policyOfMisses allows what is included, and the search. It leads to the page, whose guard may
// lead on to a sign-in at another origin: browsers check that, too.
var policyOfMisses = func() string {
	sum := sha256.Sum256(styleOfMisses)
	return "default-src 'none'; style-src 'sha256-" + inBase64(sum[:]) + "'; img-src data:; " +
		"form-action 'self' https:; base-uri 'none'; frame-ancestors 'none'"
}()

// answerMiss answers a request that no rule matched.
func (p *Page) answerMiss(w http.ResponseWriter, r *http.Request) error {
	setHeaders(w.Header())
	before := stripped(r)
	at := before + p.Path + "/"
	if r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		return redirect(w, at, http.StatusFound)
	}
	w.Header().Set("Content-Security-Policy", policyOfMisses)
	key := strings.TrimPrefix(r.URL.Path, "/")
	v := missing{Key: key, Text: "There is no link " + r.URL.Path + " here."}
	v.layout = layout{Root: at, Title: "No such link", Query: key, IsPublic: true,
		Status: http.StatusNotFound}
	links, err := p.ruleset(r.Host)
	if err != nil {
		p.logger.Debug("no links can be suggested", zap.Error(err)) // reported when Caddy started
		return p.write(w, r, v)
	}
	if plain, is := strings.CutSuffix(key, "+"); is && plain != "" {
		if _, found := links.Serving().Written(plain); found {
			return redirect(w, at+keyPath(plain), http.StatusSeeOther)
		}
	}
	v.Handler = links.UniqueName
	v.addSuggestions(links, r.URL.Path, before)
	// whoever has no name is asked for one by what guards the page
	v.MayWrite = p.Write == writeUsers && !links.Shares && links.WhyNotWritable() == nil
	return p.write(w, r, v)
}
