package hits

import (
	"cmp"
	"slices"
	"time"
)

// past sums up the shards. It does not change.
type past struct {
	header        // for today's entry, without its hits
	total  uint64 // of all keys
}

// topKeys is how many of the most used keys are known, and topDays the number of days that count.
const topKeys, topDays = 100, 30

// addTop adds a key to the most used ones. The first topKeys of them are sorted.
func addTop[T string | []byte](top []Used, key T, n, total uint64) []Used {
	if len(top) >= topKeys && n < top[topKeys-1].N {
		return top
	}
	top = append(top, Used{string(key), n, total})
	if len(top) == topKeys || len(top) >= 2*topKeys {
		return cutTop(top)
	}
	return top
}

// cutTop returns the topKeys most used keys, the most used first.
func cutTop(top []Used) []Used {
	slices.SortFunc(top, func(a, b Used) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Key, b.Key))
	})
	return top[:min(len(top), topKeys)]
}

// newPast returns a past to which the lines of the shards are to be added.
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
