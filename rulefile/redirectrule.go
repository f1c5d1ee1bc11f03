package rulefile

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// What stands in a path for any segments, and in a destination for those that it matched.
const (
	star  = "/*"
	splat = ":splat"
)

// spanning is what a "*" becomes in a key, and ":splat" in the path of its destination.
const spanning = "{+splat}"

// translate makes rules of a line. They are two where the path ends in "/*", and the destination
// does not go on with what that matched: one for the path itself, and one for all below it. Of a
// line with status 410 the destination is a page, which handle_errors has to show here.
func (r redirect) translate() (rules []resolver.Rule, refused *refusal) {
	path := newRedirectPath(r.from.text, r.to.text)
	if err := path.check(); err != nil {
		return nil, &refusal{r.from, err}
	}
	if r.status == statusGone {
		exact := path.end == endsExact
		return []resolver.Rule{{Key: path.key, Value: resolver.GoneValue, Exact: exact}}, nil
	}
	if err := path.checkDestination(r.to.text); err != nil {
		return nil, &refusal{r.to, err}
	}
	rule := resolver.Rule{Key: path.key, Status: r.status, Exact: path.end == endsExact}
	rule.Value = path.valueOf(r.to.text)
	if path.end == endsBelow {
		if !goesOn(r.to.text) {
			return r.toOnePlace(path), nil
		}
		rule.Value = path.valueOf(withoutSplat(r.to.text))
	}
	if leadsToItself(rule) {
		return nil, &refusal{r.to, errors.New("the path would lead to itself for ever, as a rule " +
			"matches it with and without a slash at its end; remove the line")}
	}
	return []resolver.Rule{rule}, nil
}

// toOnePlace makes rules of a line whose path ends in "/*" and whose destination stays the same. No
// request's path is appended to it.
func (r redirect) toOnePlace(path redirectPath) (rules []resolver.Rule) {
	itself := resolver.Rule{Key: path.key, Status: r.status, Exact: true}
	itself.Value = path.valueOf(withoutSplat(r.to.text))
	if !leadsToItself(itself) {
		rules = append(rules, itself)
	}
	path.names = append(path.names, splat)
	below := resolver.Rule{Key: path.key + "/" + spanning, Status: r.status}
	below.Value = path.valueOf(r.to.text)
	return append(rules, below)
}

// redirectPath is the path of a line taken apart.
type redirectPath struct {
	text  string // without slashes around it, and without what end stands for
	key   string
	names []string // of the placeholders in the key, with the colon
	twice bool     // a segment has two
	end   redirectEnd
}

// redirectEnd is what the end of a path says of longer ones.
type redirectEnd int

const (
	endsExact  redirectEnd = iota // they do not match
	endsBelow                     // "/*": they match, and so does the path itself
	endsWithin                    // "x*": segments that begin with the last one match, with all below
)

// newRedirectPath takes a path apart. A word with a colon in front is a placeholder where it begins
// a segment, or where the destination has it, too: Special:Search is none.
func newRedirectPath(from, destination string) (p redirectPath) {
	path, isPrefix := strings.CutSuffix(from, star)
	p.text = strings.TrimRight(strings.TrimPrefix(path, "/"), "/")
	if within, ok := strings.CutSuffix(p.text, "*"); isPrefix {
		p.end = endsBelow
	} else if ok && !strings.HasSuffix("/"+within, "/") {
		p.end, p.text = endsWithin, within
	}
	inDestination := make(map[string]bool)
	for _, name := range placeholder.FindAllString(destination, -1) {
		inDestination[name] = true
	}
	segments := strings.Split(p.text, "/")
	for i, segment := range segments {
		before := len(p.names)
		segments[i] = placeholder.ReplaceAllStringFunc(segment, func(name string) string {
			isWord := !strings.HasPrefix(segment, name) && !inDestination[name]
			if isWord || len(p.names) > maxPlaceholders {
				return name
			}
			p.names = append(p.names, name)
			return variable(name)
		})
		p.twice = p.twice || len(p.names) > before+1
	}
	p.key = strings.Join(segments, "/")
	if p.end == endsWithin {
		p.twice = p.twice || strings.HasSuffix(p.key, "}")
		p.names = append(p.names, splat)
		p.key += variable(splat)
	}
	return p
}

// placeholder is what Netlify and Cloudflare take for one.
var placeholder = regexp.MustCompile(`:[A-Za-z]\w*`)

// maxPlaceholders is how many a path has at most. Each has a segment of its own, and a template has
// no more of them.
const maxPlaceholders = 64

// variable is what a placeholder becomes in a template.
func variable(name string) string { return "{" + name[1:] + "}" }

// check refuses a path that is no key.
func (p *redirectPath) check() error {
	const instead = "; write a line for each path, or use Caddy's redir with a path_regexp matcher"
	names := slices.Clone(p.names)
	if p.end == endsBelow {
		names = append(names, splat)
	}
	slices.Sort(names)
	switch {
	case p.text == "" && p.end == endsBelow:
		return errors.New("no rule is for \"/\", and so none for every path; for all but that one " +
			"write the key {+path} in a JSON or CSV file, or use Caddy's redir")
	case p.text == "":
		return errors.New("a key is not empty, so no rule is for \"/\"; use Caddy's redir")
	case strings.ContainsAny(p.text, "{}"):
		return errors.New("a path has no \"{\" and \"}\"; write %7B and %7D, or :name for what " +
			"differs")
	case strings.Contains(p.key, "*"):
		return errors.New("a \"*\" stands at the end of a path" + instead)
	case p.twice:
		return errors.New("a segment has one placeholder or \"*\", as nothing would settle which " +
			"of two takes what" + instead)
	case len(p.names) > maxPlaceholders:
		return errors.New("a path has at most 64 placeholders" + instead)
	case len(slices.Compact(names)) < len(names):
		return errors.New("a path has each placeholder once, and :splat is what a \"*\" stands for" +
			instead)
	}
	return nil
}

// checkDestination refuses a destination that is none for the path.
func (p *redirectPath) checkDestination(to string) error {
	hasSplat := p.end == endsBelow || slices.Contains(p.names, splat)
	path, rest := cutPath(to)
	if name := p.unknownIn(to); name != "" {
		return errors.New("there is nothing for " + name + " to stand for, as the path does not " +
			"have it")
	}
	switch {
	case p.isInHost(to):
		return errors.New("a placeholder stands in the host of the destination, which no request " +
			"may choose; write a line for each host")
	case strings.Contains(to, splat) && !hasSplat:
		return errors.New("there is nothing for " + splat + " to stand for, as the path has no " +
			"\"*\"")
	case p.end == endsBelow && strings.Contains(path, "//"+splat):
		return errors.New("a \"/\" stands in front of /" + splat + "; remove one of the two")
	case p.end == endsWithin && (!strings.HasSuffix(path, splat) ||
		strings.Count(path+rest, splat) > 1):
		return errors.New("a rule appends what is below the segment to the destination's path; " +
			"write " + splat + " there, at its end and nowhere else")
	case strings.ContainsAny(to, "{}") &&
		(len(p.names) > 0 || p.end == endsBelow && !goesOn(to)):
		return errors.New("a destination has no \"{\" and \"}\"; write %7B and %7D")
	}
	return nil
}

// unknownIn returns a placeholder of a destination's path that the line's path does not have. It
// begins a segment; "" stands for none.
func (p *redirectPath) unknownIn(to string) string {
	itself, _ := cutPath(withoutSplat(to))
	for segment := range strings.SplitSeq(itself, "/") {
		name := placeholder.FindString(segment)
		begins := name != "" && strings.HasPrefix(segment, name)
		if begins && !slices.Contains(p.names, name) {
			return name
		}
	}
	return ""
}

// isInHost reports whether a placeholder stands in the host of a destination.
func (p *redirectPath) isInHost(to string) bool {
	_, authority, isURL := strings.Cut(to, "://")
	if end := strings.IndexAny(authority, "/?#"); end >= 0 {
		authority = authority[:end]
	}
	isVariable := func(name string) bool { return name == splat || slices.Contains(p.names, name) }
	return isURL && slices.ContainsFunc(placeholder.FindAllString(authority, -1), isVariable)
}

// valueOf returns the value that a destination is, with variables in the place of placeholders.
func (p *redirectPath) valueOf(to string) string {
	path, rest := cutPath(to)
	replace := func(text, splatVariable string) string {
		return placeholder.ReplaceAllStringFunc(text, func(name string) string {
			switch {
			case !slices.Contains(p.names, name):
				return name
			case name == splat:
				return splatVariable
			}
			return variable(name)
		})
	}
	return replace(path, spanning) + replace(rest, variable(splat))
}

// goesOn reports whether a destination ends in what a "*" matched, and has it nowhere else. Then it
// is a rule for all below a path.
func goesOn(to string) bool {
	path, rest := cutPath(to)
	base, ok := strings.CutSuffix(path, "/"+splat)
	return ok && !strings.Contains(base+rest, splat)
}

// withoutSplat returns a destination for the path itself, of which a "*" matches nothing.
func withoutSplat(to string) string {
	path, rest := cutPath(to)
	path = strings.TrimSuffix(strings.ReplaceAll(path, "/"+splat+"/", "/"), "/"+splat)
	if path == "" {
		path = "/"
	}
	return strings.ReplaceAll(path+rest, splat, "")
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
