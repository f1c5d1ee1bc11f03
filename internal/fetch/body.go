package fetch

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/dustin/go-humanize"
	"github.com/klauspost/compress/zstd"
)

// accepted are the codings that decode knows.
const accepted = "zstd, gzip"

// zstdWindow is how much of a text a decoder has to remember, as RFC 9659 bounds it for HTTP.
const zstdWindow = 8 << 20

// readBody reads the text of a response, uncompressed, if that is not longer than most.
func readBody(response *http.Response, most int64) ([]byte, error) {
	var text bytes.Buffer
	plain, err := decode(response.Body, response.Header.Get("Content-Encoding"))
	if err == nil {
		defer plain.Close()
		_, err = text.ReadFrom(io.LimitReader(plain, most+1))
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("the response was cut off")
	case err != nil:
		return nil, reasonOf(err)
	case int64(text.Len()) > most:
		return nil, fmt.Errorf("it is longer than %s; set max_size if that is meant",
			humanize.IBytes(uint64(most)))
	}
	return text.Bytes(), nil
}

// decode returns the text of a body.
func decode(body io.ReadCloser, coding string) (io.ReadCloser, error) {
	switch coding {
	case "", "identity":
		return body, nil
	case "gzip":
		return gzip.NewReader(body)
	case "zstd":
		decoder, err := zstd.NewReader(body, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindow))
		if err != nil {
			return nil, err
		}
		return decoder.IOReadCloser(), nil
	}
	return nil, fmt.Errorf("its Content-Encoding is %q, and it was asked for %s", coding, accepted)
}
