package page

import (
	"fmt"
	"html/template"
	"io"
	"net/http"
	"strings"

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
	// NewLink is where a link with this key can be created; empty if the user may not.
	NewLink string `json:"-"`
}

// suggestion is a link that was perhaps meant.
type suggestion struct {
	Key string `json:"key"`
	URL string `json:"url"` // its path
}

func (missing) template() string { return "missing" }

func (v missing) text(w io.Writer) {
	fmt.Fprintln(w, v.Text)
	for _, s := range v.Suggestions {
		fmt.Fprintln(w, "perhaps:", s.URL)
	}
}

// addSuggestions adds the links that a request for a path perhaps meant, and where they stand.
func (v *missing) addSuggestions(links *live.RunningRuleset, path, below string) {
	for _, rule := range links.Suggest(path, mostSuggested) {
		v.Suggestions = append(v.Suggestions, suggestion{rule.Key, below + "/" + rule.Key})
	}
}

// publicMiss is missing for everybody: it is shown at any path, and includes its style.
type publicMiss struct{ missing }

func (publicMiss) template() string { return "miss" }

// policyOfMisses allows the style that is included.
const policyOfMisses = "default-src 'none'; style-src data:; form-action 'none'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// answerMiss answers a request that no rule matched.
func (p *Page) answerMiss(w http.ResponseWriter, r *http.Request) error {
	setHeaders(w.Header())
	w.Header().Set("Content-Security-Policy", policyOfMisses)
	key := strings.TrimPrefix(r.URL.Path, "/")
	v := publicMiss{missing{layout: layout{Status: http.StatusNotFound}, Key: key}}
	v.Title, v.Text = "No such link", "There is no link "+r.URL.Path+" here."
	links, err := p.ruleset(r.Host)
	if err != nil {
		p.logger.Debug("no links can be suggested", zap.Error(err)) // reported when Caddy started
		return p.write(w, r, v)
	}
	before := stripped(r)
	at := before + p.Path + "/"
	if plain, is := strings.CutSuffix(key, "+"); is && plain != "" {
		if _, found := servingRule(links.Serving().Ruleset, plain); found {
			w.Header().Set("Location", at+keyPath(plain))
			w.WriteHeader(http.StatusSeeOther)
			return nil
		}
	}
	v.addSuggestions(links, r.URL.Path, before)
	if user := p.userOf(r); p.mayWrite(user) && key != "" && links.WhyNotWritable() == nil {
		v.NewLink = at + "new?key=" + template.URLQueryEscaper(key)
	}
	return p.write(w, r, v)
}
