package hits

import "time"

// DaysKept is how many days are kept, today among them.
const DaysKept = 90

// Day is the number of hits on one day, in UTC.
type Day struct {
	Date time.Time // midnight
	N    uint64
}

// Used is a key, and how often it has redirected in the last 30 days.
type Used struct {
	Key   string `json:"key"`
	N     uint64 `json:"n"`
	total uint64 // in the shards, if it is in their Top
}

// day is a day in UTC, by its number since the epoch.
type day int

func dayOf(t time.Time) day { return Count{minute: minuteOf(t)}.day() }

// day returns the day of the last hit.
func (m Count) day() day { return day(m.minute / (24 * 60)) }

// begin returns the first minute of the day.
func (d day) begin() uint32 { return uint32(d) * 24 * 60 }

// end returns the last minute of the day.
func (d day) end() uint32 { return (d + 1).begin() - 1 }

func (d day) date() time.Time { return epoch.AddDate(0, 0, int(d)) }

// MarshalText returns the date.
func (d day) MarshalText() ([]byte, error) { return d.date().AppendFormat(nil, time.DateOnly), nil }

// UnmarshalText reads a date.
func (d *day) UnmarshalText(text []byte) error {
	date, err := time.Parse(time.DateOnly, string(text))
	*d = dayOf(date)
	return err
}

// window is the last DaysKept days, the oldest first.
type window []Day

func newWindow(today day) window {
	w := make(window, DaysKept)
	for i := range w {
		w[i].Date = (today - DaysKept + 1 + day(i)).date()
	}
	return w
}

// add adds hits of a day in the window, and ignores those of other days.
func (w window) add(d day, n uint64) {
	if i := int(d - dayOf(w[0].Date)); i >= 0 && i < len(w) {
		w[i].N += n
	}
}
