package page

import (
	"net/http"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/client"
	"github.com/caddy-shortlink/shortlink/internal/hits"
	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// request is a request for the page, with what was looked up for it.
type request struct {
	*http.Request
	page  *Page
	links *live.RunningRuleset
	rest  string // of the path, below the page's
	user  string // the user's name, or ""

	conditions client.Preconditions // of a POST

	hasAsked bool       // for recent
	recent   *hits.List // see recentHits

	changed map[int]lastChange // see lastChanges
}

// serve answers a request for what lies below the page's path.
func (p *Page) serve(w http.ResponseWriter, r *http.Request, rest string) error {
	if name, isAsset := strings.CutPrefix(rest, "assets/"); isAsset {
		return serveAsset(w, r, name) // for all: a refusal is a page, too
	}
	user := p.userOf(r)
	if !p.mayRead(user) {
		return p.write(w, r, noName(p.newLayout(r)))
	}
	links, err := p.ruleset(r.Host)
	if err != nil {
		return p.write(w, r, failure(p.newLayout(r), http.StatusServiceUnavailable, err.Error()))
	}
	req := &request{Request: r, page: p, links: links, rest: rest, user: user}
	if r.Method == http.MethodPost {
		return p.write(w, r, req.post(w.Header()))
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD, POST")
		return p.write(w, r, failure(req.layout(), http.StatusMethodNotAllowed,
			"This takes GET, HEAD and POST, not "+r.Method+"."))
	}
	if format, isExport := strings.CutPrefix(rest, "export."); isExport {
		return req.export(w, format)
	}
	if rest == "opensearch.xml" {
		return req.openSearch(w)
	}
	format := r.URL.Query().Get("qr")
	if key, isKey := req.key(); isKey && pictureTypes[format] != "" {
		return req.picture(w, key, format)
	}
	return p.write(w, r, req.get())
}

// get returns the view for a GET.
func (r *request) get() view {
	key, isKey := r.key()
	switch {
	case r.rest == "" && r.URL.Query().Has("q"):
		return r.search()
	case r.rest == "":
		return r.home()
	case r.rest == "new":
		return r.newForm()
	case r.rest == pathImport:
		return r.importForm("")
	case r.rest == "try":
		return r.tryPage()
	case r.rest == "serving":
		return r.servingPage()
	case r.rest == "changes" && r.URL.Query().Has(fieldChange):
		return r.changePage(r.URL.Query().Get(fieldChange))
	case r.rest == "changes":
		return r.changesPage()
	case !isKey:
		return notFound(r.layout(), "There is no such page.")
	case r.URL.Query().Has("edit"):
		return r.editForm(key)
	case r.URL.Query().Has("rename"):
		return r.renameForm(key)
	case r.URL.Query().Has("delete"):
		return r.deleteForm(key)
	}
	return r.keyPage(key)
}

// post makes the edit of a POST, or returns the view to answer first.
func (r *request) post(h http.Header) view {
	if err := r.page.csrf.Check(r.Request); err != nil {
		return failure(r.layout(), http.StatusForbidden,
			"The form was sent by a page of another site, and nothing has changed: "+err.Error()+".")
	}
	var err error
	if r.conditions, err = client.PreconditionsOf(r.Request); err != nil {
		return failure(r.layout(), http.StatusBadRequest, err.Error()+".")
	}
	key, isKey := r.key()
	switch {
	case r.rest == pathImport && r.links.Shares:
		return r.sharesName()
	case r.rest == pathImport:
		return r.importLinks()
	case !isKey && r.rest != "new" && r.rest != "changes":
		h.Set("Allow", "GET, HEAD")
		return failure(r.layout(), http.StatusMethodNotAllowed, "Edits are sent to key/KEY, to new "+
			"with a field key, or to changes with a field change, and tables to import.")
	}
	if err := r.readFields(); err != nil {
		return failure(r.layout(), client.StatusOf(err), "Nothing has changed: "+err.Error()+".")
	}
	action, typed := r.PostForm.Get(fieldAction), keyIn(r.PostForm)
	switch {
	case isKey && typed != "" && resolver.CanonicalKey(typed, true) !=
		resolver.CanonicalKey(key, true):
		return failure(r.layout(), http.StatusBadRequest,
			"The edit is of the key "+key+", but its field key is "+typed+"; leave the field out.")
	case !isKey && typed == "" && action != actionRemove:
		key = r.randomKey()
	case !isKey:
		key = typed
	}
	if why := r.page.whyNoEdits(r.user); why != "" && action != actionCheck {
		return r.lineToCommit(key, why)
	}
	if r.links.Shares {
		return r.sharesName()
	}
	if r.rest == "changes" {
		return r.changePage(r.PostForm.Get(fieldChange))
	}
	if isKey && r.PostForm.Get(fieldAction) == actionRename {
		return r.rename(key)
	}
	return r.edit(key)
}

// sharesName returns the view of an edit for handlers of one name.
func (r *request) sharesName() view {
	return failure(r.layout(), http.StatusConflict, "Several handlers are called "+
		r.links.PublicName()+"; give each a name.")
}

// whyNoEdits says why a user may not edit.
func (p *Page) whyNoEdits(user string) string {
	if p.Write == writeNobody {
		return "this page only shows links (write nobody)"
	}
	if user == "" {
		return "only users whom Caddy knows by name may edit"
	}
	return ""
}

// key returns the key in the path, as its rule or its author spells it. A key that would make a
// path unclean, such as a//b, is the query parameter key of the path key/.
func (r *request) key() (key string, ok bool) {
	key, ok = strings.CutPrefix(r.rest, "key/")
	if ok && key == "" {
		key = r.URL.Query().Get("key")
	}
	return key, ok && key != ""
}
