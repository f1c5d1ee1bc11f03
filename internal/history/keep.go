package history

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/internal/storage"
)

// Pauses before changes are stored again that could not be.
const firstRetry, longestRetry = time.Second, time.Minute

// keep stores changes until ctx ends.
func (s *Store) keep(ctx context.Context) {
	for wait := firstRetry; ; wait = min(2*wait, longestRetry) {
		err := s.save()
		s.note(err)
		again := time.After(wait)
		if err == nil {
			again, wait = nil, firstRetry
		}
		select {
		case <-ctx.Done():
			s.saveLast()
			return
		case <-s.wake:
		case <-again:
		}
	}
}

// saveLast stores the last changes.
func (s *Store) saveLast() {
	if err := s.save(); err != nil && s.firstPending() != nil {
		s.place.Load().Logger.Error("changes of the rules are missing in the history, because they "+
			"could not be stored before the end", zap.String("name", s.name), zap.Error(err))
	}
}

// End stores the last changes, and stops. It returns at most [storage.LastSave] after the end of the
// last configuration.
func (s *Store) End() {
	if s.stop != nil {
		s.stop()
		s.ended.Wait()
	}
}

// note notes whether changes can be stored, and logs it once if that is another answer than before.
func (s *Store) note(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := zap.String("name", s.name)
	logger := s.place.Load().Logger
	switch {
	case err == nil && s.outage != nil:
		logger.Info("the history is stored again", name, zap.Time("failing_since", s.outage.Since))
		s.outage = nil
	case err != nil && s.outage == nil:
		logger.Error("the history of the rules cannot be stored; trying again", name, zap.Error(err))
		s.outage = &Outage{Since: time.Now()}
	}
	if err != nil {
		s.outage.Error = err.Error()
	}
}

// Outage says since when changes cannot be stored; nil if they can.
func (s *Store) Outage() *Outage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.outage == nil {
		return nil
	}
	outage := *s.outage
	return &outage
}

// use calls do with what is stored, for one caller at a time.
func (s *Store) use(ctx context.Context, do func(*visit) error) error {
	place := s.place.Load()
	if place == nil {
		return errors.New("Caddy has not started yet")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, useTime, errors.New("timed out after a minute"))
	defer cancel()
	select {
	case s.using <- struct{}{}:
		defer func() { <-s.using }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	v := &visit{s, ctx, place}
	if err := v.read(); err != nil {
		return err
	}
	return do(v)
}

// visit is a use of the storage.
type visit struct {
	*Store
	ctx context.Context
	at  *storage.Place
}

// prefix begins the names of all entries.
func (s *Store) prefix() string { return path.Join("shortlink/history", s.name) }

// read reads the entries that this server does not know yet.
func (v *visit) read() error {
	names, err := v.at.Storage.List(v.ctx, v.prefix(), false)
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
	for i := range v.kept {
		if !there[i] {
			delete(v.kept, i)
		}
	}
	v.isRead = true
	return nil
}

// load reads an entry, unless it is known.
func (v *visit) load(i id) error {
	v.mu.Lock()
	isKnown := v.kept[i] != nil
	v.mu.Unlock()
	if isKnown {
		return nil
	}
	b, err := v.at.Storage.Load(v.ctx, v.nameOf(i))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another server has just deleted it
	}
	if err != nil {
		return err
	}
	e, err := parseStored(b)
	if err != nil {
		v.at.Logger.Warn("an entry of the history cannot be read, and is left out",
			zap.String("entry", v.nameOf(i)), zap.Error(err))
		e = stored{} // which is deleted before all others
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.kept[i] = &kept{Change: e.Change, id: i, order: e.Order, size: len(b), isKnown: !v.isRead}
	return nil
}

func (v *visit) nameOf(i id) string { return path.Join(v.prefix(), i.String()) }

// save stores the pending changes.
func (s *Store) save() error {
	if !s.isOn() {
		return nil
	}
	return s.use(s.place.Load().Context, func(v *visit) error {
		for p := s.firstPending(); p != nil; p = s.firstPending() {
			if err := v.store(p); err != nil {
				return err
			}
		}
		return v.tidy()
	})
}

func (s *Store) isOn() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most > 0
}

// firstPending returns the oldest change that is to be stored, nil for none.
func (s *Store) firstPending() *pending {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pending) == 0 {
		return nil
	}
	return s.pending[0]
}

// store stores a change, unless another server has already done so.
func (v *visit) store(p *pending) error {
	e := v.stored(p)
	if i, isNew := v.idOf(&e); isNew {
		if err := v.put(i, e); err != nil {
			return err
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.pending = slices.DeleteFunc(v.Store.pending, func(other *pending) bool { return other == p })
	return nil
}

// put stores an entry.
func (v *visit) put(i id, e stored) error {
	b, err := e.bytes()
	if err == nil {
		err = v.at.Storage.Store(v.ctx, v.nameOf(i), b)
	}
	if err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.kept[i] = &kept{Change: e.Change, id: i, order: e.Order, size: len(b), isKnown: true}
	return nil
}

// sameChange is how far apart two servers may say that a change has happened. Their clocks differ.
const sameChange = 24 * time.Hour

// idOf returns what to call a change, and sets its order. It is not new if other servers have made
// it, perhaps in several steps, and have stored it.
func (v *visit) idOf(e *stored) (i id, isNew bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	i, e.Order = id{old: half(e.Old), new: half(e.New), n: 1}, 1
	switch {
	case e.Missing == Forgotten:
		i.form = forgotten
	case e.IsEdit():
		i.form = edited
	}
	for other, k := range v.kept {
		e.Order = max(e.Order, k.order+1)
		if other.old == i.old && other.new == i.new {
			i.n = max(i.n, other.n+1)
		}
	}
	others := v.byOthers(e)
	for _, o := range others {
		o.isKnown = true
	}
	switch len(others) {
	case 0:
		return i, true
	case 1:
		i.n = others[0].n
		return i, i.form > others[0].form
	}
	return i, i.form != found
}

// byOthers returns changes of other servers that together are a change.
func (v *visit) byOthers(e *stored) (steps []*kept) {
	var unknown []item
	for _, k := range v.inOrder() {
		if apart := k.Time.Sub(e.Time).Abs(); !k.isKnown && apart < sameChange {
			unknown = append(unknown, item{Change: &k.Change, kept: k})
		}
	}
	for _, step := range findWay(unknown, e.Old, e.New, false) {
		steps = append(steps, step.kept)
	}
	return steps
}

// inOrder returns the entries that count, oldest first. mu must be held.
func (s *Store) inOrder() (all []*kept) {
	for _, k := range s.kept {
		if k.order > 0 && !s.isOutdone(k.id) {
			all = append(all, k)
		}
	}
	slices.SortFunc(all, func(a, b *kept) int {
		return cmp.Or(cmp.Compare(a.order, b.order), a.Time.Compare(b.Time), cmp.Compare(a.new, b.new))
	})
	return all
}

// isOutdone reports whether there is another form of an entry that counts. mu must be held.
func (s *Store) isOutdone(i id) bool {
	for i.form++; i.form <= forgotten; i.form++ {
		if k := s.kept[i]; k != nil && k.order > 0 {
			return true
		}
	}
	return false
}

// tidy deletes entries that do not count, and the oldest where there are too many.
func (v *visit) tidy() error {
	for _, i := range v.surplus() {
		if err := v.at.Storage.Delete(v.ctx, v.nameOf(i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
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
	for i := range v.kept {
		if v.isOutdone(i) {
			all = append(all, i)
		}
	}
	if v.most == 0 {
		return all
	}
	left := v.most
	for i, k := range v.kept { // those that cannot be read
		if k.order == 0 && len(v.kept) > v.most {
			all = append(all, i)
		}
	}
	size := 0
	for _, k := range slices.Backward(v.inOrder()) {
		left--
		if size += k.size; left < 0 || size > mostStored {
			all = append(all, k.id)
		}
	}
	return all
}
