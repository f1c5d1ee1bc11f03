package page

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"
)

// contrasts are the pairs of colors that meet on the page, and what WCAG 2.2 asks of them: 4.5 of
// text (1.4.3), 3 of the edges of controls, of what is focused and of graphics (1.4.11).
var contrasts = map[float64]string{
	4.5: "ink/paper ink/panel ink/good-panel ink/bad-panel ink/warn-panel muted/paper muted/panel " +
		"link/paper link/panel link/bad-panel link/warn-panel link/good-panel on-accent/accent " +
		"on-accent/bad " +
		"good/paper bad/paper bad/panel warn/paper",
	3: "edge/paper edge/panel accent/paper bar/paper bar-hover/paper link/paper good/paper " +
		"good/good-panel bad/bad-panel warn/warn-panel",
}

func TestColorsOfTheStylesheetHaveEnoughContrast(t *testing.T) {
	light, dark := colors(t)
	for enough, pairs := range contrasts {
		for pair := range strings.FieldsSeq(pairs) {
			a, b, _ := strings.Cut(pair, "/")
			for scheme, of := range map[string]map[string]string{"light": light, "dark": dark} {
				if of[a] == "" || of[b] == "" {
					t.Errorf("%s: the stylesheet has no such colors", pair)
				} else if got := contrast(t, of[a], of[b]); got < enough {
					t.Errorf("%s, %s: %s on %s has a contrast of %.2f, want %g", pair, scheme, of[a],
						of[b], got, enough)
				}
			}
		}
	}
}

func TestColorsAreNamedInOnePlaceAndLightWithoutLightDark(t *testing.T) {
	light, _ := colors(t)
	style := stylesheet(t)
	plain := regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6});`).FindAllStringSubmatch(style, -1)
	for _, m := range plain {
		if light[m[1]] != m[2] {
			t.Errorf("--%s is %s, and light %s where there is light-dark()", m[1], m[2], light[m[1]])
		}
	}
	if len(plain) != len(light) {
		t.Errorf("%d colors have a plain value, want all %d", len(plain), len(light))
	}
	if n := len(regexp.MustCompile(`#[0-9a-f]{3,8}\b`).FindAllString(style, -1)); n != 3*len(light) {
		t.Errorf("the stylesheet writes %d colors, want each of the %d thrice", n, len(light))
	}
}

func TestTheScriptIsSmall(t *testing.T) {
	script, err := os.ReadFile("assets/script.js")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(script), "\n"); n > 100 {
		t.Errorf("the script has %d lines, want at most 100", n)
	}
}

func stylesheet(t *testing.T) string {
	t.Helper()
	style, err := os.ReadFile("assets/style.css")
	if err != nil {
		t.Fatal(err)
	}
	return string(style)
}

// colors returns the colors of both schemes by name.
func colors(t *testing.T) (light, dark map[string]string) {
	t.Helper()
	light, dark = map[string]string{}, map[string]string{}
	pattern := regexp.MustCompile(`--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);`)
	for _, m := range pattern.FindAllStringSubmatch(stylesheet(t), -1) {
		light[m[1]], dark[m[1]] = m[2], m[3]
	}
	return light, dark
}

// contrast returns the contrast ratio of WCAG 2.2.
func contrast(t *testing.T, a, b string) float64 {
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// luminance returns the relative luminance of WCAG 2.2.
func luminance(t *testing.T, color string) float64 {
	t.Helper()
	var rgb [3]uint8
	if _, err := fmt.Sscanf(color, "#%02x%02x%02x", &rgb[0], &rgb[1], &rgb[2]); err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		c := float64(rgb[i]) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

func TestLongTextsAreShownByTheirBeginning(t *testing.T) {
	for text, want := range map[string]string{
		"docs":                         "docs",
		strings.Repeat("a", 500):       strings.Repeat("a", 500),
		strings.Repeat("a", 65_535):    strings.Repeat("a", 500) + "…",
		strings.Repeat("a", 499) + "ü": strings.Repeat("a", 499) + "…",
	} {
		if got := short(text); got != want {
			t.Errorf("%.20s with %d bytes is shown as %q", text, len(text), got)
		}
	}
}
