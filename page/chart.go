package page

import (
	"fmt"
	"math"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/caddy-shortlink/shortlink/internal/hits"
)

// chart is the redirects per day as a template draws them. Bars are drawn in units of a day's width
// and a hundredth of the height, which the stylesheet stretches; text stands beside the drawing,
// where it keeps its size:
//
//	100 |- - - - - - - - -   Top
//	    |        _
//	 50 |- - - -| |- - - -   Half
//	    |  _    | |    _
//	  0 |_| |___| |___| |_
//	    24 Aug        22 Nov
type chart struct {
	// ID is the unique prefix of the ids of the chart's elements.
	ID, Title string
	Bars      []bar
	// Sum and Most are over all days.
	Sum, Most uint64
	// MostOn is the first day that had Most.
	MostOn time.Time
	// Top is the top of the scale.
	Top float64
}

// bar is a day of a chart.
type bar struct {
	hits.Day
	// X is the left edge of the day, Y the top of its bar, and Height that of the bar.
	X         int
	Y, Height float64
}

const (
	dayWidth    = 10
	chartHeight = 100
)

// newChart returns the chart of days, oldest first.
func newChart(id, title string, days []hits.Day) *chart {
	c := &chart{ID: id, Title: title, Bars: make([]bar, len(days))}
	for _, day := range days {
		c.Sum += day.N
		if day.N > c.Most {
			c.Most, c.MostOn = day.N, day.Date
		}
	}
	c.Top = topOf(float64(c.Most))
	for i, day := range days {
		c.Bars[i] = bar{Day: day, X: i * dayWidth}
		if day.N > 0 {
			// A day with one redirect stays visible beside one with thousands.
			c.Bars[i].Height = max(toTenth(float64(day.N)/c.Top*chartHeight), 1)
		}
		c.Bars[i].Y = toTenth(chartHeight - c.Bars[i].Height)
	}
	return c
}

func toTenth(v float64) float64 { return math.Round(v*10) / 10 }

// topOf returns the top of the scale for a maximum: round, with a half that is a whole number.
func topOf(most float64) float64 {
	for unit := 1.0; ; unit *= 10 {
		for _, tenths := range []float64{10, 12, 15, 20, 25, 30, 40, 50, 60, 80} {
			top := tenths * unit / 10
			if top >= most && math.Mod(top, 2) == 0 {
				return top
			}
		}
	}
}

// Width returns the width of the drawing.
func (c *chart) Width() int { return len(c.Bars) * dayWidth }

// First returns the oldest day; there is at least one.
func (c *chart) First() time.Time { return c.Bars[0].Date }

// Last returns the newest day.
func (c *chart) Last() time.Time { return c.Bars[len(c.Bars)-1].Date }

// Marks returns the labels of the grid lines, the highest first.
func (c *chart) Marks() [3]string {
	return [3]string{humanize.Commaf(c.Top), humanize.Commaf(c.Top / 2), "0"}
}

// Summary describes the chart in a sentence.
func (c *chart) Summary() string {
	if c.Sum == 0 {
		return fmt.Sprintf("No redirects in the last %d days.", len(c.Bars))
	}
	return fmt.Sprintf("%s in the last %d days, most on %s: %s.", redirects(c.Sum),
		len(c.Bars), c.MostOn.Format("2 January 2006"), number(c.Most))
}

// redirects returns a number of redirects in words.
func redirects(n uint64) string {
	if n == 1 {
		return "1 redirect"
	}
	return number(n) + " redirects"
}

// number formats a number with commas between thousands.
func number(n uint64) string { return humanize.Comma(int64(min(n, math.MaxInt64))) }

// Text describes the bar.
func (b bar) Text() string { return b.Date.Format("2 January 2006") + ": " + redirects(b.N) }

// Number returns the bar's number in digits.
func (b bar) Number() string { return number(b.N) }
