package source

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/klauspost/compress/zstd"
)

// zstdWindow is how much of a text a decoder has to remember, as RFC 9659 bounds it for HTTP.
const zstdWindow = 8 << 20

// readBody reads the text of a response, uncompressed, if that is not longer than most.
func readBody(response *http.Response, most int64) ([]byte, error) {
	coding := strings.ToLower(response.Header.Get("Content-Encoding"))
	text := bytes.NewBuffer([]byte{}) // never nil
	plain, end, err := decode(response.Body, coding)
	if err == nil {
		defer end()
		_, err = text.ReadFrom(io.LimitReader(plain, most+1))
	}
	switch {
	case err == nil && int64(text.Len()) > most:
		return nil, fmt.Errorf("it is longer than %s; set max_size if that is meant",
			humanize.IBytes(uint64(most)))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("the response was cut off; it is asked again")
	case err != nil && coding != "":
		return nil, fmt.Errorf("Content-Encoding %s: %w", coding, reasonOf(err))
	case err != nil:
		return nil, reasonOf(err)
	}
	return text.Bytes(), nil
}

// decode returns the text of a body, and a function to call behind it.
func decode(body io.Reader, coding string) (plain io.Reader, end func(), err error) {
	switch coding {
	case "", "identity":
		return body, func() {}, nil
	case "gzip":
		plain, err = gzip.NewReader(body)
		return plain, func() {}, err
	case "zstd":
		decoder, err := zstd.NewReader(body, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindow))
		if err != nil {
			return nil, nil, err
		}
		return decoder, decoder.Close, nil
	}
	return nil, nil, errors.New("it was not asked for; the server may send zstd, gzip or neither")
}
