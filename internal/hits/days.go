package hits

import (
	"context"
	"fmt"
	"time"
)

// server is a server that stores in the same storage, and what it has stored of all keys together.
type server struct {
	name string
	header
}

// Days returns what all rules together had on each of the last [DaysKept] days, oldest first.
func (k *Keeper) Days(ctx context.Context) ([]Day, error) {
	w := newWindow(dayOf(time.Now()))
	err := k.eachServer(ctx, func(_ context.Context, _ *store, of server) error {
		of.addTo(w)
		return nil
	})
	return w.days, err
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
	first := k.hits.past.Load().Began
	err := k.eachServer(ctx, func(_ context.Context, _ *store, of server) error {
		if of.Began.Before(first) && !of.Began.IsZero() {
			first = of.Began
		}
		return nil
	})
	return first, err
}

// MostUsed returns the canonical keys that redirected most in the last 30 days, most first.
func (k *Keeper) MostUsed(ctx context.Context) ([]Used, error) {
	sums := map[string]uint64{}
	err := k.eachServer(ctx, func(_ context.Context, store *store, of server) error {
		if of.name == store.server {
			of.Top = k.hits.top()
		}
		for _, top := range of.Top {
			sums[top.Key] += top.N
		}
		return nil
	})
	var top []topKey
	for key, n := range sums {
		top = append(top, topKey{Key: key, N: n})
	}
	var used []Used
	for _, t := range cutTop(top) {
		used = append(used, Used{t.Key, t.N})
	}
	return used, err
}

// DaysOf is Days for a canonical key, with its total and last hit.
func (k *Keeper) DaysOf(ctx context.Context, key string) ([]Day, Count, error) {
	now := time.Now()
	w, sum := newWindow(dayOf(now)), k.hits.countOfKey(key)
	err := k.eachServer(ctx, func(ctx context.Context, store *store, of server) error {
		l, err := store.lineOf(ctx, of.name, key)
		if err != nil {
			return err
		}
		if of.name == store.server {
			l.advance(sum, header{Date: dayOf(now)})
		} else {
			sum = sum.plus(l.Count)
		}
		l.eachDay(w.add)
		return nil
	})
	return w.days, sum, err
}

// eachServer passes all servers that share a storage, this one first. Those who ask at once get the
// same of the others.
func (k *Keeper) eachServer(ctx context.Context,
	yield func(ctx context.Context, store *store, of server) error,
) error {
	err := k.read(ctx, func(ctx context.Context, store *store) (err error) {
		place := k.place.Load()
		if k.serversPlace != place || time.Since(k.serversRead) >= othersFresh {
			if k.servers, err = store.servers(ctx); err != nil {
				return err
			}
			k.serversPlace, k.serversRead = place, time.Now()
		}
		for i, of := range k.servers {
			if i == 0 {
				of.header = k.hits.header()
			}
			if err := yield(ctx, store, of); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("the hits of days cannot be read: %w", err)
	}
	return nil
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
	err = from.each(ctx, shardOf(found.key), func(l *line) {
		if string(l.key) == key {
			*found = *l
		}
	})
	return found, err
}
