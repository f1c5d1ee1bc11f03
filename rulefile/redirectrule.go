package rulefile

import (
	"regexp"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// What stands at the end of a path for all that is below it, and in a destination for the
// part of a request's path that it matched.
const (
	star  = "/*"
	splat = ":splat"
)

// translate makes a rule of a line.
func (r redirect) translate() (rule resolver.Rule, refused *refusal) {
	path, isPrefix := strings.CutSuffix(r.from.text, star)
	rule = resolver.Rule{Key: strings.TrimRight(strings.TrimPrefix(path, "/"), "/"), Status: r.status, Exact: !isPrefix}
	if reason := pathProblem(rule.Key, r.to.text); reason != "" {
		return rule, &refusal{r.from, reason}
	}
	reason := ""
	if isPrefix {
		rule.Value, reason = prefixDestination(r.to.text)
	} else {
		rule.Value, reason = exactDestination(r.to.text)
	}
	if reason == "" && leadsToItself(rule) {
		reason = "the path would lead to itself for ever, as a rule matches it with and without a slash at its end; remove the line"
	}
	if reason != "" {
		return rule, &refusal{r.to, reason}
	}
	return rule, nil
}

// pathProblem says why the key of a path is none; destination is the line's.
func pathProblem(key, destination string) string {
	const instead = "; write a line for each path, or use Caddy's redir with a path_regexp matcher"
	name := placeholderIn(key, destination)
	switch {
	case key == "":
		return "a key is not empty, so no rule is for \"/\" or for every path; use Caddy's redir"
	case strings.Contains(key, "*"):
		return "a \"*\" is for whole segments, at the end of the path and behind a \"/\"" + instead
	case name != "":
		return "a rule has no placeholder like " + name + instead // until there are templates
	}
	return ""
}

// placeholder is what Netlify and Cloudflare take for one.
var placeholder = regexp.MustCompile(`:[A-Za-z]\w*`)

// placeholderIn returns a placeholder of a key, or "". A word with a colon in front is one where
// it begins a segment, or where the destination has it, too: Special:Search is none.
func placeholderIn(key, destination string) string {
	for _, at := range placeholder.FindAllStringIndex(key, -1) {
		name := key[at[0]:at[1]]
		if at[0] == 0 || key[at[0]-1] == '/' || strings.Contains(destination, name) {
			return name
		}
	}
	return ""
}

// exactDestination returns the value of an exact rule, or says why a destination is none.
func exactDestination(to string) (value, problem string) {
	if strings.Contains(to, splat) {
		return "", "there is nothing for " + splat + " to stand for, as the path does not end in \"" + star + "\""
	}
	return to, ""
}

// prefixDestination returns the value of a rule for all below a path, to which the rest of a request's path is appended.
// It says why a destination is none.
func prefixDestination(to string) (value, problem string) {
	if !strings.Contains(to, splat) {
		return "", "all below the path would lead to this one place, where a rule appends the rest of the path; end it with /" + splat + ", or use Caddy's redir"
	}
	path, rest := cutPath(to)
	base, ok := strings.CutSuffix(path, "/"+splat)
	if !ok || strings.Contains(base+rest, splat) {
		return "", "a rule appends the rest of the path to the destination's path; write /" + splat + " there, at its end and nowhere else"
	}
	if strings.HasSuffix(base, "/") {
		return "", "a \"/\" stands in front of /" + splat + "; remove one of the two"
	}
	if base == "" {
		base = "/"
	}
	return base + rest, ""
}

// leadsToItself reports whether a rule's destination is its own path.
func leadsToItself(rule resolver.Rule) bool {
	path, _ := cutPath(rule.Value)
	return strings.TrimRight(path, "/") == "/"+rule.Key
}

// withSlash puts a slash at the end of a destination's path, if there is none.
func withSlash(destination string) string {
	path, rest := cutPath(destination)
	return strings.TrimSuffix(path, "/") + "/" + rest
}

// cutPath cuts a destination behind its path.
func cutPath(destination string) (path, rest string) {
	if i := strings.IndexAny(destination, "?#"); i >= 0 {
		return destination[:i], destination[i:]
	}
	return destination, ""
}
