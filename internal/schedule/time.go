package schedule

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/printable"
)

// Time is an instant, in seconds of Unix.
type Time int64

// Begin and End are the limits of a window that names none.
const (
	Begin Time = math.MinInt64
	End   Time = math.MaxInt64
)

// At returns the second that a clock shows.
func At(now time.Time) Time { return Time(now.Unix()) }

// ParseTime reads a date, which is midnight UTC, or a time of RFC 3339 with a zone. The error says
// what to write instead.
func ParseTime(text string) (Time, error) {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return At(day), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	year := t.UTC().Year()
	switch {
	case err == nil && !isStrict(text): // what it is not is said below
	case err == nil && (year < 0 || year > 9999):
		return 0, fmt.Errorf("%s is not in one of the years 0000 to 9999 in UTC; write a time in one of "+
			"them, or none where there is no limit", text)
	case err == nil && t.Nanosecond() != 0:
		return 0, fmt.Errorf("%s has a fraction of a second; write %s", text,
			t.Truncate(time.Second).Format(time.RFC3339))
	case err == nil:
		return At(t), nil
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if local, err := time.Parse(layout, strings.Replace(text, " ", "T", 1)); err == nil {
			return 0, fmt.Errorf("%s has no zone; write %s for UTC, or a zone such as +01:00 in place of "+
				"the Z", text, local.Format(time.RFC3339))
		}
	}
	return 0, fmt.Errorf("%s is no time; write a date, such as 2027-03-01, which begins at midnight "+
		"UTC, or a time with a zone, such as 2027-03-01T18:00:00+01:00", printable.Quote(text))
}

// isStrict reports whether a time that Go has read for one of RFC 3339 is one: Go also reads hours
// of one digit, commas, and zones that do not exist.
func isStrict(text string) bool {
	zone := text[len(text)-len("00:00"):]
	return text[len("2027-03-01T18")] == ':' && !strings.Contains(text, ",") &&
		(strings.HasSuffix(text, "Z") || zone[:2] < "24" && zone[3:] < "60")
}

// String returns the time as ParseTime reads it, in UTC, or "" for no limit.
func (t Time) String() string {
	if t == Begin || t == End {
		return ""
	}
	utc := time.Unix(int64(t), 0).UTC()
	if utc.Truncate(24 * time.Hour).Equal(utc) {
		return utc.Format(time.DateOnly)
	}
	return utc.Format(time.RFC3339)
}
