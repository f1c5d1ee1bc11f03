package hits

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// server is a server that stores in the same storage, and what it has stored of all keys together.
type server struct {
	name string
	header
}

// Days returns what all rules together had on each of the last [DaysKept] days, oldest first.
func (k *Keeper) Days(ctx context.Context) ([]Day, error) {
	servers, err := k.servers(ctx)
	if err != nil {
		return nil, err
	}
	w := newWindow(dayOf(time.Now()))
	for _, of := range servers {
		of.addTo(w)
	}
	return w.days, nil
}

// addTo adds what all keys had.
func (h *header) addTo(w *window) {
	w.add(h.Date, h.N)
	for ago, n := range h.Days {
		w.add(h.Date-day(ago), n)
	}
}

// DaysSince returns when days began to be kept.
func (k *Keeper) DaysSince(ctx context.Context) (time.Time, error) {
	servers, err := k.servers(ctx)
	first := k.hits.past.Load().Began
	for _, of := range servers {
		if of.Began.Before(first) && !of.Began.IsZero() {
			first = of.Began
		}
	}
	return first, err
}

// MostUsed returns the canonical keys that redirected most in the last 30 days, most first.
func (k *Keeper) MostUsed(ctx context.Context) ([]Used, error) {
	servers, err := k.servers(ctx)
	if err != nil {
		return nil, err
	}
	sums := map[string]uint64{}
	for i, of := range servers {
		top := of.Top
		if i == 0 {
			top = k.hits.top()
		}
		for _, t := range top {
			sums[t.Key] += t.N
		}
	}
	var used []Used
	for key, n := range sums {
		used = append(used, Used{key, n})
	}
	slices.SortFunc(used, func(a, b Used) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Key, b.Key))
	})
	return used, nil
}

// DaysOf is Days for a canonical key, with its total and last hit.
func (k *Keeper) DaysOf(ctx context.Context, key string) ([]Day, Count, error) {
	now := time.Now()
	w, sum := newWindow(dayOf(now)), k.hits.countOfKey(key)
	servers, err := k.servers(ctx)
	if err != nil || len(servers) == 0 {
		return w.days, sum, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, othersTime, errOthers)
	defer cancel()
	if len(servers) > 1 { // which may have stored much
		if err := takeTurn(ctx, k.reading); err != nil {
			return nil, Count{}, err
		}
		defer func() { <-k.reading }()
	}
	store, err := k.store(ctx)
	if err != nil {
		return nil, Count{}, err
	}
	for i, of := range servers {
		l, err := store.lineOf(ctx, of.name, key)
		if err != nil {
			return nil, Count{}, fmt.Errorf("the hits of days cannot be read: %w", err)
		}
		if i == 0 {
			l.advance(sum, header{Date: dayOf(now)})
		} else {
			sum = sum.plus(l.Count)
		}
		l.eachDay(w.add)
	}
	return w.days, sum, nil
}

// servers returns all servers that share a storage, this one first. Those who ask at once get the
// same of the others.
func (k *Keeper) servers(ctx context.Context) ([]server, error) {
	place := k.place.Load()
	if place == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, othersTime, errOthers)
	defer cancel()
	if err := takeTurn(ctx, k.readingDays); err != nil {
		return nil, err
	}
	defer func() { <-k.readingDays }()
	if k.serversPlace != place || time.Since(k.serversRead) >= othersFresh {
		store, err := k.store(ctx)
		if err != nil {
			return nil, err
		}
		if k.all, err = store.servers(ctx); err != nil {
			return nil, fmt.Errorf("the hits of days cannot be read: %w", err)
		}
		k.serversPlace, k.serversRead = place, time.Now()
	}
	all := slices.Clone(k.all)
	all[0].header = k.hits.header()
	return all, nil
}

// servers reads what other servers have stored of all their keys together. This one is the first of
// those that it returns.
func (s *store) servers(ctx context.Context) ([]server, error) {
	all := []server{{name: s.server}}
	err := s.eachOther(ctx, func(name string) error {
		h, err := readable(ctx, s, name, "today", parseHeader)
		if h == nil { // an older version has stored it, or nothing is
			h = new(header)
		}
		all = append(all, server{name, *h})
		return err
	})
	return all, err
}

// lineOf returns what a server has stored of a canonical key.
func (s *store) lineOf(ctx context.Context, server, key string) (*line, error) {
	found := &line{key: []byte(key)}
	from, err := s.stored(ctx, server)
	if err != nil || from == nil {
		return found, err
	}
	err = from.eachOf(ctx, shardOf(found.key), func(l *line) {
		if string(l.key) == key {
			*found = *l
		}
	})
	return found, err
}
