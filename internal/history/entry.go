package history

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// stored is a change as it is stored: the package comment shows the form.
type stored struct {
	Change
	Order   int    `json:"order"`
	content []byte // compressed
}

const magic = "shortlink history 1 "

// bytes returns the text of the entry.
func (e *stored) bytes() ([]byte, error) {
	head, err := json.Marshal(e)
	return slices.Concat([]byte(magic), head, []byte("\n"), e.content), err
}

// parseStored reads an entry, but not its content.
func parseStored(b []byte) (e stored, err error) {
	head, content, _ := bytes.Cut(b, []byte("\n"))
	text, is := bytes.CutPrefix(head, []byte(magic))
	if !is {
		return e, fmt.Errorf("it begins with %.40q, not with %q", b, magic)
	}
	if err := json.Unmarshal(text, &e); err != nil {
		return e, err
	}
	e.content = content
	switch {
	case e.Old == "" || e.New == "" || e.Time.IsZero():
		return e, errors.New("it has no digests, or no time")
	case e.Missing == "" && len(content) == 0:
		return e, errors.New("its content is missing")
	}
	return e, nil
}

const (
	// mostKeys is how many keys a change has at most whose content is kept. mostText is the size of
	// the longest content, and mostContent that of the longest one when it is compressed.
	mostKeys, mostText, mostContent = 100_000, 32 << 20, 8 << 20
)

// makeContent returns the content of a change, or why there is none.
func makeContent(keys iter.Seq[KeyChange]) (content []byte, missing string) {
	var all []KeyChange
	size := 0
	for k := range keys {
		all = append(all, k)
		if size += len(k.Key) + len(k.Before) + len(k.After); size > mostText {
			return nil, TooLarge
		}
	}
	slices.SortFunc(all, func(a, b KeyChange) int { return strings.Compare(a.Key, b.Key) })
	var text bytes.Buffer
	lines := json.NewEncoder(&text)
	lines.SetEscapeHTML(false)
	for _, k := range all {
		if err := lines.Encode(k); err != nil {
			return nil, cmp.Or(err.Error(), TooLarge)
		}
	}
	writer, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err.Error()
	}
	if content = writer.EncodeAll(text.Bytes(), nil); len(content) > mostContent {
		return nil, TooLarge
	}
	return content, ""
}

// parseContent reads the first keys of a content that a query asks for.
func parseContent(content []byte, q Query) (keys []KeyChange, err error) {
	reader, err := zstd.NewReader(bytes.NewReader(content), zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxMemory(3*mostText))
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	for lines := json.NewDecoder(reader); len(keys) < q.Keys; {
		var k KeyChange
		if err := lines.Decode(&k); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		if q.IsAsked == nil || q.IsAsked(k.Key) {
			keys = append(keys, k)
		}
	}
	return keys, nil
}
