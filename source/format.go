package source

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// formatOf returns the format that is written, or that the name tells, or JSON.
func formatOf(written, name string) (rulefile.Format, error) {
	if written != "" {
		return rulefile.ParseFormat(written)
	}
	if format, ok := rulefile.FormatOf(name); ok {
		return format, nil
	}
	return rulefile.JSON, nil
}

// readAs reads rules in a format. If they should be JSON and are not, the error says how to write
// another format; option names the flag or the option for it.
func readAs(
	r io.Reader, format rulefile.Format, how rulefile.Reading, name, option string,
	add func(resolver.Rule),
) ([]lint.Warning, error) {
	if format != rulefile.JSON {
		return how.Read(r, format, name, add)
	}
	const enough = 512
	text := bufio.NewReader(r)
	first, _ := text.Peek(enough)
	_, err := how.Read(text, format, name, add)
	if wrong, ok := errors.AsType[rulefile.Errors](err); ok {
		wrong[0].Message += otherFormat(name, option, first)
	}
	return nil, err
}

// otherFormat says what to write if a text is in another format than JSON, as far as its name and
// its beginning tell, or "".
func otherFormat(name, option string, first []byte) string {
	const convert = "; a file of another program is converted: caddy shortlink convert --to json "
	_, isOurs := rulefile.FormatOf(name)
	switch isObject := beginsObject(first); {
	case isObject && isListed(first):
		return convert + name
	case isObject || isOurs || bytes.IndexByte(first, 0) >= 0: // which is not text
		return ""
	}
	return "; for the other formats write " + option + " csv or " + option + " redirects" +
		convert + name
}

// isListed reports whether a JSON object has members in which other programs list redirects.
func isListed(text []byte) bool {
	return bytes.Contains(text, []byte(`"redirects"`)) || bytes.Contains(text, []byte(`"hosting"`))
}

// beginsObject reports whether a text is the beginning of a JSON object.
func beginsObject(text []byte) bool {
	text = bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\uFEFF")), " \t\r\n")
	return len(text) == 0 || text[0] == '{'
}
