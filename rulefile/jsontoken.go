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

// jsonScanner cuts JSON into tokens and says where each begins. It is here because
// the standard library's decoder, which knows no lines, takes four times as long for
// a file of a million rules; what is hard about JSON, the escapes and the numbers,
// is still left to that library.
type jsonScanner struct {
	r      io.Reader
	source string
	// window is the part of the input that is held. What comes next is at next, and everything from
	// start on is still needed.
	window      []byte
	start, next int
	passed      int // bytes of the input in front of the window
	line        int // from 1
	lineStart   int // offset in the input of the line's first byte
	// lends is set where strings are good only until the next token.
	lends bool
}

// jsonToken is a token of JSON.
type jsonToken struct {
	kind jsonKind
	at   resolver.Position
	// text is what a string says, or how a word is written.
	text string
	// broken is set on a string that is no Unicode text.
	broken bool
	// start and end are where it stands in the input.
	start, end int
}

// jsonKind is a token's kind: the byte itself for one of {}[]:, or one of these.
type jsonKind byte

const (
	jsonString jsonKind = '"'
	// jsonWord is a number, true, false or null.
	jsonWord jsonKind = 'w'
)

const (
	jsonPunctuation = "{}[]:,"
	jsonSpace       = " \t\r\n"
	jsonWindow      = 16 << 10
)

// newJSONScanner returns a scanner of r, which begins at a byte of the input.
func newJSONScanner(r *bufio.Reader, source string, at int) *jsonScanner {
	window := make([]byte, 0, min(r.Size(), jsonWindow))
	return &jsonScanner{r: r, source: source, window: window, passed: at, line: 1, lineStart: at}
}

// offset returns where in the input the next byte stands.
func (s *jsonScanner) offset() int { return s.passed + s.next }

// token reads a token. The error is io.EOF where there is none, an [*Error] for what is no
// token, or the reader's own.
func (s *jsonScanner) token() (jsonToken, error) {
	if err := s.skipSpace(); err != nil {
		return jsonToken{}, err
	}
	start := s.offset()
	token, err := s.tokenHere()
	token.start, token.end = start, s.offset()
	return token, err
}

// tokenHere reads the token that begins at the next byte.
func (s *jsonScanner) tokenHere() (jsonToken, error) {
	at := s.position()
	switch c := s.window[s.next]; {
	case c == '"':
		return s.string(at)
	case strings.IndexByte(jsonPunctuation, c) >= 0:
		s.next++
		return jsonToken{kind: jsonKind(c), at: at}, nil
	}
	return s.word(at)
}

// plainMember is a member of an object that needs no decoding.
type plainMember struct {
	name, value string
	at          resolver.Position
	span        memberSpan // in the input
}

// plainMember reads a member with the comma behind it, as nearly all of a large file are: name and
// value are strings of ASCII without escapes, and the window has all of it. Otherwise it reads
// nothing.
func (s *jsonScanner) plainMember() (m plainMember, ok bool) {
	w, name := s.window, s.next
	line, lineStart := s.line, s.lineStart
	for ; name < len(w) && strings.IndexByte(jsonSpace, w[name]) >= 0; name++ {
		if w[name] == '\n' {
			line, lineStart = line+1, s.passed+name+1
		}
	}
	nameEnd := plainStringEnd(w, name)
	colon := blanksEnd(w, nameEnd)
	value := blanksEnd(w, colon+1)
	end := plainStringEnd(w, value)
	if end >= len(w) || w[end] != ',' || w[colon] != ':' {
		return m, false
	}
	s.line, s.lineStart, s.start, s.next = line, lineStart, end+1, end+1
	text := textOf(w[name:end], s.lends) // one piece of memory for both
	m.name, m.value = text[1:nameEnd-name-1], text[value-name+1:end-name-1]
	m.at = resolver.Position{Source: s.source, Line: line, Column: s.passed + name - lineStart + 1}
	m.span = memberSpan{s.passed + name, s.passed + nameEnd, s.passed + value, s.passed + end}
	return m, true
}

func blanksEnd(text []byte, i int) int {
	for i < len(text) && text[i] == ' ' {
		i++
	}
	return i
}

// plainStringEnd returns where a string of ASCII without escapes ends that begins at i; the end of
// the text, if none does.
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

// skipSpace goes to the next token. Lines end nowhere but in the space between tokens.
func (s *jsonScanner) skipSpace() error {
	for {
		for ; s.next < len(s.window); s.next++ {
			switch s.window[s.next] {
			case '\n':
				s.line++
				s.lineStart = s.passed + s.next + 1
			case ' ', '\t', '\r':
			default:
				s.start = s.next
				return nil
			}
		}
		s.start = s.next
		if err := s.readOn(); err != nil {
			return err
		}
	}
}

// readOn reads more of the input into the window. The error is io.EOF at its end.
func (s *jsonScanner) readOn() error {
	kept := copy(s.window, s.window[s.start:])
	s.window = slices.Grow(s.window[:kept], 1)
	s.passed += s.start
	s.next -= s.start
	s.start = 0
	n, err := io.ReadAtLeast(s.r, s.window[kept:cap(s.window)], 1)
	s.window = s.window[:kept+n]
	return err
}

// position returns where the next byte stands.
func (s *jsonScanner) position() resolver.Position {
	column := s.offset() - s.lineStart + 1
	return resolver.Position{Source: s.source, Line: s.line, Column: column}
}

// string reads a string.
func (s *jsonScanner) string(at resolver.Position) (jsonToken, error) {
	plain, escaped := true, false
	s.next++
	for {
		for i, c := range s.window[s.next:] {
			switch {
			case c < ' ':
				return jsonToken{}, notJSON(at, "the string does not end on its line, or holds a "+
					"control character; escape it, such as a tab as \\t")
			case escaped:
				escaped = false
			case c == '\\':
				plain, escaped = false, true
			case c == '"':
				s.next += i + 1
				return s.decoded(at, plain)
			}
		}
		s.next = len(s.window)
		if s.next-s.start > maxText {
			return jsonToken{}, notJSON(at, "the string is longer than a mebibyte")
		}
		if err := s.readOn(); err != nil {
			return jsonToken{}, orTooEarly(err, at)
		}
	}
}

// decoded returns the string that has been read; a plain one has no escapes.
func (s *jsonScanner) decoded(at resolver.Position, plain bool) (jsonToken, error) {
	raw := s.window[s.start:s.next]
	token := jsonToken{kind: jsonString, at: at, broken: !utf8.Valid(raw)}
	if plain {
		token.text = string(raw[1 : len(raw)-1])
		return token, nil
	}
	text, ok := unescaped(raw)
	if !ok {
		return token, notJSON(at, "the string has an escape that there is none of; for a "+
			`backslash write \\`)
	}
	token.text = text
	token.broken = token.broken || hasHalfCharacter(text, raw)
	return token, nil
}

func unescaped(raw []byte) (text string, ok bool) {
	err := json.Unmarshal(raw, &text)
	return text, err == nil
}

// hasHalfCharacter reports whether an escape in raw is half a surrogate pair. Then the library has
// put U+FFFD into text, where raw says nothing of that character.
func hasHalfCharacter(text string, raw []byte) bool {
	meant := bytes.Count(raw, []byte("\uFFFD")) + bytes.Count(bytes.ToLower(raw), []byte(`\ufffd`))
	return strings.Count(text, "\uFFFD") > meant
}

// word reads what is neither string nor punctuation.
func (s *jsonScanner) word(at resolver.Position) (jsonToken, error) {
	for {
		if end := bytes.IndexAny(s.window[s.next:], jsonSpace+jsonPunctuation+`"`); end >= 0 {
			s.next += end
			break
		}
		s.next = len(s.window)
		if s.next-s.start > maxText {
			return jsonToken{}, notJSON(at, "what begins here is longer than a mebibyte")
		}
		if err := s.readOn(); err == io.EOF {
			break
		} else if err != nil {
			return jsonToken{}, err
		}
	}
	word := s.window[s.start:s.next]
	if !json.Valid(word) {
		return jsonToken{}, notJSON(at, badWord(string(word)))
	}
	return jsonToken{kind: jsonWord, at: at, text: string(word)}, nil
}

func badWord(word string) string {
	if strings.HasPrefix(word, "/") {
		return "it has no comments, and a path stands in quotation marks"
	}
	return quote(word) + " is no value; text stands in quotation marks"
}

// orTooEarly says, of an error that is the input's end, that it was not to be expected.
func orTooEarly(err error, at resolver.Position) error {
	if err == io.EOF {
		return notJSON(at, "it ends too early")
	}
	return err
}

func notJSON(at resolver.Position, message string) *Error {
	return &Error{at, "this is no JSON: " + message}
}
