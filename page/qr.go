package page

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"strings"

	"github.com/boombuler/barcode/qr"
)

const (
	// quietZone is how many modules around a QR code stay white, so that it is found.
	quietZone = 4
	// mostBytes is what a code is made of at most: cameras miss finer ones, which take long to make.
	mostBytes = 1000
	// pngSide is about how many pixels a side of a PNG has: enough for print.
	pngSide = 1024
)

// qrCode is the QR code of a URL. Its modules are dark on white whatever the page's colors are:
// not every reader sees the reverse.
type qrCode struct {
	URL     string
	modules image.Image
}

// newQRCode returns the QR code of a URL, with error correction M (15 %).
func newQRCode(url string) (*qrCode, error) {
	url = percentEncoded(url)
	if len(url) > mostBytes {
		return nil, fmt.Errorf("the URL has %d bytes, but a QR code is made of at most %d", len(url),
			mostBytes)
	}
	modules, err := qr.Encode(url, qr.M, qr.Auto)
	if err != nil {
		return nil, err
	}
	return &qrCode{url, modules}, nil
}

// percentEncoded encodes what is no printable ASCII: readers disagree about the charset of a code.
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

// Side returns how many modules a side has, with the quiet zone.
func (q *qrCode) Side() int { return q.modules.Bounds().Dx() + 2*quietZone }

// dark tells whether a module is dark, counted with the quiet zone.
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
