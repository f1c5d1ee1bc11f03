package coverage

import (
	"fmt"
	"strconv"
)

// Unread are the lines that could not be read.
type Unread struct {
	Lines uint64
	First []string // place and reason of the first ones
}

// mostUnread is the largest length of Unread.First.
const mostUnread = 10

// add counts a line that could not be read.
func (u *Unread) add(file string, line int, reason error) {
	u.Lines++
	if len(u.First) < mostUnread {
		u.First = append(u.First, fmt.Sprintf("%s:%d: %v", file, line, reason))
	}
}

// excerpt returns the beginning of a text, in quotation marks.
func excerpt(text []byte) string {
	const most = 80
	if len(text) > most {
		return strconv.QuoteToASCII(string(text[:most])) + "…"
	}
	return strconv.QuoteToASCII(string(text))
}
