package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/caddy-shortlink/shortlink/internal/printable"
)

// id names an entry in the storage.
type id struct {
	old, new string // halves of digests
	n        int    // the first, the second... time that the change has happened
	form     form
}

// form is how an entry came about. Of the entries of one change, that with the last form counts.
type form byte

const (
	found     form = 'a' // by a server in its sources
	edited    form = 'b' // by the server that has made the change
	forgotten form = 'c'
)

// String returns the last part of the entry's name.
func (i id) String() string { return fmt.Sprintf("%s-%s-%d%c", i.old, i.new, i.n, i.form) }

// parseID reads the last part of a name.
func parseID(name string) (i id, ok bool) {
	parts := strings.Split(name, "-")
	if len(parts) != 3 || len(parts[2]) < 2 {
		return i, false
	}
	last := len(parts[2]) - 1
	n, err := strconv.Atoi(parts[2][:last])
	i = id{parts[0], parts[1], n, form(parts[2][last])}
	return i, err == nil && i.form >= found && i.form <= forgotten && i.String() == name
}

// half returns the digits of a digest that stand in names.
func half(digest string) string { return digest[:min(len(digest), 32)] }

// head is the first line of an entry, behind magic.
type head struct {
	Change
	Order int `json:"order"`
}

const magic = "shortlink history 1 "

// makeEntry returns the text of an entry.
func makeEntry(h head, content []byte) ([]byte, error) {
	line, err := json.Marshal(h)
	return slices.Concat([]byte(magic), line, []byte("\n"), content), err
}

// parseEntry reads an entry, but not its content.
func parseEntry(b []byte) (h head, content []byte, err error) {
	line, content, _ := bytes.Cut(b, []byte("\n"))
	text, is := bytes.CutPrefix(line, []byte(magic))
	if !is {
		return h, nil, fmt.Errorf("it begins with %.40q, not with %q", b, magic)
	}
	if err = json.Unmarshal(text, &h); err == nil && (h.Old == "" || h.New == "" || h.Order < 1) {
		err = errors.New("its digests or its order are missing")
	}
	return h, content, err
}

const (
	// mostKeys is how many keys a change has at most whose content is kept. mostText is the size of
	// the longest content, and mostContent that of the longest one when it is compressed.
	mostKeys, mostText, mostContent = 100_000, 32 << 20, 8 << 20
)

// worthwhile is the length from which a content is compressed.
const worthwhile = 4 << 10

// makeContent returns the content of a change, or why there is none.
func makeContent(keys iter.Seq[KeyChange]) (content []byte, missing string) {
	all := []KeyChange{}
	size := 0
	for k := range keys {
		all = append(all, k)
		if size += len(k.Key) + len(k.Before) + len(k.After); size > mostText {
			return nil, TooLarge
		}
	}
	slices.SortFunc(all, func(a, b KeyChange) int { return strings.Compare(a.Key, b.Key) })
	text, err := printable.JSON(all) // which leaves rules as they are written
	switch {
	case err != nil:
		return nil, err.Error()
	case len(text) < worthwhile:
		return text, ""
	}
	writer, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err.Error()
	}
	if content = writer.EncodeAll(text, nil); len(content) > mostContent {
		return nil, TooLarge
	}
	return content, ""
}

// parseContent reads a content.
func parseContent(content []byte) (keys []KeyChange, err error) {
	if bytes.HasPrefix(content, []byte("[")) {
		err = json.Unmarshal(content, &keys)
		return keys, err
	}
	reader, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxMemory(3*mostText))
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	text, err := reader.DecodeAll(content, nil)
	if err == nil {
		err = json.Unmarshal(text, &keys)
	}
	return keys, err
}
