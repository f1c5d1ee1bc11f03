package source

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// formatOf returns the format that is written, or told by the name, or JSON.
func formatOf(written, name string) (rulefile.Format, error) {
	if written != "" {
		return rulefile.ParseFormat(written)
	}
	if format, ok := rulefile.FormatOf(name); ok {
		return format, nil
	}
	return rulefile.JSON, nil
}

// readAs reads rules in a format. Where the name of what is read does not tell that it is JSON, and
// it is not, the error says what to write for the other formats: option and format.
func readAs(
	r io.Reader, format rulefile.Format, how rulefile.Reading, name, option string,
	add func(resolver.Rule),
) ([]resolver.Warning, error) {
	if _, told := rulefile.FormatOf(name); told || format != rulefile.JSON {
		return how.Read(r, format, name, add)
	}
	const enough = 512
	text := bufio.NewReader(r)
	first, _ := text.Peek(enough)
	_, err := how.Read(text, format, name, add)
	if wrong, ok := errors.AsType[rulefile.Errors](err); ok && !beginsObject(first) {
		wrong[0].Message += "; for the other formats write " + option + " csv or " + option + " redirects"
	}
	return nil, err
}

// beginsObject reports whether a text is the beginning of a JSON object, as far as it goes.
func beginsObject(text []byte) bool {
	text = bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\uFEFF")), " \t\r\n")
	return len(text) == 0 || text[0] == '{'
}
