package rulefile

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// The wildcard for any segments in a path, and for what it matched in a destination.
const (
	star  = "/*"
	splat = ":splat"
)

// word is a word of a line.
type word struct {
	text   string
	column int // in bytes, from 1
}

// wordsOf appends the words of a line, up to a comment, to words.
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

// faultKind is why a line is not a rule.
type faultKind uint8

const (
	malformed    faultKind = iota // the service does not accept the line, either
	unsupported                   // no rule can express its meaning
	neverReached                  // no request reaches the line
)

// lineParser parses lines of a _redirects file one by one.
type lineParser struct {
	dialect Dialect
	hosts   []string // the site's own
	words   []word
	// hasWildcards: a line so far has "*" or placeholders.
	hasWildcards bool
	redirectLine
}

// redirectLine is a parsed line.
type redirectLine struct {
	from, to word
	path     string // of from, without a host
	answer   redirects.Answer
	note     string // how the answer differs, or ""
	status   int    // of a redirect
	// refused says why it is not a rule, nil if it is one, and blamed is the word at fault.
	refused error
	kind    faultKind
	blamed  word
	// elsewhere is what the line matches if only its host or its query keeps it from being a rule.
	elsewhere string
}

// refuse records why the line is not a rule: the first reason, or one that makes it malformed.
func (l *redirectLine) refuse(kind faultKind, word word, format string, args ...any) {
	if l.refused != nil {
		l.elsewhere = ""
	}
	if l.refused == nil || kind == malformed && l.kind != malformed {
		l.refused, l.kind, l.blamed = fmt.Errorf(format, args...), kind, word
	}
}

// parse parses a line with at least one word.
func (p *lineParser) parse(text string) {
	p.words = wordsOf(p.words[:0], text)
	p.redirectLine = redirectLine{from: p.words[0]}
	if !utf8.ValidString(text) {
		p.refuse(malformed, p.from, "this line %s", notUnicode)
		return
	}
	p.parseSource()
	if rest, ok := p.parseDestination(); ok {
		p.parseStatus(rest)
	}
	if p.dialect == Cloudflare {
		p.mergeSlashes()
	}
}

// mergeSlashes makes one of several slashes in a destination on the site, as Cloudflare does from
// the first line with a wildcard on.
func (p *lineParser) mergeSlashes() {
	p.hasWildcards = p.hasWildcards || strings.Contains(p.path, "*") || placeholder.MatchString(p.path)
	if p.hasWildcards && strings.HasPrefix(p.to.text, "/") {
		p.to.text = slashes.ReplaceAllString(p.to.text, "/")
	}
}

var slashes = regexp.MustCompile("/+")

// parseSource parses the first word of a line.
func (p *lineParser) parseSource() {
	const never = "no request reaches this line: "
	from := p.from.text
	if host, path, ok := redirects.CutURL(from); ok {
		if name, err := weburl.ParseHost(host); err != nil || !slices.Contains(p.hosts, name) {
			p.refuse(unsupported, p.from, "a rule has no host; if %s is this site's, name it: with "+
				"host in the source's block, or with --line-host; else write the line into the file of "+
				"that host's site", quote(host))
			p.path, p.elsewhere = path, from
			return
		}
		from = path
	}
	isCloudflare := p.dialect == Cloudflare
	if from[0] != '/' {
		if !isCloudflare {
			p.refuse(neverReached, p.from, never+"a path begins with \"/\"; write /%s", from)
			return
		}
		from = "/" + from
	}
	var behind string
	p.path, behind = cutPath(from)
	if behind != "" && !isCloudflare {
		p.refuse(neverReached, p.from, never+"a path has neither \"?\" nor \"#\"; write %%23 for the "+
			"character, or use Caddy's redir with a query matcher")
	}
}

// parseDestination parses the destination of a line, and returns the words after it.
func (p *lineParser) parseDestination() (rest []word, ok bool) {
	const whatItIs = "it begins with \"/\", \"http://\" or \"https://\""
	words := p.words
	if len(words) == 1 {
		p.refuse(malformed, words[0], "the line has no destination; %s", whatItIs)
		return nil, false
	}
	second := words[1]
	isDestination := func(w word) bool { return resolver.IsDestination(w.text) }
	at := 1 + slices.IndexFunc(words[1:], isDestination)
	switch {
	case at == 0 && p.isRewriteInPlace():
		p.to = word{"/" + splat, second.column}
		return words[1:], true
	case at == 0:
		if instead := insteadOfWords(words); instead != "" {
			p.refuse(malformed, second, "%s", instead)
		}
		p.refuse(malformed, second, "%s is not a destination; %s", quote(second.text), whatItIs)
		return nil, false
	case at == 2 && IsArrow(second.text):
		p.refuse(unsupported, second, "leave out %s; write %s", quote(second.text),
			joined(slices.Delete(slices.Clone(words), 1, 2)))
	case at > 1 && !strings.Contains(second.text, "="):
		p.refuse(unsupported, second, "a path has no space; write %%20 for it")
	case at > 1:
		isFirst := p.refused == nil
		p.refuse(unsupported, second, "a rule has no query, because only the path selects it; use "+
			"Caddy's redir with a query matcher")
		if isFirst && at == 2 {
			p.elsewhere = p.path + "?" + second.text
		}
	}
	p.to = words[at]
	return words[at+1:], true
}

// IsArrow reports whether a word is an arrow between key and destination.
func IsArrow(word string) bool {
	return slices.Contains([]string{":", "=", "->", "=>"}, word)
}

// insteadOfWords returns what to write for a line without a destination after its path, or "": its
// words are in another order, or an error lacks its page.
func insteadOfWords(words []word) string {
	second := words[1].text
	status := strings.TrimSuffix(second, "!")
	if status == "404" || status == "410" {
		page := word{text: "/" + status + ".html"}
		return "a status follows a destination, even if it is an error; write " +
			joined(slices.Insert(slices.Clone(words), 1, page))
	}
	meant, is := resolver.Exchanged(resolver.Rule{Key: words[0].text, Value: second})
	if !is {
		return ""
	}
	exchanged := slices.Clone(words)
	exchanged[0].text, exchanged[1].text = "/"+meant.Key, meant.Value
	return "path and destination are exchanged; write " + joined(exchanged)
}

// joined returns a line with these words.
func joined(words []word) string {
	var line []string
	for _, w := range words {
		line = append(line, w.text)
	}
	return strings.Join(line, " ")
}

// isRewriteInPlace reports whether a line serves requests as they are, such as "/app/* 200".
func (p *lineParser) isRewriteInPlace() bool {
	return p.dialect != Cloudflare && strings.TrimSuffix(p.words[1].text, "!") == "200" &&
		strings.HasSuffix(p.words[0].text, star)
}

// parseStatus parses the words after a destination.
func (p *lineParser) parseStatus(rest []word) {
	p.status = 301
	if p.dialect == Cloudflare {
		p.status = 302
	}
	if len(rest) == 0 || p.refuseCondition(rest[0]) {
		return
	}
	first := rest[0]
	number, isForced := strings.CutSuffix(first.text, "!")
	switch code, isRedirect := statusCode(number); {
	case isRedirect:
		p.status = code
	case number == "200":
		p.answer, p.note = redirects.Passes, "200 is a rewrite, not a redirect: the next handler "+
			"answers what this line matches; use Caddy's rewrite or try_files, or reverse_proxy "+
			"for another host"
	case number == "404":
		p.answer, p.note = redirects.Passes, "404 is an error page, not a redirect: the next handler "+
			"answers what this line matches; use Caddy's handle_errors for the page"
	case number == "410":
		p.answer = redirects.Gone
	case isErrorStatus(number):
		p.refuse(unsupported, first, "a rule has no status %s; use Caddy's respond, or error and "+
			"handle_errors", number)
		return
	default:
		p.refuse(malformed, first, "the status must be %s, not %s", statusCodes, quote(first.text))
		return
	}
	switch {
	case len(rest) > 1 && !p.refuseCondition(rest[1]):
		p.refuse(malformed, rest[1], "only conditions can follow the status; remove %s",
			quote(rest[1].text))
	case number == "404" && isForced:
		p.refuse(unsupported, first, "404! hides files that exist, which no rule does; use Caddy's "+
			"error with a matcher in front")
	}
}

// isErrorStatus reports whether a word is the status of an error.
func isErrorStatus(word string) bool {
	code, err := strconv.Atoi(word)
	return err == nil && code >= 400 && code <= 599 && len(word) == 3
}

// refuseCondition refuses a line with a condition, such as Country=us,ca. Without it, content for
// some would be open to everybody.
func (p *lineParser) refuseCondition(word word) (is bool) {
	name, _, isPair := strings.Cut(word.text, "=")
	switch is = isPair && name != ""; {
	case is && strings.EqualFold(name, "role"):
		p.refuse(unsupported, word, "a rule has no condition %s, and without it the line's content "+
			"is open to everybody; guard it with Caddy's basic_auth or forward_auth", name)
	case is:
		p.refuse(unsupported, word, "a rule has no condition %s; use Caddy's redir with a matcher", name)
	}
	return is
}
