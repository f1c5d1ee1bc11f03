package lists

import (
	"cmp"
	"io"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
)

// ReadAzure reads the routes of a staticwebapp.config.json. A route that does not redirect lets its
// requests pass.
func ReadAzure(t *migrate.Table, r io.Reader) error {
	t.Program, t.Slashes = "Azure Static Web Apps", redirects.SlashesMerged
	t.Status = cmp.Or(t.Status, 302)
	known := strings.Fields("route redirect statusCode rewrite headers methods allowedRoles")
	return readObjects(t, r, "routes", known, func(o *object) {
		to := o.text("redirect")
		path, isPrefix := strings.CutSuffix(o.text("route"), "*")
		if strings.ContainsAny(path, "*{}") {
			o.refuse("\"*\" and lists of file extensions within a route have no equivalent; %s",
				pathexpr.Remedy)
		}
		isForAll := o.Member("methods").Kind == 0
		for _, role := range o.Member("allowedRoles").Inside() {
			isForAll = isForAll && role.Text == "anonymous"
		}
		setStatus(&o.line, o.Member("statusCode"))
		switch {
		case to == "" && o.line.Answer == redirects.Leads:
			o.line.Answer = redirects.Passes
		case !isForAll:
			o.refuse("a rule redirects everybody by every method, and not some roles or methods; use " +
				"Caddy's redir with a matcher")
		}
		o.line.To = redirects.Literal(to)
		t.AddPath(o.line, path, isPrefix)
	})
}
