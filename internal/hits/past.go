package hits

import (
	"cmp"
	"slices"
	"time"
)

// past is what shards hold. It does not change.
type past struct {
	header        // of what is counted now
	total  uint64 // of all keys
}

// topKey is a key that is among those used most.
type topKey struct {
	Key   string `json:"key"`
	N     uint64 `json:"n"`
	total uint64 // by shards
}

// topKeys is how many of the keys used most are known, topDays in how many days, with today.
const topKeys, topDays = 100, 30

// addTop adds a key to those used most, of which the first topKeys are sorted.
func addTop[T string | []byte](top []topKey, key T, n, total uint64) []topKey {
	if len(top) >= topKeys && n < top[topKeys-1].N {
		return top
	}
	top = append(top, topKey{string(key), n, total})
	if len(top) == topKeys || len(top) >= 2*topKeys {
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

// newPast returns what shards hold before their lines are added.
func newPast(since, began time.Time, date day) *past {
	days := make([]uint64, DaysKept)
	return &past{header: header{Since: since, Began: began, Date: date, Days: days}}
}

// add adds a line of a shard.
func (p *past) add(l *line) {
	recent := uint64(0)
	l.eachDay(func(d day, n uint64) {
		if ago := p.Date - d; ago >= 0 && ago < DaysKept {
			p.Days[ago] += n
			if ago < topDays {
				recent += n
			}
		}
	})
	p.total += l.N
	if recent > 0 {
		p.Top = addTop(p.Top, l.key, recent, l.N)
	}
}
