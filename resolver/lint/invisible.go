package lint

import (
	"fmt"
	"net/url"
	"unicode"
	"unicode/utf8"
)

// lintInvisible warns of the first invisible character in a part of a rule: it comes with texts
// that are copied, and nobody can tell by looking why a link is not found.
func (l *ruleLint) lintInvisible(part, text string) {
	if r, found := invisibleIn(text); found {
		l.warn(WarnInvisible, fmt.Sprintf("the %s has the invisible character %U; remove it, or "+
			"write %s if it is meant", part, r, url.PathEscape(string(r))))
	}
}

// invisibleIn returns the first invisible character of a text.
func invisibleIn(text string) (r rune, found bool) {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return invisibleBehind(text[i:])
		}
	}
	return 0, false // as in most
}

// invisibleBehind is invisibleIn for a text that begins with a character that is not ASCII. A joiner
// behind such a one is part of a word, or of an emoji.
func invisibleBehind(text string) (found rune, ok bool) {
	last := rune(0)
	for _, r := range text {
		isJoiner := (r == '\u200C' || r == '\u200D') && last >= utf8.RuneSelf
		isBlank := r != ' ' && unicode.In(r, unicode.Zs, unicode.Other_Default_Ignorable_Code_Point)
		if isBlank || unicode.Is(unicode.Cf, r) && !isJoiner {
			return r, true
		}
		last = r
	}
	return 0, false
}
