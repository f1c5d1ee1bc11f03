package hits

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// Summary is about all rules together, on all servers that share a storage.
type Summary struct {
	Since    time.Time // when days began to be kept
	Days     []Day     // the last [DaysKept] days, the oldest first
	MostUsed []Used    // at most 100 canonical keys, most used in the last 30 days
}

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

// topKeys is how many of the most used keys are known, and topDays the number of days that count.
const topKeys, topDays = 100, 30

// addTop adds a key to the most used ones. The first topKeys of them are sorted.
func addTop[T string | []byte](top []Used, key T, n, total uint64) []Used {
	if len(top) >= topKeys && n < top[topKeys-1].N {
		return top
	}
	top = append(top, Used{string(key), n, total})
	if len(top) == topKeys || len(top) >= 2*topKeys {
		top = cutTop(top)
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

// Summary adds up the hits of all rules.
func (k *Keeper) Summary(ctx context.Context) (*Summary, error) {
	own := k.hits.header()
	own.Top = k.hits.top()
	servers := []header{own}
	err := k.read(ctx, func(ctx context.Context, s *store) error {
		if time.Since(k.headersRead) < othersFresh {
			servers = append(servers, k.headers...)
			return nil
		}
		err := s.eachOther(ctx, func(_ string, today *content) error {
			servers = append(servers, today.header)
			return nil
		})
		if err == nil {
			k.headers, k.headersRead = servers[1:], time.Now()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return summarize(servers, dayOf(time.Now())), nil
}

// summarize adds up the hits of servers.
func summarize(servers []header, today day) *Summary {
	sum, most := newHeader(time.Time{}, servers[0].Began, today), map[string]uint64{}
	for _, h := range servers {
		sum.addDays(h.Date, []uint64{h.N})
		sum.addDays(h.Date, h.Days)
		if h.Began.Before(sum.Began) && !h.Began.IsZero() {
			sum.Began = h.Began
		}
		for _, top := range h.Top {
			most[top.Key] += top.N
		}
	}
	for key, n := range most {
		sum.Top = append(sum.Top, Used{Key: key, N: n})
	}
	return &Summary{sum.Began, sum.list(), cutTop(sum.Top)}
}

// DaysOf returns the hits of a canonical key on each of the last [DaysKept] days, the oldest first,
// and in total.
func (k *Keeper) DaysOf(ctx context.Context, key string) ([]Day, Count, error) {
	sum := newHeader(time.Time{}, time.Time{}, dayOf(time.Now()))
	total := k.hits.countOfKey(key)
	err := k.read(ctx, func(ctx context.Context, s *store) error {
		own, err := s.lineOf(ctx, s.server, &content{}, key) // total has today's
		if err != nil {
			return err
		}
		own.advance(total, header{Date: sum.Date})
		sum.addLine(own)
		return s.eachOther(ctx, func(server string, today *content) error {
			l, err := s.lineOf(ctx, server, today, key)
			total = total.plus(l.Count)
			sum.addLine(l)
			return err
		})
	})
	return sum.list(), total, err
}
