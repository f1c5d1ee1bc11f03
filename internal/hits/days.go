package hits

import (
	"context"
	"time"
)

// Summary is about all rules together, on all servers that share a storage.
type Summary struct {
	Since    time.Time // when days began to be kept
	Days     []Day     // the last [DaysKept] days, the oldest first
	MostUsed []Used    // at most 100 canonical keys, most used in the last 30 days
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
	w, most, since := newWindow(today), map[string]uint64{}, servers[0].Began
	for _, h := range servers {
		w.add(h.Date, h.N)
		for ago, n := range h.Days {
			w.add(h.Date-day(ago), n)
		}
		if h.Began.Before(since) && !h.Began.IsZero() {
			since = h.Began
		}
		for _, top := range h.Top {
			most[top.Key] += top.N
		}
	}
	var used []Used
	for key, n := range most {
		used = append(used, Used{Key: key, N: n})
	}
	return &Summary{since, w, cutTop(used)}
}

// DaysOf returns the hits of a canonical key on each of the last [DaysKept] days, the oldest first,
// and in total.
func (k *Keeper) DaysOf(ctx context.Context, key string) ([]Day, Count, error) {
	now := time.Now()
	w, sum := newWindow(dayOf(now)), k.hits.countOfKey(key)
	err := k.read(ctx, func(ctx context.Context, s *store) error {
		own, err := s.lineOf(ctx, s.server, &content{}, key) // sum has today's
		if err != nil {
			return err
		}
		own.advance(sum, header{Date: dayOf(now)})
		own.eachDay(w.add)
		return s.eachOther(ctx, func(server string, today *content) error {
			l, err := s.lineOf(ctx, server, today, key)
			sum = sum.plus(l.Count)
			l.eachDay(w.add)
			return err
		})
	})
	return w, sum, err
}

// lineOf returns the line of a canonical key, with the changes in a server's entry of today.
func (s *store) lineOf(ctx context.Context, server string, today *content, key string) (
	*line, error,
) {
	found := &line{key: []byte(key)}
	changes := newChanges(today.header, today.lines)
	err := s.eachKey(ctx, server, changes, shardOf(found.key), func(l *line) {
		if string(l.key) == key {
			*found = *l
		}
	})
	return found, err
}
