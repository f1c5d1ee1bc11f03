package lists

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// netlifyMembers are the members of a redirect.
func netlifyMembers() []string {
	return []string{"from", "origin", "to", "destination", "status", "force", "query", "params",
		"parameters", "conditions", "headers", "signed", "sign", "signing", "rate_limit", "edge_handler"}
}

// tomlRedirect is a redirect of a netlify.toml on its way to a line of _redirects.
type tomlRedirect struct {
	migrate.JSON
	wrong []string
}

// newTOMLRedirect takes in a table. As JSON, it has its members in the order of their names.
func newTOMLRedirect(table map[string]any) (e tomlRedirect) {
	text, err := json.Marshal(table)
	if err != nil {
		e.wrong = append(e.wrong, "a number of the redirect is infinite, or none; remove it")
		return e
	}
	if values, _ := migrate.DecodeJSON(text, ""); len(values) > 0 {
		e.JSON = values[0]
	}
	return e
}

func (e *tomlRedirect) refuse(format string, args ...any) {
	e.wrong = append(e.wrong, fmt.Sprintf(format, args...))
}

// line returns the line, and why it has no equivalent if that is nothing which a line says.
func (e *tomlRedirect) line() (text string, why error) {
	words := []string{e.path("from", "origin")}
	if len(e.namesIn("query", "params", "parameters")) > 0 {
		words = append(words, "query=x")
	}
	words = append(words, e.path("to", "destination"))
	if status := e.status(); status != "" {
		words = append(words, status)
	}
	for _, name := range e.namesIn("conditions") {
		words = append(words, wordOfTOML(name)+"=x")
	}
	has := func(name string) bool {
		m := e.Member(name)
		for range m.Inside() {
			return true
		}
		return m.Text != "" && m.Text != "false"
	}
	switch {
	case has("headers"):
		why = errors.New("a rule sets no headers for another server; use Caddy's reverse_proxy")
	case has("signed") || has("sign") || has("signing"):
		why = errors.New("a rule signs nothing; use Caddy's reverse_proxy")
	case has("rate_limit"):
		why = errors.New("a rule does not count requests; use a rate limit in front of it")
	}
	return strings.Join(words, " "), why
}

// path returns a path or a URL, which stands under one of two names.
func (e *tomlRedirect) path(name, oldName string) string {
	m := e.Member(name)
	if m.Kind == 0 {
		m = e.Member(oldName)
	}
	text := strings.TrimSpace(m.Text)
	err := migrate.CheckText(strconv.Quote(name), text)
	switch {
	case m.Kind == 0 || m.Kind == '"' && text == "":
		err = fmt.Errorf("the redirect has no %q", name)
	case m.Kind != '"':
		err = fmt.Errorf("%q takes a string, not %s", name, m)
	case err == nil && name == "to":
		err = migrate.CheckDestination(text)
	}
	if err != nil {
		e.refuse("%s", err)
	}
	return wordOfTOML(text)
}

// wordOfTOML returns a text as a word of a line.
func wordOfTOML(text string) string {
	if strings.HasPrefix(text, "#") {
		text = "%23" + text[1:]
	}
	return blanksEncoded.Replace(text)
}

var blanksEncoded = strings.NewReplacer(" ", "%20", "\t", "%09", "\r", "%0D", "\v", "%0B",
	"\f", "%0C", "\n", "%0A")

// status returns the status as a line has it.
func (e *tomlRedirect) status() (text string) {
	force, status := e.Member("force"), e.Member("status")
	isForced, isTruth := force.Truth()
	if force.Kind != 0 && !isTruth {
		e.refuse(`"force" takes true or false, not %s`, force)
	}
	code, err := strconv.Atoi(status.Text)
	switch isError := code >= 400 && code <= 599; {
	case status.Kind == 0:
	case status.Kind != 'w' || err != nil:
		e.refuse(`"status" takes a number, not %s`, status)
	case !resolver.ValidStatus(code) && code != 200 && !isError:
		e.refuse("the status is %s, not %d", migrate.StatusCodes, code)
	}
	if isForced {
		return cmp.Or(status.Text, "301") + "!"
	}
	return status.Text
}

// namesIn returns what stands in a table of the redirect, under any of some names.
func (e *tomlRedirect) namesIn(names ...string) (inside []string) {
	for _, name := range names {
		m := e.Member(name)
		if m.Kind != 0 && m.Kind != '{' {
			e.refuse("%q takes a table, not %s", name, m)
		}
		for member := range m.Inside() {
			inside = append(inside, member.Name)
		}
	}
	return inside
}
