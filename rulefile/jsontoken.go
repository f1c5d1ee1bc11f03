package rulefile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// jsonScanner splits JSON into tokens with their positions. The standard library's decoder has no
// lines and takes four times as long for a file of a million rules. The library still decodes the
// hard parts, escapes and numbers.
type jsonScanner struct {
	r         *bufio.Reader
	source    string
	offset    int    // of the next byte in the input
	line      int    // from 1
	lineStart int    // offset in the input of the line's first byte
	raw       []byte // the last string or word as written
	// lends: the strings of plain members are valid only until add returns.
	lends bool
}

// jsonToken is a token of JSON.
type jsonToken struct {
	kind jsonKind
	at   resolver.Position
	// text is the decoded string, or the word as written.
	text string
	// start and end are its offsets in the input.
	start, end int
}

func (t jsonToken) isNull() bool { return t.kind == jsonWord && t.text == "null" }

// jsonKind is a token's kind: its only byte for {, }, [, ], : and the comma, or one of these.
type jsonKind byte

const (
	jsonString jsonKind = '"'
	// jsonWord is a number, true, false or null.
	jsonWord jsonKind = 'w'
)

const (
	jsonPunctuation = "{}[]:,"
	jsonSpace       = " \t\r\n"
)

// newJSONScanner returns a scanner that skips a byte order mark.
func newJSONScanner(r io.Reader, source string) *jsonScanner {
	text, mark := withoutByteOrderMark(r)
	return &jsonScanner{r: text, source: source, offset: mark, line: 1, lineStart: mark}
}

// position returns the position of the next byte.
func (s *jsonScanner) position() resolver.Position {
	return resolver.Position{Source: s.source, Line: s.line, Column: s.offset - s.lineStart + 1}
}

// token reads a token. The error is io.EOF at the end, an [*Error] for an invalid token, or the
// reader's own.
func (s *jsonScanner) token() (token jsonToken, err error) {
	first, err := s.skipSpace()
	if err != nil {
		return token, err
	}
	token = jsonToken{kind: jsonKind(first), at: s.position(), start: s.offset}
	switch {
	case token.kind == jsonString:
		err = s.readString(&token)
	case strings.IndexByte(jsonPunctuation, first) >= 0:
		s.r.Discard(1) //nolint:errcheck // it was peeked
		s.offset++
	default:
		err = s.readWord(&token)
	}
	token.end = s.offset
	return token, err
}

// skipSpace goes to the next token, and returns its first byte. No token has a line end.
func (s *jsonScanner) skipSpace() (first byte, err error) {
	for {
		c, err := s.r.ReadByte()
		switch {
		case err != nil:
			return 0, err
		case c == '\n':
			s.line++
			s.lineStart = s.offset + 1
		case c != ' ' && c != '\t' && c != '\r':
			return c, s.r.UnreadByte()
		}
		s.offset++
	}
}

// readString reads a string.
func (s *jsonScanner) readString(token *jsonToken) error {
	s.raw = s.raw[:0]
	var err error
	for isEnd := false; !isEnd && len(s.raw) <= maxText; {
		var part []byte
		part, err = s.r.ReadSlice('"') // empty if the text is longer than the buffer
		s.raw = append(s.raw, part...)
		if err != nil && err != bufio.ErrBufferFull {
			break
		}
		inside := bytes.TrimSuffix(s.raw, []byte{'"'})
		escapes := len(inside) - len(bytes.TrimRight(inside, `\`))
		isEnd = err == nil && len(s.raw) > 1 && escapes%2 == 0
	}
	s.offset += len(s.raw)
	n := len(s.raw) - 1
	switch {
	case slices.ContainsFunc(s.raw, func(c byte) bool { return c < ' ' }):
		return notJSON(token.at, "the string does not end on its line, or holds a "+
			"control character; escape it, such as a tab as \\t")
	case len(s.raw) > maxText:
		return notJSON(token.at, "the string is longer than a mebibyte")
	case err != nil:
		return orTooEarly(err, token.at)
	}
	token.text = string(s.raw[1:n])
	isEscaped := bytes.IndexByte(s.raw, '\\') >= 0
	if isEscaped && json.Unmarshal(s.raw, &token.text) != nil {
		return notJSON(token.at, "the string has an unknown escape; for a "+
			`backslash write \\`)
	}
	if !utf8.Valid(s.raw) || isEscaped && hasHalfCharacter(token.text, s.raw) {
		return &Error{token.at, "this string " + notUnicode}
	}
	return nil
}

// hasHalfCharacter reports whether an escape in raw is half a surrogate pair, for which the library
// puts U+FFFD into text.
func hasHalfCharacter(text string, raw []byte) bool {
	meant := bytes.Count(raw, []byte("\uFFFD")) + bytes.Count(bytes.ToLower(raw), []byte(`\ufffd`))
	return strings.Count(text, "\uFFFD") > meant
}

// readWord reads a token that is neither a string nor punctuation.
func (s *jsonScanner) readWord(token *jsonToken) error {
	for s.raw = s.raw[:0]; len(s.raw) <= maxText; s.offset++ {
		c, err := s.r.ReadByte()
		if err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		if strings.IndexByte(jsonSpace+jsonPunctuation+`"`, c) >= 0 {
			s.r.UnreadByte() //nolint:errcheck // it was just read
			break
		}
		s.raw = append(s.raw, c)
	}
	token.kind, token.text = jsonWord, string(s.raw)
	switch {
	case len(s.raw) > maxText:
		return notJSON(token.at, "this value is longer than a mebibyte")
	case json.Valid(s.raw):
		return nil
	case s.raw[0] == '/':
		return notJSON(token.at, "JSON has no comments, and paths need quotation marks")
	}
	return notJSON(token.at, quote(token.text)+" is not a value; text needs quotation marks")
}

// plainMembers passes simple members, each with the comma after it: key and destination are ASCII
// strings without escapes that fit the window, as nearly all in a large file do. That takes a third
// of the time of tokens.
func (s *jsonScanner) plainMembers(add func(resolver.Rule, memberSpan)) {
	window, _ := s.r.Peek(s.r.Buffered())
	begin := s.offset
	for {
		rule, span, ok := s.plainMember(window[s.offset-begin:])
		if !ok {
			s.r.Discard(s.offset - begin) //nolint:errcheck // they were peeked
			return
		}
		s.offset = span.end + 1
		add(rule, span)
	}
}

// plainMember returns the member at the beginning of a window.
func (s *jsonScanner) plainMember(w []byte) (rule resolver.Rule, span memberSpan, ok bool) {
	line, lineStart, key := s.line, s.lineStart, 0
	for ; key < len(w) && strings.IndexByte(jsonSpace, w[key]) >= 0; key++ {
		if w[key] == '\n' {
			line, lineStart = line+1, s.offset+key+1
		}
	}
	keyEnd := plainStringEnd(w, key)
	colon := blanksEnd(w, keyEnd)
	value := blanksEnd(w, colon+1)
	end := plainStringEnd(w, value)
	if end >= len(w) || w[end] != ',' || w[colon] != ':' {
		return rule, span, false
	}
	s.line, s.lineStart = line, lineStart
	text := textOf(w[key:end], s.lends) // one piece of memory for both
	rule.Key, rule.Value = text[1:keyEnd-key-1], text[value-key+1:end-key-1]
	at := s.offset
	rule.Position = resolver.Position{Source: s.source, Line: line, Column: at + key - lineStart + 1}
	return rule, memberSpan{at + key, at + keyEnd, at + value, at + end}, true
}

func blanksEnd(text []byte, i int) int {
	for i < len(text) && text[i] == ' ' {
		i++
	}
	return i
}

// plainStringEnd returns the end of an ASCII string without escapes at i, or that of the text.
func plainStringEnd(text []byte, i int) int {
	if i >= len(text) || text[i] != '"' {
		return len(text)
	}
	for i++; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return i + 1
		case c < ' ' || c == '\\' || c >= utf8.RuneSelf:
			return len(text)
		}
	}
	return i
}

// orTooEarly turns an early end of the input into an error of JSON.
func orTooEarly(err error, at resolver.Position) error {
	if err == io.EOF {
		return notJSON(at, "it ends too early")
	}
	return err
}

func notJSON(at resolver.Position, message string) *Error {
	return &Error{at, "this is not JSON: " + message}
}
