package resolver

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// errGivesUp is what plainResolve says where it would take too long.
var errGivesUp = errors.New("the plain algorithm gives up")

// plainEffort is how many characters the plain algorithm may still look at: some templates make the
// path longer at each hop.
type plainEffort int

func (e *plainEffort) spend(n int) bool {
	*e -= plainEffort(n)
	return *e >= 0
}

// plainResolve is the draft's pseudocode (3.5) with the readings, as plain as can be: no index,
// nothing worked out before. What it answers for valid rules is what the compiled ruleset has to
// answer, unless it gives up.
func plainResolve(requestURL string, rules []Rule, opts Options) (
	destination string, result Result,
) {
	request, err := weburl.Parse(requestURL)
	if err != nil {
		return "", Result{Outcome: Failed, Err: err}
	}
	limit := MaxRedirects
	if opts.MaxRedirects != nil {
		limit = *opts.MaxRedirects
	}
	pathname, relativePathname := request.Path, ""
	initialQuery, lastQuery, initialHash := "", "", ""
	var taken []Rule
	effort := plainEffort(200_000)
	for redirectCount := 0; redirectCount <= limit; redirectCount++ {
		if i := strings.LastIndex(pathname, "#"); i >= 0 {
			if initialHash == "" {
				initialHash = pathname[i:]
			}
			pathname = pathname[:i]
		}
		if i := strings.LastIndex(pathname, "?"); i >= 0 {
			if initialQuery == "" {
				initialQuery = pathname[i:]
			}
			if pathname[i:] != "?" {
				lastQuery = pathname[i:]
			}
			pathname = pathname[:i]
		}
		inTemplates := len(taken) == 0 || strings.Contains(taken[0].Key, "{")
		if len(taken) > 32 && inTemplates {
			break
		}
		if inTemplates && len(pathname) > 8192 && plainBegins(pathname, rules, opts) {
			failed := Result{Outcome: Failed, Err: ErrPathTooLong}
			if len(taken) > 0 {
				failed.Key = taken[0].Key
			}
			return "", failed
		}
		rule, remaining, captured, found := plainMatchAny(pathname, rules, opts, &effort)
		if !effort.spend(len(pathname)) {
			return "", Result{Outcome: Failed, Err: errGivesUp}
		}
		found = found && !(rule.Value == "pass" && len(taken) > 0)
		if found && rule.Value == "pass" {
			return "", Result{Outcome: Pass, Key: rule.Key}
		}
		if !found && len(taken) == 0 {
			return "", Result{Outcome: Pass}
		}
		if !found {
			origin := request.Origin()
			if opts.Origin != "" {
				origin = opts.Origin
			}
			query := plainQueryOf(taken[0], opts, "", initialQuery, lastQuery, request.Search())
			hash := plainFragment(request.Hash(), initialHash, "")
			return plainArrive(request, origin+plainJoin(pathname, relativePathname)+query+hash,
				taken, opts)
		}
		for _, text := range append(captured, remaining) {
			if len(taken) == 0 && plainUnsafe(text) {
				return "", Result{Outcome: Failed, Key: rule.Key, Err: ErrUnsafePath}
			}
		}
		path, _, _ := strings.Cut(strings.ReplaceAll(rule.Value, "#", "?"), "?")
		if captured != nil && plainDotSegment.MatchString(path) {
			return "", Result{Outcome: Failed, Key: append(taken, rule)[0].Key, Err: ErrUnsafePath}
		}
		taken = append(taken, rule)
		if rule.Value == "gone" {
			return "", Result{Outcome: Gone, Key: taken[0].Key, Hops: len(taken) - 1}
		}
		relativePathname = remaining + relativePathname
		if strings.HasPrefix(rule.Value, "http") {
			u, err := weburl.Parse(rule.Value)
			if err != nil {
				panic(err)
			}
			query := plainQueryOf(taken[0], opts, u.Search(), initialQuery, lastQuery, request.Search())
			hash := plainFragment(request.Hash(), initialHash, u.Hash())
			return plainArrive(request, u.Origin()+plainJoin(u.Path, relativePathname)+query+hash,
				taken, opts)
		}
		pathname = rule.Value
	}
	return "", Result{Outcome: Failed, Key: taken[0].Key, Err: ErrTooManyRedirects}
}

// plainBegins reports whether a path begins as a template does, up to its first variable.
func plainBegins(pathname string, rules []Rule, opts Options) bool {
	path := strings.Split(pathname[1:], "/")
	for _, rule := range rules {
		for i, segment := range plainSegments(rule.Key, opts) {
			if i == len(path) {
				break
			}
			if segment.name == "" {
				if plainKey(path[i], opts) == segment.prefix {
					continue
				}
				break
			}
			for end := range min(3*len(segment.prefix), len(path[i])) + 1 {
				if !plainCuts(path[i], end) && plainKey(path[i][:end], opts) == segment.prefix {
					return true
				}
			}
			break
		}
	}
	return false
}

var plainDotSegment = regexp.MustCompile(`(?i)/(\.|%2e){1,2}(/|$)`)

func plainArrive(
	request weburl.URL, assembled string, taken []Rule, opts Options,
) (string, Result) {
	u, err := weburl.Parse(assembled)
	if err != nil {
		panic(err)
	}
	hops := len(taken)
	if strings.HasPrefix(taken[hops-1].Value, "http") {
		hops--
	}
	result := Result{Outcome: Redirect, Key: taken[0].Key, Hops: hops,
		Status: plainStatus(taken, opts)}
	if plainParts(u) == plainParts(request) {
		return "", Result{Outcome: Pass, Key: result.Key, Hops: result.Hops}
	}
	return u.Href(), result
}

func plainParts(u weburl.URL) string { return u.Origin() + u.Path + u.Search() + u.Hash() }

func plainMatchAny(pathname string, rules []Rule, opts Options, effort *plainEffort) (
	rule Rule, remaining string, captured []string, found bool,
) {
	for _, rule := range rules {
		if strings.Contains(rule.Key, "{") {
			return plainTemplateMatch(pathname, rules, opts, effort)
		}
	}
	rule, remaining, found = plainMatch(pathname, rules, opts)
	return rule, remaining, nil, found
}

func plainMatch(pathname string, rules []Rule, opts Options) (
	rule Rule, remaining string, found bool,
) {
	for end := len(pathname); end > 1; end = strings.LastIndex(pathname[:end], "/") {
		for _, rule := range rules {
			if plainKey(pathname[1:end], opts) != plainKey(rule.Key, opts) {
				continue
			}
			if !rule.Exact {
				return rule, pathname[end:], true
			}
			if pathname[end:] == "" || pathname[end:] == "/" {
				return rule, "", true
			}
		}
	}
	return Rule{}, "", false
}

func plainKey(key string, opts Options) string {
	canonical := plainCanonical(key)
	if opts.FoldCase {
		return strings.Map(func(r rune) rune {
			if 'A' <= r && r <= 'Z' {
				return r - 'A' + 'a'
			}
			return r
		}, canonical)
	}
	return canonical
}

// plainCanonical is R3: encoded, then RFC 3986 6.2.2 unless some "%" is none of a triplet.
func plainCanonical(key string) string {
	const unreserved = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"
	encoded := plainEncoded(key)
	pieces := strings.Split(encoded, "%")
	canonical := pieces[0]
	for _, piece := range pieces[1:] {
		if len(piece) < 2 {
			return encoded
		}
		octet, err := url.PathUnescape("%" + piece[:2])
		switch {
		case err != nil:
			return encoded
		case strings.Contains(unreserved, octet):
			canonical += octet + piece[2:]
		default:
			canonical += "%" + strings.ToUpper(piece[:2]) + piece[2:]
		}
	}
	return canonical
}

// plainEncoded percent-encodes the URL Standard's path set.
func plainEncoded(path string) string {
	var encoded strings.Builder
	for _, r := range path {
		if ' ' < r && r < 0x7F && !strings.ContainsRune("\"#<>?^`{}", r) {
			encoded.WriteRune(r)
			continue
		}
		for _, octet := range []byte(string(r)) {
			fmt.Fprintf(&encoded, "%%%02X", octet)
		}
	}
	return encoded.String()
}

func plainJoin(base, path string) string {
	if strings.HasSuffix(base, "/") && strings.HasPrefix(path, "/") {
		return base + path[1:]
	}
	return base + path
}

func plainFragment(request, initial, destination string) string {
	switch {
	case request != "":
		return request
	case initial != "":
		return initial
	}
	return destination
}

// plainQueryOf is plainQuery with the query mode of the first rule.
func plainQueryOf(
	first Rule, opts Options, destination, initial, last, request string,
) string {
	switch {
	case first.Query == QueryIgnore && destination != "":
		return destination
	case first.Query == QueryIgnore:
		return last
	case first.Query != QueryDefault:
		opts.Query = first.Query
	}
	return plainQuery(opts, destination, initial, request)
}

func plainQuery(opts Options, destination, initial, request string) string {
	var query string
	if opts.Query == QueryPreserve {
		query = plainPreserve(opts, destination, initial, request)
	} else {
		query = plainMerge(opts, destination, initial, request)
	}
	if query != "" {
		return "?" + query
	}
	return ""
}

func plainMerge(opts Options, destination, initial, request string) string {
	params := weburl.ParseParams(destination)
	for _, p := range weburl.ParseParams(initial) {
		params.Set(p.Name, p.Value)
	}
	if opts.Query == QueryIgnore {
		return params.String()
	}
	protected := plainProtected(opts, params)
	for _, p := range weburl.ParseParams(request) {
		if !protected[p.Name] {
			params.Set(p.Name, p.Value)
		}
	}
	return params.String()
}

func plainProtected(opts Options, have weburl.Params) map[string]bool {
	protected := map[string]bool{}
	for _, p := range have {
		for _, name := range opts.Protect {
			if name == "*" || name == p.Name {
				protected[p.Name] = true
			}
		}
	}
	return protected
}

func plainPreserve(opts Options, destination, initial, request string) string {
	destination, initial, request = strings.TrimPrefix(destination,
		"?"), strings.TrimPrefix(initial, "?"), strings.TrimPrefix(request, "?")
	first := plainWithout(destination, plainNames(initial))
	have := append(weburl.ParseParams("?"+first), weburl.ParseParams("?"+initial)...)
	last := plainWithout(request, plainProtected(opts, have))
	over := plainNames(last)
	pieces := []string{}
	for _, query := range []string{plainWithout(first, over), plainWithout(initial, over), last} {
		if query != "" {
			pieces = append(pieces, query)
		}
	}
	return strings.Join(pieces, "&")
}

func plainNames(query string) map[string]bool {
	names := map[string]bool{}
	for _, p := range weburl.ParseParams("?" + query) {
		names[p.Name] = true
	}
	return names
}

// plainWithout returns the pieces of a query, without its "?", as written, but for those with one
// of the names.
func plainWithout(query string, names map[string]bool) string {
	var kept []string
	for _, piece := range strings.Split(query, "&") {
		if piece != "" && !names[weburl.ParseParams("?" + piece)[0].Name] {
			kept = append(kept, piece)
		}
	}
	return strings.Join(kept, "&")
}

// plainUnsafe decodes again and again until nothing changes (R14). As they are, dots in front of or
// behind other text are none of its concern.
func plainUnsafe(path string) bool {
	if !strings.Contains(path, "%") {
		return false
	}
	for before := ""; before != path; {
		before = path
		for i := 0; i+2 < len(path); i++ {
			if octet, err := url.PathUnescape(path[i : i+3]); path[i] == '%' && err == nil {
				path = path[:i] + octet + path[i+3:]
				break
			}
		}
	}
	for _, segment := range strings.FieldsFunc(path,
		func(r rune) bool { return r == '/' || r == '\\' }) {
		if segment == ".." {
			return true
		}
	}
	return strings.ContainsFunc(path, func(r rune) bool { return r < 0x20 || r == 0x7F })
}

func plainStatus(taken []Rule, opts Options) int {
	allPermanent, anyPreserving := true, false
	status := func(rule Rule) int {
		switch {
		case rule.Status != 0:
			return rule.Status
		case opts.Status != 0:
			return opts.Status
		}
		return 302
	}
	for _, rule := range taken {
		allPermanent = allPermanent && (status(rule) == 301 || status(rule) == 308)
		anyPreserving = anyPreserving || status(rule) == 307 || status(rule) == 308
	}
	if status(taken[0]) == 303 {
		return 303
	}
	return map[[2]bool]int{
		{false, false}: 302, {true, false}: 301, {false, true}: 307, {true, true}: 308,
	}[[2]bool{allPermanent, anyPreserving}]
}
