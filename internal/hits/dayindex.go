package hits

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// dayIndex is the entry that lists the recorded days of a server. It has what all keys together had
// on each; what each key had is in segments.
type dayIndex struct {
	Since    time.Time      `json:"since"`    // when the totals began, as in their entry
	Began    time.Time      `json:"began"`    // when days began to be kept
	Recorded day            `json:"recorded"` // the last day that is recorded
	Total    uint64         `json:"total"`    // of all keys when it was
	Segments []segment      `json:"segments"` // oldest first
	Days     map[day]uint64 `json:"days"`
	Top      []topKey       `json:"top,omitempty"` // those used most before today, most first
}

// segment is some days in a row. What keys had on them is in shards, by a hash of the key.
type segment struct {
	ID    int `json:"id"`
	First day `json:"first"`
	Last  day `json:"last"`
	Bits  int `json:"bits"` // there are 1<<Bits shards
}

// topKey is a key that is among those used most.
type topKey struct {
	Key   string `json:"key"`
	N     uint64 `json:"n"`
	Total uint64 `json:"total"` // when the last day was recorded
}

// addTop adds a key to those used most, of which the first topKeys are sorted.
func addTop(top []topKey, key topKey) []topKey {
	if len(top) >= topKeys && key.N < top[topKeys-1].N {
		return top
	}
	if top = append(top, key); len(top) == topKeys || len(top) >= 2*topKeys {
		return cutTop(top)
	}
	return top
}

// cutTop returns the keys that are used most, most first.
func cutTop(top []topKey) []topKey {
	slices.SortFunc(top, func(a, b topKey) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Key, b.Key))
	})
	return top[:min(len(top), topKeys)]
}

const (
	// segmentDays is how many days a segment has. The newest one is written anew each day.
	segmentDays = 10
	maxBits     = 12
	// topKeys is how many of the keys used most are known, topDays in how many days, with today.
	topKeys, topDays = 100, 30
)

// newest returns the segment in which days are recorded.
func (x *dayIndex) newest() *segment { return &x.Segments[len(x.Segments)-1] }

func parseDayIndex(b []byte) (*dayIndex, error) {
	x := new(dayIndex)
	if err := json.Unmarshal(b, x); err != nil {
		return nil, err
	}
	if len(x.Segments) == 0 || x.newest().Last != x.Recorded {
		return nil, errors.New("it has no segment of the last day")
	}
	for _, seg := range x.Segments {
		if days := seg.Last - seg.First + 1; days < 0 || days > DaysKept {
			return nil, fmt.Errorf("a segment has %d days", days)
		}
		if seg.Bits < 0 || seg.Bits > maxBits {
			return nil, fmt.Errorf("a segment has 2^%d shards", seg.Bits)
		}
	}
	return x, nil
}

// parseShard reads a shard of the segment.
func (s *segment) parseShard(b []byte) (*shard, error) {
	sh, err := parseShard(b)
	if err == nil && sh.first != s.First {
		return nil, fmt.Errorf("its first day is %v", sh.first)
	}
	return sh, err
}

// todayCount is an entry of what all keys together had on a day that is not over yet. It is for
// other servers, which need not read all totals for it.
type todayCount struct {
	Date day    `json:"date"`
	N    uint64 `json:"n"`
}

func parseToday(b []byte) (*todayCount, error) {
	c := new(todayCount)
	err := json.Unmarshal(b, c)
	return c, err
}
