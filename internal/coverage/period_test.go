package coverage

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// thatDay is the 22nd of November 2026, in UTC.
var thatDay = Period{
	Since: time.Date(2026, time.November, 22, 0, 0, 0, 0, time.UTC),
	Until: time.Date(2026, time.November, 23, 0, 0, 0, 0, time.UTC),
}

func TestOfEachLogOnlyRequestsOfThePeriodCount(t *testing.T) {
	entry := func(time string) string {
		return strings.ReplaceAll(access("GET", "h", "/a", 404), `"ts":1.5`, `"ts":`+time)
	}
	console := func(time string) string {
		return time + "\tINFO\thttp.log.access\thandled request\t" + access("GET", "h", "/a", 404)
	}
	common := func(time string) string {
		return strings.Replace(combined, "22/Nov/2026:16:31:45 +0000", time, 1)
	}
	for name, lines := range map[string][4]string{ // before, first, last, behind
		"Caddy's": {entry("1795305599.9"), entry("1795305600.0"), entry("1795391999.9"),
			entry("1795392000")},
		"Caddy's with times as text": {entry(`"2026-11-22T00:59:59+01:00"`),
			entry(`"2026-11-22T01:00:00+01:00"`), entry(`"2026/11/22 23:59:59"`),
			entry(`"2026-11-23T00:00:00Z"`)},
		"the console form": {console("2026/11/21 23:59:59.999"), console("2026/11/22 00:00:00.000"),
			console("2026/11/22 23:59:59.999"), console("2026/11/23 00:00:00.000")},
		"combined": {common("21/Nov/2026:23:59:59 +0000"), common("21/Nov/2026:19:00:00 -0500"),
			common("22/Nov/2026:23:59:59 +0000"), common("23/Nov/2026:00:00:00 +0000")},
		"lines of JSON": {`{"url":"/a","ts":1795305599}` + "\n", `{"url":"/a","ts":1795305600}` + "\n",
			`{"url":"/a","ts":"2026-11-22T23:59:59Z"}` + "\n", `{"url":"/a","ts":1795392000}` + "\n"},
	} {
		for period, want := range map[Period]uint64{
			thatDay: 2, {Since: thatDay.Since}: 3, {Until: thatDay.Until}: 3, {}: 4,
		} {
			c := read(t, Options{Period: period}, strings.Join(lines[:], ""))
			if c.Len() != 1 || c.urls[0].requests != want || c.LeftOut != (LeftOut{Times: 4 - want}) {
				t.Errorf("%s, %v: got %s, %+v; want %d", name, period, c, c.LeftOut, want)
			}
		}
	}
}

func TestWhatHasNoDateIsInNoPeriod(t *testing.T) {
	undated := strings.Replace(access("GET", "h", "/b", 404), `"ts":1.5,`, "", 1)
	c := read(t, Options{Period: thatDay},
		strings.Replace(access("GET", "h", "/a", 404), "1.5", "1795365105", 1)+undated)
	if c.String() != "1 /a 404" || c.LeftOut != (LeftOut{Undated: 1}) {
		t.Errorf("got %s, %+v", c, c.LeftOut)
	}
	for name, content := range map[string]string{
		"a list": "/a\n/b\n", "a sitemap": "<urlset><url><loc>/a</loc></url></urlset>",
		"a table": "url,count\n/a,3\n", "lines of JSON": `{"url":"/a"}`, "a log without times": undated,
	} {
		c := NewCounts(Options{Period: thatDay})
		err := c.Read("file", strings.NewReader(content))
		const want = "file: it has no dates; leave out the file, or --since, --until and " +
			"--month"
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v, %s", name, err, c)
		}
	}
}

func TestTheFirstAndTheLastTimeOutsideOfThePeriodAreKnown(t *testing.T) {
	var lines strings.Builder
	for _, day := range []int{21, 30, 3, 22} {
		lines.WriteString(strings.Replace(combined, "22/Nov", fmt.Sprintf("%02d/Nov", day), 1))
	}
	c := read(t, Options{Period: thatDay}, lines.String())
	first, last := c.OtherTimes()
	if got := fmt.Sprint(first.Day(), " to ", last.Day()); got != "3 to 30" || c.LeftOut.Times != 3 {
		t.Errorf("got %s, %+v", got, c.LeftOut)
	}
}

func TestADateThatNoCalendarHasIsNone(t *testing.T) {
	for _, text := range []string{
		"99/Xyz/2026:00:00:00 +0000", "31/Nov/2026:00:00:00 +0000", "29/Feb/2026:00:00:00 +0000",
		"00/Nov/2026:00:00:00 +0000", "22/anF/2026:00:00:00 +0000", "22/Nov/2026:24:00:00 +0000",
		"22/Nov/2026:16:60:00 +0000", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z",
		"2026/00/10 00:00:00", "2026-11-22T16:31:99Z",
	} {
		if got := parseTime([]byte(text)); got != 0 {
			t.Errorf("%s: got %v", text, time.Unix(int64(got), 0).UTC())
		}
	}
	// as clocks have a leap second
	if parseTime([]byte("31/Dec/2016:23:59:60 +0000")) == 0 {
		t.Error("a leap second is no time")
	}
}
