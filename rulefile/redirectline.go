package rulefile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// redirectLine is a line of a _redirects file taken apart.
type redirectLine struct {
	from, to word
	path     string // that of from, without a host
	answer   redirectAnswer
	status   int  // of a redirect
	isForced bool // "!": also where there is a file
}

// redirectAnswer is what a line says of the requests that it takes.
type redirectAnswer uint8

const (
	leads    redirectAnswer = iota // a redirect
	gone                           // 410
	rewrites                       // 200: another page or server answers
	notFound                       // 404: an error page, where there is no file
)

// word is a word of a line.
type word struct {
	text   string
	column int // in bytes, from 1
}

// wordsOf appends the words of a line to words, up to a comment.
func wordsOf(words []word, line string) []word {
	for at := 0; ; {
		rest := strings.TrimLeft(line[at:], lineSpace)
		at = len(line) - len(rest)
		if rest == "" || rest[0] == '#' {
			return words
		}
		end := strings.IndexAny(rest, lineSpace)
		if end < 0 {
			end = len(rest)
		}
		words = append(words, word{rest[:end], at + 1})
		at += end
	}
}

// refusal says why a line is no rule, and which of its words is to blame.
type refusal struct {
	word word
	why  error
	kind refusalKind
}

// refusalKind is what follows from a refusal.
type refusalKind uint8

const (
	malformed    refusalKind = iota // the service has nothing to do with the line, either
	unsupported                     // it means something there that no rule can say
	neverReached                    // it is a line that no request gets to
)

// lineParser takes lines apart.
type lineParser struct {
	dialect Dialect
	hosts   []string // the site's own
	words   []word   // of the last line
}

// parse takes a line apart, which has a word.
func (p *lineParser) parse(text string) (line redirectLine, refused *refusal) {
	p.words = wordsOf(p.words[:0], text)
	line.from = p.words[0]
	if !utf8.ValidString(text) {
		return line, &refusal{word: line.from, why: errors.New("this line " + notUnicode)}
	}
	if refused = p.parseSource(&line); refused != nil && refused.kind == malformed {
		return line, refused
	}
	rest, inDestination := p.parseDestination(&line)
	if inDestination != nil && inDestination.kind == malformed {
		return line, inDestination
	}
	behind := p.parseStatus(&line, rest)
	for _, other := range []*refusal{inDestination, behind} {
		if refused == nil || other != nil && other.kind == malformed {
			refused = other
		}
	}
	return line, refused
}

// parseSource takes in the first word of a line.
func (p *lineParser) parseSource(line *redirectLine) *refusal {
	from := line.from.text
	refuse := func(kind refusalKind, why string) *refusal {
		return &refusal{line.from, errors.New(why), kind}
	}
	if host, path, ok := cutHost(from); ok {
		line.path = path
		if name, err := weburl.ParseHost(host); err != nil || !slices.Contains(p.hosts, name) {
			return refuse(unsupported, "a rule has no host; if "+quote(host)+" is this site's, name "+
				"it: with host in the source's block, or with --line-host; else write the line into "+
				"the file of that host's site")
		}
		from = path
	}
	switch {
	case from[0] != '/' && p.dialect == Cloudflare:
		from = "/" + from
	case from[0] != '/':
		return refuse(neverReached, "no request gets to this line, as a path begins with \"/\"; write /"+
			from)
	}
	line.path = from
	end := strings.IndexAny(from, "?#")
	if end < 0 {
		return nil
	}
	line.path = from[:end]
	switch {
	case p.dialect == Cloudflare:
		return nil
	case from[end] == '#':
		return refuse(neverReached, "no request gets to this line, as "+noFragment)
	}
	return refuse(neverReached, "no request gets to this line, as a path has no \"?\"; use Caddy's "+
		"redir with a query matcher")
}

// noFragment is why no path has a "#".
const noFragment = "clients send no \"#\" and what is behind it; write %23 for the character, or " +
	"remove it"

// cutHost cuts a URL into its host and its path.
func cutHost(from string) (host, path string, isURL bool) {
	rest, isURL := strings.CutPrefix(from, "https://")
	if !isURL {
		rest, isURL = strings.CutPrefix(from, "http://")
	}
	if !isURL {
		return "", "", false
	}
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		return rest[:end], rest[end:], true
	}
	return rest, "/", true
}

func isURL(s string) bool {
	return strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")
}

// parseDestination takes in the destination of a line, and returns the words behind it.
func (p *lineParser) parseDestination(line *redirectLine) (rest []word, refused *refusal) {
	const whatItIs = "it begins with \"/\", \"http://\" or \"https://\""
	words := p.words
	if len(words) == 1 {
		return nil, &refusal{word: words[0], why: errors.New("the line has no destination; " + whatItIs)}
	}
	second := words[1]
	isDestination := func(w word) bool { return isURL(w.text) || w.text[0] == '/' }
	at := 1 + slices.IndexFunc(words[1:], isDestination)
	switch {
	case at == 0 && p.isRewriteInPlace(words):
		line.to = word{"/" + splat, second.column}
		return words[1:], nil
	case at == 0:
		why := errors.New(quote(second.text) + " is no destination; " + whatItIs)
		return nil, &refusal{word: second, why: cmp.Or(insteadOfWords(words), why)}
	case at == 2 && IsArrow(second.text):
		refused = &refusal{second, fmt.Errorf("leave out %s; write %s", quote(second.text),
			joined(slices.Delete(slices.Clone(words), 1, 2))), unsupported}
	case at > 1 && !strings.Contains(second.text, "="):
		refused = &refusal{second, errors.New("a path has no space; write %20 for it"), unsupported}
	case at > 1:
		refused = &refusal{second, errors.New("a rule has no query, as it is found by " +
			"the path alone; use Caddy's redir with a query matcher"), unsupported}
	}
	line.to = words[at]
	return words[at+1:], refused
}

// IsArrow reports whether a word is what stands between a key and its destination elsewhere.
func IsArrow(word string) bool {
	return slices.Contains([]string{":", "=", "->", "=>"}, word)
}

// insteadOfWords says what to write for a line without a destination behind its path, if that can
// be told: its words are in another order, or the destination of an error's page is missing.
func insteadOfWords(words []word) error {
	second := words[1].text
	status := strings.TrimSuffix(second, "!")
	if status == "404" || status == "410" {
		page := word{text: "/" + status + ".html"}
		return errors.New("a status has a destination in front, also if it is an error; write " +
			joined(slices.Insert(slices.Clone(words), 1, page)))
	}
	meant, is := resolver.Exchanged(resolver.Rule{Key: words[0].text, Value: second})
	if !is {
		return nil
	}
	exchanged := slices.Clone(words)
	exchanged[0].text, exchanged[1].text = "/"+meant.Key, meant.Value
	return errors.New("path and destination are exchanged; write " + joined(exchanged))
}

// joined returns a line with these words.
func joined(words []word) string {
	var line []string
	for _, w := range words {
		line = append(line, w.text)
	}
	return strings.Join(line, " ")
}

// isRewriteInPlace reports whether a line without a destination lets what it takes be what it is:
// "/app/* 200".
func (p *lineParser) isRewriteInPlace(words []word) bool {
	return p.dialect != Cloudflare && strings.TrimSuffix(words[1].text, "!") == "200" &&
		strings.HasSuffix(words[0].text, star)
}

// parseStatus takes in the words behind a destination.
func (p *lineParser) parseStatus(line *redirectLine, rest []word) *refusal {
	line.status = 301
	if p.dialect == Cloudflare {
		line.status = 302
	}
	if len(rest) == 0 {
		return nil
	}
	first := rest[0]
	if isCondition(first.text) {
		return conditionRefusal(first)
	}
	number, isForced := strings.CutSuffix(first.text, "!")
	line.isForced = isForced
	code, ok := statusCode(number)
	switch {
	case ok:
		line.status = code
	case number == "200":
		line.answer = rewrites
	case number == "404":
		line.answer = notFound
	case number == "410":
		line.answer = gone
	case isErrorStatus(number):
		return &refusal{first,
			errors.New("a rule has no status " + number + "; use Caddy's respond, or " +
				"error and handle_errors"), unsupported}
	default:
		return &refusal{word: first, why: errors.New("the status is " + statusCodes + ", not " +
			quote(first.text))}
	}
	switch {
	case len(rest) > 1 && isCondition(rest[1].text):
		return conditionRefusal(rest[1])
	case len(rest) > 1:
		return &refusal{word: rest[1], why: errors.New("nothing follows the status but conditions; " +
			"remove " + quote(rest[1].text))}
	case line.answer == notFound && isForced:
		return &refusal{first, errors.New("404! hides files that are there, which no rule does; use " +
			"Caddy's error with a matcher in front"), unsupported}
	}
	return nil
}

// isErrorStatus reports whether a word is the status of an error.
func isErrorStatus(word string) bool {
	code, err := strconv.Atoi(word)
	return err == nil && code >= 400 && code <= 599 && len(word) == 3
}

// isCondition reports whether a word is a condition, such as Country=us,ca.
func isCondition(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != ""
}

// conditionRefusal says why a line with a condition is no rule. What only some were let to see is
// open to everybody without it.
func conditionRefusal(condition word) *refusal {
	name, _, _ := strings.Cut(condition.text, "=")
	why := "a rule has no condition " + name + "; use Caddy's redir with a matcher"
	if strings.EqualFold(name, "role") {
		why = "a rule has no condition " + name + ", and what the line protects is open to everybody " +
			"without it; guard it with Caddy's basic_auth or forward_auth"
	}
	return &refusal{condition, errors.New(why), unsupported}
}
