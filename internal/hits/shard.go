package hits

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// shard is what some keys had on the days of a segment:
//
//	shortlink days 1 <first day> <last day that is recorded>
//	<canonical key> <total when that was recorded> <count of the first day>,<of the second>,...
//	...
//	end <number of keys>
//
// Counts that are 0 are left out, and so are commas at the end.
type shard struct {
	first, recorded day
	lines           map[string]dayLine
}

// dayLine is what a key had.
type dayLine struct {
	total uint64
	days  []uint64
}

const (
	shardHeader = "shortlink days 1 %s %s\n"
	mostDays    = 4 * DaysKept // of a line; more are not plausible
)

// shardOf returns in which of 1<<bits shards a canonical key is.
func shardOf(key string, bits int) int {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a
	h := uint64(offset)
	for i := range len(key) {
		h = (h ^ uint64(key[i])) * prime
	}
	return int(h & (1<<bits - 1))
}

// add adds hits of the day that is i days after the first one, unless it is before that.
func (l *dayLine) add(i day, n uint64) {
	if i < 0 {
		return
	}
	if missing := int(i) + 1 - len(l.days); missing > 0 {
		l.days = append(l.days, make([]uint64, missing)...)
	}
	l.days[i] += n
}

// text returns the shard as an entry.
func (s *shard) text() []byte {
	text := fmt.Appendf(nil, shardHeader, s.first, s.recorded)
	for _, key := range slices.Sorted(maps.Keys(s.lines)) {
		line := s.lines[key]
		text = append(append(text, key...), ' ')
		text = append(strconv.AppendUint(text, line.total, 10), ' ')
		for i, n := range line.days {
			if i > 0 {
				text = append(text, ',')
			}
			if n > 0 {
				text = strconv.AppendUint(text, n, 10)
			}
		}
		text = append(text, '\n')
	}
	return fmt.Appendf(text, hitEntryEnd+"\n", len(s.lines))
}

// parseShard reads an entry, and finds out whether it is whole.
func parseShard(b []byte) (*shard, error) {
	header, rest, _ := bytes.Cut(b, []byte("\n"))
	var first, recorded string
	_, err := fmt.Sscanf(string(header)+"\n", shardHeader, &first, &recorded)
	if err != nil {
		return nil, fmt.Errorf("its first line is %q", header)
	}
	s := &shard{lines: make(map[string]dayLine, bytes.Count(rest, []byte("\n")))}
	err = errors.Join(s.first.UnmarshalText([]byte(first)),
		s.recorded.UnmarshalText([]byte(recorded)))
	if err != nil {
		return nil, err
	}
	for {
		line, next, whole := bytes.Cut(rest, []byte("\n"))
		if !whole {
			return nil, errors.New("it ends too early")
		}
		key, l, ok := parseDayLine(string(line))
		if !ok {
			return s, checkHitEntryEnd(string(line), len(s.lines))
		}
		s.lines[key] = l
		rest = next
	}
}

func parseDayLine(line string) (key string, l dayLine, ok bool) {
	key, numbers, _ := strings.Cut(line, " ")
	total, days, hasDays := strings.Cut(numbers, " ")
	var err error
	if l.total, err = strconv.ParseUint(total, 10, 64); err != nil || key == "" || !hasDays {
		return "", l, false
	}
	if days == "" {
		return key, l, true
	}
	l.days = make([]uint64, strings.Count(days, ",")+1)
	for i := range l.days {
		var n string
		if n, days, _ = strings.Cut(days, ","); n == "" {
			continue
		}
		if l.days[i], err = strconv.ParseUint(n, 10, 64); err != nil {
			return "", l, false
		}
	}
	return key, l, len(l.days) <= mostDays
}
