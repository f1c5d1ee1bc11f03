package page

import (
	"bytes"
	"html/template"
	"image/color"
	"image/png"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestTheSVGOfAQRCodeDrawsWhatItsPNGDoes(t *testing.T) {
	code, err := newQRCode("https://go.example/abc?x=1#f")
	if err != nil {
		t.Fatal(err)
	}
	var written bytes.Buffer
	if err := code.PNG(&written); err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(&written)
	if err != nil {
		t.Fatal(err)
	}
	drawn := modulesOf(t, code.Path(), code.Side())
	scale := picture.Bounds().Dx() / code.Side()
	for y := range code.Side() {
		for x := range code.Side() {
			r, _, _, _ := picture.At(x*scale+scale/2, y*scale+scale/2).RGBA()
			if drawn[y][x] != (r == 0) {
				t.Fatalf("module %d, %d: the path says %t, the PNG %t", x, y, drawn[y][x], r == 0)
			}
			inside := min(x, y, code.Side()-1-x, code.Side()-1-y) >= quietZone
			if drawn[y][x] && !inside {
				t.Fatalf("module %d, %d is in the quiet zone and dark", x, y)
			}
		}
	}
	if !drawn[quietZone][quietZone] {
		t.Error("there is no finder pattern in the upper left corner")
	}
	if palette, ok := picture.ColorModel().(color.Palette); !ok || len(palette) != 2 {
		t.Errorf("the PNG has the color model %v, want two colors", picture.ColorModel())
	}
}

// modulesOf draws the runs of a path.
func modulesOf(t *testing.T, path string, side int) [][]bool {
	t.Helper()
	run := regexp.MustCompile(`M(\d+) (\d+)h(\d+)v1h-(\d+)z`)
	if rest := run.ReplaceAllString(path, ""); rest != "" {
		t.Fatalf("the path has something else than runs: %q", rest)
	}
	drawn := make([][]bool, side)
	for y := range drawn {
		drawn[y] = make([]bool, side)
	}
	for _, match := range run.FindAllStringSubmatch(path, -1) {
		var n [4]int
		for i := range n {
			n[i], _ = strconv.Atoi(match[i+1])
		}
		if n[2] != n[3] {
			t.Fatalf("%s does not go back to where it began", match[0])
		}
		for x := range n[2] {
			drawn[n[1]][n[0]+x] = true
		}
	}
	return drawn
}

func TestAQRCodeHoldsPrintableASCIIOnly(t *testing.T) {
	code, err := newQRCode("https://go.example/größe\xff \n%20")
	if err != nil {
		t.Fatal(err)
	}
	if want := "https://go.example/gr%C3%B6%C3%9Fe%FF%20%0A%20"; code.URL != want {
		t.Errorf("the code has %q, want %q", code.URL, want)
	}
}

func TestAURLThatIsTooLongHasNoQRCode(t *testing.T) {
	longest := "https://go.example/" + strings.Repeat("a", mostBytes-len("https://go.example/"))
	if _, err := newQRCode(longest); err != nil {
		t.Errorf("a URL of %d bytes: %v", len(longest), err)
	}
	for _, more := range []string{"a", strings.Repeat("a", 65535), strings.Repeat("ü", 300)} {
		_, err := newQRCode(longest + more)
		if err == nil || len(err.Error()) > 100 {
			t.Errorf("a URL of %d bytes: %v, want a short error", len(longest+more), err)
		}
	}
}

func TestTheURLOfAQRCodeIsEscapedInItsTitle(t *testing.T) {
	code, err := newQRCode(`https://go.example/"><script>alert(1)</script>`)
	if err != nil {
		t.Fatal(err)
	}
	html := execute(t, "qr", code)
	if strings.Contains(html, "<script") || strings.Contains(html, `/">`) {
		t.Errorf("the URL became markup:\n%.300s", html)
	}
}

func execute(t *testing.T, name string, data any) string {
	t.Helper()
	var b strings.Builder
	templates := template.Must(template.ParseFiles("templates/chart.html"))
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
