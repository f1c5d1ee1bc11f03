package hits

import "time"

// DaysKept is how many days are kept, today among them.
const DaysKept = 90

// Day is what happened on one day, in UTC.
type Day struct {
	Date time.Time // midnight
	N    uint64
}

// Used is a key, and how often it has redirected in the last days.
type Used struct {
	Key string
	N   uint64
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

// String returns the date.
func (d day) String() string { return d.date().Format(time.DateOnly) }

// MarshalText returns the date.
func (d day) MarshalText() ([]byte, error) {
	return []byte(d.String()), nil
}

// UnmarshalText reads a date.
func (d *day) UnmarshalText(text []byte) error {
	date, err := time.Parse(time.DateOnly, string(text))
	*d = dayOf(date)
	return err
}

// window is the last days as they are shown.
type window struct {
	first day
	days  []Day
}

func newWindow(today day) *window {
	w := &window{today - DaysKept + 1, make([]Day, DaysKept)}
	for i := range w.days {
		w.days[i].Date = (w.first + day(i)).date()
	}
	return w
}

// add adds hits of a day, unless it is outside.
func (w *window) add(d day, n uint64) {
	if i := int(d - w.first); i >= 0 && i < len(w.days) {
		w.days[i].N += n
	}
}
