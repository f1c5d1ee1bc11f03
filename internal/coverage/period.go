package coverage

import (
	"errors"
	"math"
	"time"
)

// Period is the time from Since until just before Until. A zero time means no limit.
type Period struct{ Since, Until time.Time }

// limits are the limits of a period, in seconds since 1970.
type limits struct {
	isSet        bool
	since, until int64
	first, last  uint32 // times of requests outside
	hasDate      bool   // a request in the file has one
}

var errUndated = errors.New(
	"it has no dates; leave out the file, or --since, --until and --month")

func newLimits(p Period) limits {
	l := limits{isSet: p != Period{}, since: math.MinInt64, until: math.MaxInt64,
		first: math.MaxUint32}
	if !p.Since.IsZero() {
		l.since = p.Since.Unix()
	}
	if !p.Until.IsZero() {
		l.until = p.Until.Unix()
	}
	return l
}

// isInPeriod reports whether requests are in the period, and otherwise adds them to LeftOut.
func (c *Counts) isInPeriod(r *request) bool {
	l := &c.limits
	if r.time == 0 {
		c.LeftOut.Undated += r.n
		return false
	}
	l.hasDate = true
	if at := int64(r.time); l.since <= at && at < l.until {
		return true
	}
	c.LeftOut.Times += r.n
	l.first, l.last = min(l.first, r.time), max(l.last, r.time)
	return false
}

// OtherTimes returns the times of the first and the last request outside the period.
func (c *Counts) OtherTimes() (first, last time.Time) {
	return time.Unix(int64(c.limits.first), 0).UTC(), time.Unix(int64(c.limits.last), 0).UTC()
}
