package printable

import "strconv"

// Quote returns a text in quotation marks, escaped, and shortened if it is long. A message should
// not be longer than the line that it is about, however often it names a key.
func Quote(text string) string {
	const most = 200
	if len(text) > most {
		return strconv.Quote(text[:most]) + "…"
	}
	return strconv.Quote(text)
}
