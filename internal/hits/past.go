package hits

import (
	"cmp"
	"slices"
)

// past is what shards hold. It does not change.
type past struct {
	header        // of what is counted now
	total  uint64 // of all keys
}

// now returns the header of what is counted now, when all keys have a total.
func (p *past) now(total uint64) header {
	h := p.header
	h.N = max(total, p.total) - p.total
	return h
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

// pastBuilder sums up shards.
type pastBuilder struct {
	past
	window *window
}

func newPastBuilder(h header, today day) *pastBuilder {
	h.IsBase, h.N, h.Days, h.Top = false, 0, map[day]uint64{}, nil
	return &pastBuilder{past{header: h}, newWindow(today)}
}

func (b *pastBuilder) add(l *line) {
	recent := uint64(0)
	l.eachDay(func(d day, n uint64) {
		b.window.add(d, n)
		if d >= b.window.first+DaysKept-topDays {
			recent += n
		}
	})
	b.total += l.N
	if recent > 0 {
		b.Top = addTop(b.Top, l.key, recent, l.N)
	}
}

func (b *pastBuilder) build() *past {
	for i, d := range b.window.days {
		if d.N > 0 {
			b.Days[b.window.first+day(i)] = d.N
		}
	}
	b.Top = cutTop(b.Top)
	return &b.past
}
