package page

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/hits"
)

// daysOf are days that end on 22 November 2026.
func daysOf(n ...uint64) []hits.Day {
	days := make([]hits.Day, len(n))
	for i := range days {
		days[i] = hits.Day{Date: time.Date(2026, 11, 22-len(n)+1+i, 0, 0, 0, 0, time.UTC), N: n[i]}
	}
	return days
}

func TestAChartEndsAtARoundNumberWithARoundHalfThatFitsItsPeak(t *testing.T) {
	for most, want := range map[uint64]string{
		1: "2 1", 2: "2 1", 3: "4 2", 5: "6 3", 9: "10 5", 10: "10 5", 11: "12 6", 13: "20 10",
		24: "30 15", 61: "80 40", 100: "100 50", 101: "120 60", 121: "150 75", 241: "250 125",
		1_087: "1,200 600", 1_999: "2,000 1,000", 1_200_000: "1,200,000 600,000",
		math.MaxUint64: "20,000,000,000,000,000,000 10,000,000,000,000,000,000",
	} {
		marks := newChart("c", "t", daysOf(0, most)).Marks()
		if got := marks[0] + " " + marks[1]; got != want {
			t.Errorf("with at most %d the marks are %s, want %s", most, got, want)
		}
	}
}

func TestBarsStandOnTheBaseLineInProportion(t *testing.T) {
	bars := newChart("c", "t", daysOf(0, 1, 5_000, 10_000)).Bars
	for i, want := range []float64{0, 1, 50, 100} {
		if bars[i].Height != want || bars[i].Y+bars[i].Height != 100 || bars[i].X != 10*i {
			t.Errorf("day %d is drawn %+v, want a height of %g", i, bars[i], want)
		}
	}
}

func TestAChartSaysInWordsWhatItShows(t *testing.T) {
	html := execute(t, "chart", newChart("all", "Redirects per day", daysOf(1, 0, 1_234)))
	for _, want := range []string{
		"1,235 redirects in the last 3 days, most on 22 November 2026: 1,234.",
		`aria-labelledby="all-title all-desc"`,
		`<title id="all-title">Redirects per day</title>`,
		`<desc id="all-desc">1,235 redirects`,
		`viewBox="0 0 30 100"`,
		"<title>20 November 2026: 1 redirect</title>",
		"<title>21 November 2026: 0 redirects</title>",
		`<rect class="bar" x="20" y="17.7" width="8" height="82.3"/>`,
		"<caption>Redirects per day",
		`<th scope="row"><time datetime="2026-11-22">22 November 2026</time></th>` +
			`<td class="number">1,234</td>`,
		"<span>20 Nov 2026</span> <span>22 Nov 2026</span>",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the chart has no %s:\n%s", want, html)
		}
	}
	if strings.Contains(html, "style=") {
		t.Error("the chart has a style attribute, which the page's policy forbids")
	}
	if n := strings.Count(html, "<td"); n != 2 {
		t.Errorf("the table has %d days, want the two with redirects", n)
	}
}

func TestAChartOfNothingIsASentence(t *testing.T) {
	html := execute(t, "chart", newChart("all", "Redirects", daysOf(0, 0)))
	if !strings.Contains(html, "No redirects in the last 2 days.") || strings.Contains(html, "<svg") {
		t.Errorf("the chart of no redirects:\n%s", html)
	}
}

func TestTitlesOfChartsAreEscaped(t *testing.T) {
	html := execute(t, "chart", newChart("c", "</title><script>", daysOf(1)))
	if strings.Contains(html, "<script>") {
		t.Errorf("the title became markup:\n%s", html)
	}
}
