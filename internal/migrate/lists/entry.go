package lists

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// entry is an object of a list of redirects.
type entry struct {
	t           *migrate.Table
	at          resolver.Position
	sources     []string
	destination string
	names       []string // of its members, but for those that say nothing
	unknown     []string
	// status is that of statusCode or type, permanent 308, 307, or 0 where the entry has none.
	status, permanent int
	query             resolver.QueryMode // what bulk redirects say of parameters of the request
	isInternal        bool
	wrong             []string
	refused           error // why it has no equivalent
	notes             []string
}

// newEntry takes an object apart.
func newEntry(t *migrate.Table, v migrate.JSON) *entry {
	e := &entry{t: t, at: v.At}
	for m := range v.Inside() {
		if e.has(m.Name) {
			e.wrong = append(e.wrong, printable.Quote(m.Name)+" stands twice")
			continue
		}
		want, isKnown := e.set(m)
		if want != "" {
			e.wrong = append(e.wrong, fmt.Sprintf("%q takes %s, not %s", m.Name, want, m))
		}
		if isKnown {
			e.names = append(e.names, m.Name)
		} else {
			e.unknown = append(e.unknown, m.Name)
		}
	}
	return e
}

// set takes in a member. If its value is none, it returns what the member takes.
func (e *entry) set(m migrate.JSON) (want string, isKnown bool) {
	is, isTruth := m.Truth()
	switch m.Name {
	case "source", "glob", "from":
		return e.setSources(m), true
	case "destination", "to":
		e.destination = m.Text
		return e.checkText(m, "a string"), true
	case "statusCode", "type", "status":
		return e.setStatus(m), true
	case "has", "missing":
		return e.setConditions(m), true
	case "env":
		e.refuse(errors.New("a rule has no \"env\", as its destination does not depend on the " +
			"server's settings"))
		return "", true
	case "regex":
		return "", true
	case "permanent":
		if e.permanent = 307; is {
			e.permanent = 308
		}
	case "internal":
		e.isInternal = is
	case "query", "preserveQueryParams":
		if e.query = resolver.QueryIgnore; is {
			e.query = resolver.QueryPreserve
		}
	case "basePath", "locale", "caseSensitive", "sensitive":
	default:
		return "", false
	}
	if !isTruth {
		return "true or false", true
	}
	return "", true
}

func (e *entry) refuse(why error) { e.refused = cmp.Or(e.refused, why) }

// has reports whether an entry has one of some members.
func (e *entry) has(names ...string) bool {
	return slices.ContainsFunc(e.names, func(name string) bool { return slices.Contains(names, name) })
}

// checkText returns want if a value is no text.
func (e *entry) checkText(v migrate.JSON, want string) string {
	if v.Kind != '"' {
		return want
	}
	err := migrate.CheckText("a string", v.Text)
	if v.IsBroken {
		err = errors.New("a string " + migrate.NotUnicode)
	}
	if err != nil {
		e.wrong = append(e.wrong, err.Error())
	}
	return ""
}

// setSources takes in a path, or a list of them.
func (e *entry) setSources(m migrate.JSON) (want string) {
	paths := []migrate.JSON{m}
	if m.Kind == '[' && m.Name == "from" {
		paths = slices.Collect(m.Inside())
	}
	for _, path := range paths {
		if want = e.checkText(path, "a path"); want != "" {
			return want
		}
		e.sources = append(e.sources, path.Text)
	}
	return ""
}

// setStatus takes in a status.
func (e *entry) setStatus(m migrate.JSON) (want string) {
	code, err := strconv.Atoi(m.Text)
	switch {
	case m.Kind != 'w' || err != nil || code < 100 || code > 999:
		return migrate.StatusCodes
	case !resolver.ValidStatus(code):
		e.refuse(migrate.NoStatus(code))
	default:
		e.status = code
	}
	return ""
}

// setConditions takes in conditions. Of these a rule can have one: the host, if it is the site's.
func (e *entry) setConditions(m migrate.JSON) (want string) {
	if m.Kind != '[' {
		return "a list"
	}
	conditions := slices.Collect(m.Inside())
	if len(conditions) == 0 {
		return ""
	}
	first := conditions[0]
	kind, host := first.Member("type").Text, first.Member("value").Text
	isHost := kind == "host" && m.Name == "has" && len(conditions) == 1
	switch {
	case isHost && e.t.HasHost(strings.ReplaceAll(host, `\.`, ".")):
		e.notes = append(e.notes, "the redirect is for the host "+printable.Quote(host)+" alone, and "+
			"the rule for every host of the site")
	case isHost:
		e.refuse(migrate.OtherHost(host))
	default:
		e.refuse(errors.New("a rule has no condition " + printable.Quote(m.Name) + " (" +
			cmp.Or(kind, "?") + "); use Caddy's redir with a matcher"))
	}
	return ""
}

// check finds out what the entry lacks, and names the entry in all that is wrong with it.
func (e *entry) check() {
	switch hasSource := e.has("source", "glob", "from"); {
	case len(e.sources) > 0 || hasSource && len(e.wrong) > 0:
	case e.has("regex"):
		e.refuse(errors.New("a rule's path is no regular expression; " + migrate.InsteadOfExpression))
	default:
		e.wrong = append(e.wrong, `it has no "source", which is the path`)
	}
	if !e.has("destination", "to") {
		e.wrong = append(e.wrong, `it has no "destination"`)
	}
	for i, wrong := range e.wrong {
		e.wrong[i] = "redirect of " + printable.Quote(strings.Join(e.sources, " ")) + ": " + wrong
	}
}
