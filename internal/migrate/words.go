package migrate

import (
	"bytes"
	"errors"
	"strings"
)

// Space holds the characters that can separate words of a line.
const Space = " \t\r\v\f"

// Word is a word of a line.
type Word struct {
	Text   string // without quotation marks
	Column int    // where it begins, in bytes, from 1
	// IsMark reports whether the word is one of [Splitter.Marks].
	IsMark bool
}

// Splitter describes how a program splits a line into words. White space separates words. A word
// that begins with a quotation mark, ' or ", ends at the next one.
//
//	/a  "/with space";    the words /a and /with space, and the mark ;
type Splitter struct {
	// Marks are characters that are words of their own. Those in Ends also end the word before
	// them, except a brace after "$".
	Marks, Ends string
	// HasComments reports whether a word that begins with "#" starts a comment.
	HasComments bool
	// EndsQuotes reports whether the end of a line also ends a quoted word.
	EndsQuotes bool
	// Unescape returns the meaning of a backslash and a character. quote is the quotation mark
	// around them, or 0. If ok is false, or there is no Unescape, the backslash is literal.
	Unescape func(c, quote byte) (text string, ok bool)
}

// Split returns the words of a line, starting at from. An error is about the last word.
func (s *Splitter) Split(line string, from int) (words []Word, err error) {
	for {
		w, end, err := s.next(line, from)
		if end < 0 {
			return words, nil
		}
		if words, from = append(words, w), end; err != nil {
			return words, err
		}
	}
}

// next returns the first word at or after from, and its end. The end is negative if there is no
// word.
func (s *Splitter) next(line string, from int) (w Word, end int, err error) {
	rest := strings.TrimLeft(line[from:], Space)
	at := len(line) - len(rest)
	w.Column = at + 1
	switch {
	case rest == "" || s.HasComments && rest[0] == '#':
		return w, -1, nil
	case strings.IndexByte(s.Marks, rest[0]) >= 0:
		w.Text, w.IsMark = rest[:1], true
		return w, at + 1, nil
	}
	quote := byte(0)
	if rest[0] == '"' || rest[0] == '\'' {
		quote = rest[0]
		at++
	}
	text, end := s.unescape(line, at, quote)
	w.Text = string(text)
	switch {
	case quote == 0:
		return w, end, nil
	case end == len(line) && !s.EndsQuotes:
		return w, end, errors.New("a quotation mark is not closed; add one at the end of the word")
	}
	return w, min(end+1, len(line)), nil
}

// unescape returns the text of a word from a place on, and the place of the character that ends it:
// the quotation mark, if it has one.
func (s *Splitter) unescape(line string, at int, quote byte) (text []byte, end int) {
	for ; at < len(line); at++ {
		c := line[at]
		switch {
		case quote != 0 && c == quote:
			return text, at
		case quote != 0:
		case strings.IndexByte(Space, c) >= 0,
			strings.IndexByte(s.Ends, c) >= 0 && (c != '{' || !bytes.HasSuffix(text, []byte("$"))):
			return text, at
		}
		if c == '\\' && at+1 < len(line) && s.Unescape != nil {
			if unescaped, ok := s.Unescape(line[at+1], quote); ok {
				text = append(text, unescaped...)
				at++
				continue
			}
		}
		text = append(text, c)
	}
	return text, at
}
