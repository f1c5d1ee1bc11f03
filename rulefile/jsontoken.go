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
	r         *bufio.Reader
	source    string
	offset    int    // of the next byte in the input
	line      int    // from 1
	lineStart int    // offset in the input of the line's first byte
	raw       []byte // the last string or word, as it is written
	// lends is set where the texts of plain members are good only until add returns.
	lends bool
}

// jsonToken is a token of JSON.
type jsonToken struct {
	kind jsonKind
	at   resolver.Position
	// text is what a string says, or how a word is written.
	text string
	// broken is set on a string that is not Unicode text.
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
)

// newJSONScanner returns a scanner of what stands behind a byte order mark.
func newJSONScanner(r io.Reader, source string) *jsonScanner {
	text, mark := withoutByteOrderMark(r)
	return &jsonScanner{r: text, source: source, offset: mark, line: 1, lineStart: mark}
}

// position returns where the next byte stands.
func (s *jsonScanner) position() resolver.Position {
	return resolver.Position{Source: s.source, Line: s.line, Column: s.offset - s.lineStart + 1}
}

// token reads a token. The error is io.EOF where there is none, an [*Error] for what is no
// token, or the reader's own.
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
		s.r.Discard(1) //nolint:errcheck // it has been seen
		s.offset++
	default:
		err = s.readWord(&token)
	}
	token.end = s.offset
	return token, err
}

// skipSpace goes to the next token, and returns its first byte. Lines end nowhere but in the space
// between tokens.
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
		part, err = s.r.ReadSlice('"') // nothing of a long text, where there is no room
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
	token.broken = !utf8.Valid(s.raw)
	if bytes.IndexByte(s.raw, '\\') < 0 {
		token.text = string(s.raw[1:n])
		return nil
	}
	if json.Unmarshal(s.raw, &token.text) != nil {
		return notJSON(token.at, "the string has an escape that there is none of; for a "+
			`backslash write \\`)
	}
	token.broken = token.broken || hasHalfCharacter(token.text, s.raw)
	return nil
}

// hasHalfCharacter reports whether an escape in raw is half a surrogate pair. Then the library has
// put U+FFFD into text, where raw says nothing of that character.
func hasHalfCharacter(text string, raw []byte) bool {
	meant := bytes.Count(raw, []byte("\uFFFD")) + bytes.Count(bytes.ToLower(raw), []byte(`\ufffd`))
	return strings.Count(text, "\uFFFD") > meant
}

// readWord reads what is neither string nor punctuation.
func (s *jsonScanner) readWord(token *jsonToken) error {
	for s.raw = s.raw[:0]; len(s.raw) <= maxText; s.offset++ {
		c, err := s.r.ReadByte()
		if err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		if strings.IndexByte(jsonSpace+jsonPunctuation+`"`, c) >= 0 {
			s.r.UnreadByte() //nolint:errcheck // it has just been read
			break
		}
		s.raw = append(s.raw, c)
	}
	token.kind, token.text = jsonWord, string(s.raw)
	switch {
	case len(s.raw) > maxText:
		return notJSON(token.at, "what begins here is longer than a mebibyte")
	case json.Valid(s.raw):
		return nil
	case s.raw[0] == '/':
		return notJSON(token.at, "it has no comments, and a path stands in quotation marks")
	}
	return notJSON(token.at, quote(token.text)+" is no value; text stands in quotation marks")
}

// plainMembers passes members on, each with the comma behind it, for as long as they are what
// nearly all of a large file are: key and destination are strings of ASCII without escapes, and the
// window has all of it. That takes a third of the time of tokens.
func (s *jsonScanner) plainMembers(add func(resolver.Rule, memberSpan)) {
	window, _ := s.r.Peek(s.r.Buffered())
	begin := s.offset
	for {
		rule, span, ok := s.plainMember(window[s.offset-begin:])
		if !ok {
			s.r.Discard(s.offset - begin) //nolint:errcheck // they have been seen
			return
		}
		s.offset = span.end + 1
		add(rule, span)
	}
}

// plainMember returns the member that a window begins with, and goes to its line.
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
