package page

import (
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/url"
	"strings"
	"unicode"

	"github.com/boombuler/barcode/qr"
)

const (
	// quietZone is the white border of a QR code, in modules, which readers need.
	quietZone = 4
	// mostBytes is the maximum length of the URL: cameras cannot read finer codes, which also take
	// long to make.
	mostBytes = 1000
	// pngSide is about the side of a PNG in pixels: enough for print.
	pngSide = 1024
)

// qrCode is the QR code of a URL. Its modules are dark on white in any colour scheme: not every
// reader accepts the reverse.
type qrCode struct {
	URL     string
	modules image.Image
}

// pictureTypes are the types of a QR code as a file, by extension.
var pictureTypes = map[string]string{"png": "image/png", "svg": "image/svg+xml"}

// mostInName is how many bytes of a key are in the name of a file.
const mostInName = 100

// fileNameOf returns the name of a file for a key, without extension: its letters and digits, and
// "-" for what a file system may not take.
func fileNameOf(key string) string {
	if decoded, err := url.PathUnescape(key); err == nil {
		key = decoded
	}
	name := strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.L, unicode.M, unicode.N) || r == '.' || r == '_' {
			return r
		}
		return '-'
	}, key)
	name = strings.ToValidUTF8(name[:min(len(name), mostInName)], "")
	return cmp.Or(strings.Trim(name, "-."), "qr")
}

// newQRCode returns the QR code of a URL, with error correction M (15 %).
func newQRCode(of string) (*qrCode, error) {
	of = percentEncoded(of)
	if len(of) > mostBytes {
		return nil, fmt.Errorf("the URL has %d bytes, but a QR code has at most %d", len(of), mostBytes)
	}
	modules, err := qr.Encode(of, qr.M, qr.Auto)
	if err != nil {
		return nil, err
	}
	return &qrCode{of, modules}, nil
}

// percentEncoded encodes everything but printable ASCII: readers disagree about the charset of a
// code.
func percentEncoded(url string) string {
	var b strings.Builder
	for i := range len(url) {
		if c := url[i]; c <= ' ' || c >= 0x7f {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// Side returns the number of modules of a side, including the quiet zone.
func (q *qrCode) Side() int { return q.modules.Bounds().Dx() + 2*quietZone }

// dark reports whether a module is dark; coordinates include the quiet zone.
func (q *qrCode) dark(x, y int) bool {
	at := image.Pt(x-quietZone, y-quietZone)
	return at.In(q.modules.Bounds()) && q.modules.At(at.X, at.Y) == color.Black
}

// Path returns the dark modules as data of an SVG path: a rectangle for each horizontal run.
func (q *qrCode) Path() string {
	var b strings.Builder
	side := q.Side()
	for y := range side {
		for x := 0; x < side; x++ {
			start := x
			for q.dark(x, y) {
				x++
			}
			if x > start {
				fmt.Fprintf(&b, "M%d %dh%dv1h-%dz", start, y, x-start, x-start)
			}
		}
	}
	return b.String()
}

// PNG writes the code as a PNG of two colors.
func (q *qrCode) PNG(w io.Writer) error {
	scale := max(pngSide/q.Side(), 1)
	side := q.Side() * scale
	picture := image.NewPaletted(image.Rect(0, 0, side, side),
		color.Palette{color.White, color.Black})
	for y := range side {
		for x := range side {
			if q.dark(x/scale, y/scale) {
				picture.Pix[y*picture.Stride+x] = 1
			}
		}
	}
	return png.Encode(w, picture)
}
