package migrate

import (
	"errors"
	"strings"
)

// Space is what can stand between the words of a line.
const Space = " \t\r\v\f"

// Word is a word of a line.
type Word struct {
	Text   string // without quotation marks
	Column int    // where it begins, in bytes, from 1
	// IsMark tells that it is one of [Splitter.Marks].
	IsMark bool
}

// Splitter says how a program splits a line into words. They stand between white space, and one
// that begins with a quotation mark, ' or ", goes on to the next one.
//
//	/a  "/with space";    the words /a and /with space, and the mark ;
type Splitter struct {
	// Marks are characters that are words of their own. Those in Ends also end a word in front of
	// them, but for a brace behind "$".
	Marks, Ends string
	// HasComments tells that the rest of a line, from a word that begins with "#", says nothing.
	HasComments bool
	// EndsQuotes tells that the end of a line ends a quoted word, too.
	EndsQuotes bool
	// Unescape returns what a backslash and a character stand for, between quotation marks or, where
	// quote is 0, outside; ok is false where the backslash is one.
	Unescape func(c, quote byte) (text string, ok bool)
}

// Split returns the words of a line from somewhere on. An error is about the last one.
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

// next returns the first word from somewhere on, and where it ends; that is negative where there is
// none.
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
	var text strings.Builder
	for ; at < len(line); at++ {
		c := line[at]
		switch {
		case quote != 0 && c == quote:
			w.Text = text.String()
			return w, at + 1, nil
		case quote == 0 && s.endsWord(text.String(), c):
			w.Text = text.String()
			return w, at, nil
		case c == '\\' && at+1 < len(line):
			if unescaped, ok := s.Unescape(line[at+1], quote); ok {
				text.WriteString(unescaped)
				at++
				continue
			}
		}
		text.WriteByte(c)
	}
	w.Text = text.String()
	if quote != 0 && !s.EndsQuotes {
		return w, at, errors.New("a quotation mark is not closed; write it at the word's end, too")
	}
	return w, at, nil
}

// endsWord reports whether a character ends the word in front of it.
func (s *Splitter) endsWord(word string, c byte) bool {
	return strings.IndexByte(Space, c) >= 0 ||
		strings.IndexByte(s.Ends, c) >= 0 && (c != '{' || !strings.HasSuffix(word, "$"))
}
