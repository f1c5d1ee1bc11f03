package lists

import (
	"fmt"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// program is whose redirects a list in JSON has. Of those that entries tell, the last one counts.
type program uint8

const (
	vercel program = iota
	vercelBulk
	nextJS
	firebase
	docusaurus
)

// programs are what is true of all entries of a program.
var programs = [...]struct {
	name   string
	status int // of entries that have none
	query  resolver.QueryMode
	// isPlain tells that paths are no patterns; lastCounts that of those of one path the last counts.
	isPlain, lastCounts bool
	remarks             []string
}{
	vercel: {name: "Vercel", status: 308},
	vercelBulk: {name: "Vercel", status: 307, query: resolver.QueryIgnore, isPlain: true,
		lastCounts: true, remarks: []string{"Vercel takes paths of bulk redirects in either letter " +
			"case, unless an entry says caseSensitive; the option fold case does so for a whole site"}},
	nextJS: {name: "Next.js", status: 308, remarks: []string{"Next.js takes paths in either letter " +
		"case; the option fold case does so for a site"}},
	firebase:   {name: "Firebase", status: 301},
	docusaurus: {name: "Docusaurus", isPlain: true},
}

// remarkOnStatus says which status entries have that say none.
func (p program) remarkOnStatus() string {
	if p == docusaurus {
		return "the pages of Docusaurus have no status, and rules without one have 302"
	}
	return fmt.Sprintf("entries without a status have %d, as at %s", programs[p].status,
		programs[p].name)
}

// keepsQuery reports whether the query of a request goes along also to a destination with one.
func (p program) keepsQuery() bool { return p != vercelBulk && p != docusaurus }

// programOf returns whose entry an object is.
func programOf(v migrate.Node) (p program) {
	for key := range v.Inside() {
		switch key.Text {
		case "from":
			p = docusaurus
		case "glob", "type":
			p = max(p, firebase)
		case "basePath", "locale", "internal":
			p = max(p, nextJS)
		case "caseSensitive", "sensitive", "query", "preserveQueryParams":
			p = max(p, vercelBulk)
		}
	}
	return p
}
