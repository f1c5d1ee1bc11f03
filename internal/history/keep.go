package history

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/internal/storage"
)

const (
	// firstRetry and longestRetry bound the pause before a retry. The first retry waits for twice
	// firstRetry.
	firstRetry, longestRetry = time.Second, time.Minute
	// useTime is how long a use of the storage may take.
	useTime = time.Minute
	// sameChange is how far apart two servers may say that a change has happened. Their clocks differ.
	sameChange = 24 * time.Hour
)

// keep stores changes until ctx ends.
func (s *Store) keep(ctx context.Context) {
	for wait := firstRetry; ctx.Err() == nil; wait = min(2*wait, longestRetry) {
		again := time.After(wait)
		if s.save() {
			again, wait = nil, firstRetry
		}
		select {
		case <-ctx.Done():
		case <-s.wake:
		case <-again:
		}
	}
	if !s.save() && len(s.pendingNow()) > 0 {
		s.place.Load().Logger.Error("changes of the rules are missing in the history, because they "+
			"could not be stored before the end", zap.String("name", s.name))
	}
}

// save stores the pending changes. It reports whether it succeeded, and logs if that is news.
func (s *Store) save() bool {
	s.mu.Lock()
	isOff := s.most == 0
	s.mu.Unlock()
	if isOff {
		return true
	}
	place := s.place.Load()
	err := s.use(place.Context, func(v *visit) error {
		err := v.storePending()
		if err == nil {
			err = v.tidy()
		}
		return err
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.outage
	switch {
	case err == nil && before != nil:
		place.Logger.Info("the history is stored again", zap.String("name", s.name),
			zap.Time("failing_since", before.Since))
		s.outage = nil
	case err != nil && before == nil:
		place.Logger.Error("the history of the rules cannot be stored; trying again",
			zap.String("name", s.name), zap.Error(err))
		s.outage = &Outage{time.Now(), err.Error()}
	}
	return err == nil
}

// visit is a use of the storage.
type visit struct {
	*Store
	ctx context.Context
	*storage.Place
	unstored []*entry // those that were pending when it began, with their contents
}

// use calls do with what is in the storage now, for one caller at a time.
func (s *Store) use(ctx context.Context, do func(*visit) error) error {
	place := s.place.Load()
	if place == nil {
		return errors.New("it is not open before Caddy has started")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, useTime, errors.New("timed out after a minute"))
	defer cancel()
	select {
	case s.using <- struct{}{}:
		defer func() { <-s.using }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	v := &visit{s, ctx, place, s.pendingNow()}
	v.makeContents()
	if err := v.read(); err != nil {
		return err
	}
	return do(v)
}

// nameOf returns the full name of an entry.
func (v *visit) nameOf(i id) string { return path.Join("shortlink/history", v.name, i.String()) }

// read reads the entries that this server does not know yet, and drops those that are gone.
func (v *visit) read() error {
	names, err := v.Storage.List(v.ctx, path.Dir(v.nameOf(id{})), false)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	there := map[id]bool{}
	for _, name := range names {
		if i, ok := parseID(path.Base(name)); ok {
			there[i] = true
			if err := v.load(i); err != nil {
				return err
			}
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	maps.DeleteFunc(v.kept, func(i id, _ *entry) bool { return !there[i] })
	v.isRead = true
	return nil
}

// load reads an entry, unless it is known. One that cannot be read has no order.
func (v *visit) load(i id) error {
	if v.kept[i] != nil {
		return nil
	}
	b, err := v.Storage.Load(v.ctx, v.nameOf(i))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another server has just deleted it
	}
	if err != nil {
		return err
	}
	h, _, err := parseEntry(b)
	if err != nil {
		v.Logger.Warn("an entry of the history cannot be read, and is left out",
			zap.String("entry", v.nameOf(i)), zap.Error(err))
		h = head{}
	}
	v.keepEntry(&entry{head: h, id: i, size: len(b), isKnown: !v.isRead})
	return nil
}

// keepEntry notes that an entry is stored.
func (v *visit) keepEntry(e *entry) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.kept[e.id] = e
}

// storePending stores the pending changes, unless other servers have done so.
func (v *visit) storePending() error {
	for ; len(v.unstored) > 0; v.unstored = v.unstored[1:] {
		e := v.unstored[0]
		h := e.head
		byOthers := v.byOthers(&h)
		if i, isNew := v.idOf(&h, byOthers); isNew {
			if err := v.put(i, h, e.content); err != nil {
				return err
			}
		}
		v.mu.Lock()
		for _, step := range byOthers {
			step.isKnown = true
		}
		v.pending = slices.DeleteFunc(v.pending, func(other *entry) bool { return other == e })
		v.mu.Unlock()
	}
	return nil
}

// put stores an entry.
func (v *visit) put(i id, h head, content []byte) error {
	b, err := makeEntry(h, content)
	if err == nil {
		err = v.Storage.Store(v.ctx, v.nameOf(i), b)
	}
	if err == nil {
		v.keepEntry(&entry{head: h, id: i, size: len(b), isKnown: true})
	}
	return err
}

// byOthers returns what other servers have stored of a change that they have made or found, too,
// perhaps in several steps.
func (v *visit) byOthers(h *head) []step {
	v.mu.Lock()
	defer v.mu.Unlock()
	return findWay(slices.DeleteFunc(v.inOrder(), func(e *entry) bool {
		return e.isKnown || e.Time.Sub(h.Time).Abs() > sameChange
	}), h.Old, h.New, false)
}

// idOf returns what to call a change, and sets its order. The change is not new if what others
// have stored of it says as much.
func (v *visit) idOf(h *head, byOthers []step) (i id, isNew bool) {
	i, h.Order = id{half(h.Old), half(h.New), 1, found}, 1
	if h.IsEdit() {
		i.form = edited
	}
	for other, e := range v.kept {
		h.Order = max(h.Order, e.Order+1)
		if other.old == i.old && other.new == i.new {
			i.n = max(i.n, other.n+1)
		}
	}
	switch len(byOthers) {
	case 0:
		return i, true
	case 1:
		i.n = byOthers[0].n
		return i, i.form > byOthers[0].form
	}
	return i, i.form != found
}

// tidy deletes entries that do not count, and the oldest where there are too many.
func (v *visit) tidy() error {
	for _, i := range v.surplus() {
		if err := v.Storage.Delete(v.ctx, v.nameOf(i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		v.mu.Lock()
		delete(v.kept, i)
		v.mu.Unlock()
	}
	return nil
}

// surplus returns the entries to delete.
func (v *visit) surplus() (all []id) {
	v.mu.Lock()
	defer v.mu.Unlock()
	counting := v.inOrder()
	most, size, left := cmp.Or(v.most, MostKept), 0, len(counting)
	for ; left > 0 && len(counting)-left < most && size <= mostStored; left-- {
		size += counting[left-1].size
	}
	if size > mostStored {
		left++ // the last one is too much
	}
	for _, e := range counting[:left] {
		all = append(all, e.id)
	}
	for i, e := range v.kept {
		// a newer version may have written what cannot be read, so it stays while there is room
		if v.isOutdone(e) || e.Order == 0 && left > 0 {
			all = append(all, i)
		}
	}
	return all
}
