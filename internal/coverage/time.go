package coverage

import (
	"bytes"
	"strings"
	"time"
)

// parseTime returns the time of a log entry in seconds since 1970, or 0 if the date does not exist,
// or the text has none of these forms:
//
//	22/Nov/2026:16:31:45 +0000             the common format
//	2026-11-22T16:31:45.123Z               RFC 3339, also with another zone
//	2026/11/22 16:31:45.123                Caddy's console format, in UTC
//	1795365105.123 or 1795365105123        seconds, milliseconds or nanoseconds
func parseTime(text []byte) uint32 {
	switch {
	case isTime(text):
		return secondsOf(text[7:11], monthOf(text[3:6]), text[0:2], text[12:20], text[20:])
	case len(text) >= 19 && text[4] == text[7] && (text[4] == '-' || text[4] == '/'):
		zone := bytes.TrimLeft(text[19:], ".,0123456789")
		return secondsOf(text[0:4], numberIn(text[5:7]), text[8:10], text[11:19], zone)
	}
	return secondsOfNumber(text)
}

// monthOf returns the number of a month by its name, such as Nov, or 0.
func monthOf(name []byte) int {
	i := strings.Index("JanFebMarAprMayJunJulAugSepOctNovDec", string(name))
	if i < 0 || i%3 != 0 {
		return 0
	}
	return 1 + i/3
}

// secondsOf returns the seconds until a day and a time of day, such as 16:31:45, in a zone, such as
// +01:00. Any other zone is UTC. It returns 0 if there is no such day or time.
func secondsOf(year []byte, month int, day, clock, zone []byte) uint32 {
	date := time.Date(numberIn(year), time.Month(month), numberIn(day), 0, 0, 0, 0, time.UTC)
	hour, minute, second := numberIn(clock[0:2]), numberIn(clock[3:5]), numberIn(clock[6:8])
	const lastSecond = 60 // a leap second
	if date.Month() != time.Month(month) || hour > 23 || minute > 59 || second > lastSecond {
		return 0
	}
	at := date.Unix() + int64(hour*3600+minute*60+second)
	zone = bytes.TrimSpace(zone)
	if len(zone) >= 5 && (zone[0] == '+' || zone[0] == '-') {
		east := int64(numberIn(zone[1:3])*3600 + numberIn(zone[len(zone)-2:])*60)
		if zone[0] == '-' {
			east = -east
		}
		at -= east
	}
	return uint32(max(at, 0))
}

// secondsOfNumber returns the seconds in a number of seconds, milliseconds or nanoseconds.
func secondsOfNumber(text []byte) uint32 {
	whole, _, _ := bytes.Cut(text, []byte("."))
	if len(whole) == 0 || len(whole) > 19 || len(bytes.TrimLeft(whole, "0123456789")) > 0 {
		return 0
	}
	switch n := numberIn(whole); {
	case n >= 1e17:
		return uint32(n / 1e9)
	case n >= 1e11:
		return uint32(n / 1e3)
	default:
		return uint32(n)
	}
}

// numberIn returns the number made of the digits in a text.
func numberIn(text []byte) (n int) {
	for _, c := range text {
		if '0' <= c && c <= '9' {
			n = 10*n + int(c-'0')
		}
	}
	return n
}
