package lists

import (
	"errors"
	"fmt"
	"maps"
	"slices"
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
	table map[string]any
	wrong []string
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
		value, there := e.table[name]
		return there && !isEmptyTOML(value)
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

// isEmptyTOML reports whether a value says nothing.
func isEmptyTOML(value any) bool {
	table, isTable := value.(map[string]any)
	return value == "" || value == false || isTable && len(table) == 0
}

// path returns a path or a URL, which stands under one of two names.
func (e *tomlRedirect) path(name, oldName string) string {
	value, there := e.table[name]
	if !there {
		value, there = e.table[oldName]
	}
	text, isText := value.(string)
	text = strings.TrimSpace(text)
	err := migrate.CheckText(strconv.Quote(name), text)
	switch {
	case !there || isText && text == "":
		err = fmt.Errorf("the redirect has no %q", name)
	case !isText:
		err = fmt.Errorf("%q takes a string, not %s", name, kindOfTOML(value))
	case err == nil && name == "to":
		err = migrate.CheckDestination(text)
	case strings.HasPrefix(text, "/.netlify"):
		err = errors.New("no redirect is for paths that begin with /.netlify; remove it")
	}
	if err != nil {
		e.wrong = append(e.wrong, err.Error())
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
	isForced := false
	switch force := e.table["force"].(type) {
	case nil:
	case bool:
		isForced = force
	default:
		e.wrong = append(e.wrong, `"force" takes true or false, not `+kindOfTOML(force))
	}
	switch status := e.table["status"].(type) {
	case nil:
	case int64:
		isError := status >= 400 && status <= 599
		if !resolver.ValidStatus(int(status)) && status != 200 && !isError {
			e.wrong = append(e.wrong, fmt.Sprintf("the status is %s, not %d", migrate.StatusCodes, status))
		}
		text = strconv.FormatInt(status, 10)
	default:
		e.wrong = append(e.wrong, `"status" takes a number, not `+kindOfTOML(status))
	}
	switch {
	case isForced && text == "":
		return "301!"
	case isForced:
		return text + "!"
	}
	return text
}

// namesIn returns what stands in a table of the redirect, under any of some names.
func (e *tomlRedirect) namesIn(names ...string) (inside []string) {
	for _, name := range names {
		switch value := e.table[name].(type) {
		case nil:
		case map[string]any:
			inside = append(inside, slices.Sorted(maps.Keys(value))...)
		default:
			e.wrong = append(e.wrong, fmt.Sprintf("%q takes a table, not %s", name, kindOfTOML(value)))
		}
	}
	return inside
}

// kindOfTOML says in words what a value is.
func kindOfTOML(value any) string {
	switch v := value.(type) {
	case string:
		return migrate.Quote(v)
	case map[string]any:
		return "a table"
	case []any, []map[string]any:
		return "an array"
	}
	return migrate.Quote(fmt.Sprint(value))
}
