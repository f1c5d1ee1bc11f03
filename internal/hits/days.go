package hits

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"go.uber.org/zap"
)

// serverDays are the days of a server that stores in the same storage, as they were read.
type serverDays struct {
	store  *store
	server string
	isOwn  bool
	index  *dayIndex   // nil for none
	today  *todayCount // nil for none
}

// Days returns what all rules together had on each of the last [DaysKept] days, oldest first.
func (k *Keeper) Days(ctx context.Context) ([]Day, error) {
	servers, err := k.serverDays(ctx)
	if err != nil {
		return nil, err
	}
	today := dayOf(time.Now())
	w := newWindow(today)
	for _, of := range servers {
		of.addAll(w, k.hits, today)
	}
	return w.days, nil
}

// DaysSince returns when days began to be kept.
func (k *Keeper) DaysSince(ctx context.Context) (time.Time, error) {
	servers, err := k.serverDays(ctx)
	var since time.Time
	for _, of := range servers {
		if of.index != nil && (since.IsZero() || of.index.Began.Before(since)) {
			since = of.index.Began
		}
	}
	if since.IsZero() {
		since = k.hits.begun()
	}
	return since, err
}

// DaysOf is Days for a canonical key, with its total and last hit.
func (k *Keeper) DaysOf(ctx context.Context, key string) ([]Day, Count, error) {
	today := dayOf(time.Now())
	w := newWindow(today)
	servers, err := k.serverDays(ctx)
	if err != nil {
		return nil, Count{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, othersTime, errOthers)
	defer cancel()
	if len(servers) > 1 { // whose totals may be long
		if err := takeTurn(ctx, k.reading); err != nil {
			return nil, Count{}, err
		}
		defer func() { <-k.reading }()
	}
	own := k.hits.countOfKey(key)
	sum := own
	for _, of := range servers {
		m := own
		if !of.isOwn {
			if m, err = of.countOf(ctx, key); err != nil {
				return nil, Count{}, err
			}
			sum = sum.plus(m)
		}
		if err := of.addDaysOf(ctx, w, key, m, today); err != nil {
			return nil, Count{}, err
		}
	}
	return w.days, sum, nil
}

// MostUsed returns the canonical keys that redirected most in the last 30 days, most first.
func (k *Keeper) MostUsed(ctx context.Context) ([]Used, error) {
	servers, err := k.serverDays(ctx)
	if err != nil {
		return nil, err
	}
	sums := map[string]uint64{}
	for _, of := range servers {
		of.addTop(sums, k.hits)
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

// serverDays returns the days of all servers that share a storage, this one first.
func (k *Keeper) serverDays(ctx context.Context) ([]serverDays, error) {
	if k.place.Load() == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, othersTime, errOthers)
	defer cancel()
	days, err := k.readDays(ctx)
	if err != nil || days[0].index != nil || !k.hits.isNew() {
		return days, err
	}
	days = slices.Clone(days)
	days[0].index = &dayIndex{Began: k.hits.begun(), Recorded: dayOf(time.Now()) - 1}
	return days, nil
}

// readDays reads the days of all servers. Those who ask at once get the same.
func (k *Keeper) readDays(ctx context.Context) ([]serverDays, error) {
	if err := takeTurn(ctx, k.readingDays); err != nil {
		return nil, err
	}
	defer func() { <-k.readingDays }()
	place := k.place.Load()
	if k.daysPlace == place && time.Since(k.daysRead) < othersFresh {
		return k.days, nil
	}
	store, err := k.store(ctx)
	if err != nil {
		return nil, err
	}
	days, err := store.serverDays(ctx)
	if err != nil {
		return nil, fmt.Errorf("the hits of days cannot be read: %w", err)
	}
	k.days, k.daysPlace, k.daysRead = days, place, time.Now()
	return days, nil
}

// serverDays reads the days of all servers, this one first.
func (s *store) serverDays(ctx context.Context) ([]serverDays, error) {
	entries, err := s.storage.List(ctx, s.prefix, false)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	servers := []string{s.server}
	for _, entry := range entries {
		if server := path.Base(entry); server != s.server {
			servers = append(servers, server)
		}
	}
	var all []serverDays
	for _, server := range servers {
		of := serverDays{store: s, server: server, isOwn: server == s.server}
		var errIndex, errToday error
		of.index, errIndex = readableDayEntry(ctx, s, server, "index", parseDayIndex)
		of.today, errToday = readableDayEntry(ctx, s, server, "today", parseToday)
		if err := errors.Join(errIndex, errToday); err != nil {
			return nil, err
		}
		all = append(all, of)
	}
	return all, nil
}

// readableDayEntry reads an entry. It returns nil where there is nothing that this version
// understands.
func readableDayEntry[T any](ctx context.Context, s *store, server, name string,
	parse func([]byte) (*T, error),
) (*T, error) {
	value, err := loadEntry(ctx, s.storage, s.dayEntry(server, name), parse)
	if unreadable, is := errors.AsType[*unreadableHits](err); is {
		s.logger.Warn("hits of days cannot be read", zap.Error(unreadable))
		return nil, nil
	}
	return value, err
}

// addAll adds what all keys have had.
func (of *serverDays) addAll(w *window, hits *Counters, today day) {
	index := of.index
	if index == nil {
		return
	}
	for d, n := range index.Days {
		w.add(d, n)
	}
	if !of.isOwn {
		if of.today != nil && of.today.Date > index.Recorded {
			w.add(of.today.Date, of.today.N)
		}
		return
	}
	if all := hits.total(); all.N > index.Total {
		w.add(dayOfNew(all.day(), index.Recorded, today), all.N-index.Total)
	}
}

// addTop adds the keys that are used most. Of this server they have what they had today, too.
func (of *serverDays) addTop(sums map[string]uint64, hits *Counters) {
	if of.index == nil {
		return
	}
	for _, top := range of.index.Top {
		n := top.N
		if of.isOwn && of.index.Total > 0 {
			n += max(hits.countOfKey(top.Key).N, top.Total) - top.Total
		}
		sums[top.Key] += n
	}
	if of.isOwn && of.index.Total == 0 { // all has been counted today
		hits.addTop(sums)
	}
}

// countOf returns the count of a key that another server has stored.
func (of *serverDays) countOf(ctx context.Context, key string) (Count, error) {
	stored, err := of.store.loadOther(ctx, of.server)
	if err != nil || stored == nil {
		return Count{}, err
	}
	return stored.countOf(key), nil
}

// addDaysOf adds what a key has had, whose total is m now.
func (of *serverDays) addDaysOf(ctx context.Context, w *window, key string, m Count,
	today day) error {
	if of.index == nil {
		return nil
	}
	base, recorded := uint64(0), of.index.Recorded
	for i := range of.index.Segments {
		seg := &of.index.Segments[i]
		name := shardName(seg, shardOf(key, seg.Bits))
		sh, err := readableDayEntry(ctx, of.store, of.server, name, seg.parseShard)
		if err != nil {
			return err
		}
		if sh == nil {
			base = m.N // as nobody knows it
			continue
		}
		line := sh.lines[key]
		for i, n := range line.days {
			w.add(sh.first+day(i), n)
		}
		base, recorded = line.total, max(sh.recorded, of.index.Recorded)
	}
	if m.N > base {
		w.add(dayOfNew(m.day(), recorded, today), m.N-base)
	}
	return nil
}
