package coverage

import (
	"errors"
	"math"
	"time"
)

// Period says of when requests count: not before Since, and before Until. A zero time is no limit.
type Period struct{ Since, Until time.Time }

// limits are those of a period, in seconds since 1970, and what lies outside of them.
type limits struct {
	isSet        bool
	since, until int64
	first, last  uint32 // of the requests outside
	hasDate      bool   // whether a request of the file has one
}

var errUndated = errors.New(
	"nothing in it has a date; leave out the file, or --since, --until and --month")

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

// isInPeriod reports whether requests are of the period. Others are left out.
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

// OtherTimes returns when the first and the last request was that is not of the period.
func (c *Counts) OtherTimes() (first, last time.Time) {
	return time.Unix(int64(c.limits.first), 0).UTC(), time.Unix(int64(c.limits.last), 0).UTC()
}
