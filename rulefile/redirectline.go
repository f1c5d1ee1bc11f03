package rulefile

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// redirectLine is a line of a _redirects file.
type redirectLine struct {
	words []word
	at    resolver.Position // without a column
}

// word is a word of a line.
type word struct {
	text   string
	column int // in bytes, from 1
}

func newRedirectLine(text string, at resolver.Position) redirectLine {
	return redirectLine{words: wordsOf(text), at: at}
}

// wordsOf cuts a line into words, up to a comment.
func wordsOf(line string) (words []word) {
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
}

// redirect is a line taken apart.
type redirect struct {
	from, to word
	status   int
}

// rules makes rules of the line, or says why there is none.
func (l redirectLine) rules() ([]resolver.Rule, *Error) {
	parts, refused := l.takeApart()
	if refused != nil {
		return nil, &Error{l.positionOf(refused.word), refused.why.Error()}
	}
	rules, refused := parts.translate()
	if refused != nil {
		return nil, &Error{l.positionOf(refused.word), refused.why.Error()}
	}
	for i := range rules {
		rules[i].Position = l.positionOf(parts.from)
	}
	return rules, nil
}

func (l redirectLine) positionOf(w word) resolver.Position {
	at := l.at
	at.Column = w.column
	return at
}

// takeApart finds out what each word is.
func (l redirectLine) takeApart() (parts redirect, refused *refusal) {
	parts.from = l.words[0]
	if slices.ContainsFunc(l.words, func(w word) bool { return !utf8.ValidString(w.text) }) {
		return parts, &refusal{parts.from, errors.New("this line " + notUnicode)}
	}
	if err := checkSource(parts.from.text); err != nil {
		return parts, &refusal{parts.from, err}
	}
	var rest []word
	if parts.to, rest, refused = destinationOf(l.words); refused != nil {
		return parts, refused
	}
	parts.status, refused = statusOf(rest)
	return parts, refused
}

// checkSource refuses a line's first word if it is no path.
func checkSource(from string) error {
	switch {
	case isURL(from):
		return errors.New("a rule has no host; write the path alone, into a file for that host's " +
			"site")
	case from[0] != '/':
		return errors.New("a path begins with \"/\"; write /" + from)
	case strings.ContainsAny(from, "?#"):
		return errors.New("a rule is found by the path alone; remove the query or fragment, or " +
			"use Caddy's redir with a matcher")
	}
	return nil
}

func isURL(s string) bool {
	return strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")
}

// destinationOf returns the destination of a line, and the words behind it.
func destinationOf(words []word) (to word, rest []word, refused *refusal) {
	const whatItIs = "it begins with \"/\", \"http://\" or \"https://\""
	if len(words) == 1 {
		return to, nil, &refusal{words[0], errors.New("the line has no destination; " + whatItIs)}
	}
	second := words[1]
	for i, w := range words[1:] {
		if !isURL(w.text) && w.text[0] != '/' {
			continue
		}
		if i > 0 {
			return to, nil, &refusal{second, errors.New("a rule has no query, as it is found by " +
				"the path alone; use Caddy's redir with a query matcher")}
		}
		return w, words[2:], nil
	}
	err := errors.New(quote(second.text) + " is no destination; " + whatItIs)
	return to, nil, &refusal{second, err}
}

// statusOf returns the status that the words behind a destination say.
func statusOf(rest []word) (status int, refused *refusal) {
	if len(rest) == 0 {
		return 301, nil
	}
	number := strings.TrimSuffix(rest[0].text, "!")
	status, ok := statusCode(number)
	if number == strconv.Itoa(statusGone) {
		status, ok = statusGone, true
	}
	if !ok {
		return 0, &refusal{rest[0], statusError(rest[0].text)}
	}
	if len(rest) > 1 {
		return 0, &refusal{rest[1], conditionError(rest[1].text)}
	}
	return status, nil
}

// statusGone is the status of lines that say that a path is gone.
const statusGone = 410

func statusError(text string) error {
	switch number := strings.TrimSuffix(text, "!"); {
	case strings.Contains(text, "="):
		return conditionError(text)
	case number == "200":
		return errors.New("200 is a rewrite, and no redirect; use Caddy's rewrite, or " +
			"reverse_proxy for another host")
	case number == "404":
		return errors.New("404 is an error page, and no redirect; use Caddy's handle_errors")
	}
	return errors.New("the status is " + statusCodes + ", not " + quote(text))
}

func conditionError(text string) error {
	if name, _, ok := strings.Cut(text, "="); ok {
		return errors.New("a rule has no condition " + name + "; use Caddy's redir with a matcher")
	}
	return errors.New("nothing follows the status but conditions, which a rule does not have; " +
		"remove " + quote(text))
}
