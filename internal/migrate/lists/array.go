package lists

import (
	"io"
	"regexp"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
)

// ReadArray reads a list of redirects in JSON, a file that contains one, or an object on each line:
// see [pairs.readTable].
func ReadArray(t *migrate.Table, r io.Reader) error {
	text, err := t.ReadText(r)
	if err != nil {
		return err
	}
	if javaScriptBeginning.MatchString(text[:min(len(text), 256)]) {
		return migrate.ErrorAt(t.Position(1, 1), "this is JavaScript, not JSON; for Next.js convert "+
			"routes-manifest.json from the build folder, else write the list of redirects as JSON")
	}
	values, err := t.DecodeJSON(text)
	p := newPairs(t)
	p.isJSON = true
	for _, v := range values.Inside() {
		if isEntry(v) {
			p.readTable(values)
			break
		}
		p.readTable(v)
	}
	p.finish("list in JSON")
	return err
}

// javaScriptBeginning matches the beginning of configurations in JavaScript.
var javaScriptBeginning = regexp.MustCompile(
	`^\s*(module\.exports|(export|import|const)\s|/\*\* @type|// @ts-check)`)
