package hits

import (
	"bytes"
	"strconv"
	"time"
)

// line is a line of an entry: a key, and its hits in total and on its last days.
type line struct {
	key []byte
	Count
	days [DaysKept]uint64 // the day of the last hit, the day before, ...
}

// eachLine passes the lines of an entry. Each is valid until the next one.
func eachLine(lines []byte, yield func(l *line)) {
	l := new(line)
	for text := range bytes.Lines(lines) {
		if l.parse(text) {
			yield(l)
		}
	}
}

// parse reads a line with its newline, and reports whether it is valid.
func (l *line) parse(text []byte) bool {
	text, isWhole := bytes.CutSuffix(text, []byte("\n"))
	key, numbers, _ := bytes.Cut(text, []byte(" "))
	total, numbers, _ := bytes.Cut(numbers, []byte(" "))
	minute, days, _ := bytes.Cut(numbers, []byte(" "))
	var inTotal, inMinute error
	l.key, l.days = key, [DaysKept]uint64{}
	l.N, inTotal = strconv.ParseUint(string(total), 10, 64)
	at, inMinute := strconv.ParseUint(string(minute), 10, 32)
	l.minute = uint32(at)
	return isWhole && len(key) > 0 && inTotal == nil && inMinute == nil && at < endOfMinutes &&
		parseDays(days, l.days[:])
}

// parseDays reads numbers between commas; an empty one is 0. It reports whether they are valid, and
// fit into days.
func parseDays(text []byte, days []uint64) bool {
	i, n := 0, uint64(0)
	for _, c := range text {
		switch {
		case c-'0' <= 9 && n <= countMask:
			n = n*10 + uint64(c-'0')
		case c == ',' && i < len(days)-1:
			days[i] = n
			i, n = i+1, 0
		default:
			return false
		}
	}
	days[i] = n
	return true
}

// append appends the line to text.
func (l *line) append(text []byte) []byte {
	text = append(append(text, l.key...), ' ')
	text = append(strconv.AppendUint(text, l.N, 10), ' ')
	text = strconv.AppendUint(text, uint64(l.minute), 10)
	days := len(l.days)
	for days > 0 && l.days[days-1] == 0 {
		days--
	}
	separator := byte(' ')
	for _, n := range l.days[:days] {
		if text = append(text, separator); n > 0 {
			text = strconv.AppendUint(text, n, 10)
		}
		separator = ','
	}
	return append(text, '\n')
}

// appendLine appends a line without days.
func appendLine(text []byte, key string, m Count) []byte {
	return (&line{key: []byte(key), Count: m}).append(text)
}

// advance sets the total. New hits belong to the day of the last one, or to the date of the header
// if that is earlier, or to no day.
func (l *line) advance(m Count, h header) {
	n := max(m.N, l.N) - l.N
	if h.IsBase {
		n = 0
	}
	l.N = m.N
	l.add(min(m.minute, h.Date.end()), n)
}

// add adds hits on the day of a minute, the last of them in that minute.
func (l *line) add(minute uint32, n uint64) {
	if n == 0 && minute <= l.minute {
		return
	}
	d := Count{minute: minute}.day()
	switch later := int(d - l.day()); {
	case later <= -len(l.days) || later >= len(l.days): // a long pause, or a clock was wrong
		l.days, l.minute = [DaysKept]uint64{n}, minute
	case later >= 0:
		copy(l.days[later:], l.days[:])
		clear(l.days[:later])
		l.days[0] += n
		l.minute = max(l.minute, minute)
	default:
		l.days[-later] += n
	}
}

// since returns the hits from a day on.
func (l *line) since(from day) (sum uint64) {
	for _, n := range l.days[:min(max(l.day()-from+1, 0), DaysKept)] {
		sum += n
	}
	return sum
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
