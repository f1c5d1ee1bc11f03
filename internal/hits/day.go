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

func dayOf(t time.Time) day { return day(t.Sub(epoch) / (24 * time.Hour)) }

// day returns the day of the last hit.
func (m Count) day() day { return day(m.minute / (24 * 60)) }

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

// dayOfNew returns the day of hits that are not recorded yet: today. If days before it are not
// recorded either, they are put on the one of these on which the last hit was, or the last of them:
// a server that was off over midnight stored its last hits on the day before.
func dayOfNew(last, recorded, today day) day {
	if recorded >= today-1 {
		return today
	}
	return min(max(last, recorded+1), today-1)
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
