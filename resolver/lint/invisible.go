package lint

import (
	"fmt"
	"net/url"
	"unicode"
	"unicode/utf8"
)

// lintInvisible warns of the first invisible character in a part of a rule. Such characters come
// with copied texts, and nobody can see why a link is not found.
func (l *ruleLint) lintInvisible(part, text string) {
	last := rune(0)
	for _, r := range text {
		if r >= utf8.RuneSelf && isInvisible(last, r) {
			l.warn(WarnInvisible, fmt.Sprintf("the %s has the invisible character %U; remove it, or "+
				"write %s if it is meant", part, r, url.PathEscape(string(r))))
			return
		}
		last = r
	}
}

// isInvisible reports whether a character beyond ASCII is invisible. A joiner after such a
// character is part of a word, or of an emoji.
func isInvisible(last, r rune) bool {
	if (r == '\u200C' || r == '\u200D') && last >= utf8.RuneSelf {
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Zs, unicode.Other_Default_Ignorable_Code_Point)
}
