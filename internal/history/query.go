package history

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"go.uber.org/zap"
)

// Errors of those who ask for a digest.
var (
	ErrUnknown   = errors.New("the history does not know it")
	ErrAmbiguous = errors.New("several digests begin so")
	ErrTooShort  = fmt.Errorf("write at least its first %d digits", shortestDigest)
	ErrNoWay     = errors.New("the history does not lead there")
)

// shortestDigest is how many digits of a digest are enough to name it.
const shortestDigest = 8

// item is a change that is stored or pending.
type item struct {
	*Change
	kept    *kept // nil for one that is pending
	pending *pending
}

// items returns all changes, oldest first.
func (s *Store) items() (all []item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.inOrder() {
		c := k.Change
		all = append(all, item{Change: &c, kept: k})
	}
	for _, p := range s.pending {
		c := p.Change
		all = append(all, item{Change: &c, pending: p})
	}
	return all
}

// Query says which changes are asked for, and what of them.
type Query struct {
	// IsAsked, if not nil, accepts keys: only changes of these are asked for, with these alone.
	// Changes without content have none.
	IsAsked func(key string) bool
	// Keys is how many keys a change has at most.
	Keys int
	// Skip is how many changes are left out at the beginning; Most is how many there are at most.
	Skip, Most int
}

// mayHave reports whether a change may have a key that is asked for.
func (q *Query) mayHave(c *Change) bool {
	if q.IsAsked == nil || len(c.First) < c.Added+c.Removed+c.Changed {
		return true
	}
	return slices.ContainsFunc(c.First, func(k FirstKey) bool { return q.IsAsked(k.Key) })
}

// whole returns what a change has changed; none if that is missing.
func (v *visit) whole(of item) ([]KeyChange, error) { return v.content(of, Query{Keys: math.MaxInt}) }

// content returns what a change has changed as far as it is asked for; none if that is missing.
func (v *visit) content(of item, q Query) ([]KeyChange, error) {
	if of.pending != nil {
		e := v.stored(of.pending)
		if of.Missing = e.Missing; of.Missing != "" {
			return nil, nil
		}
		return parseContent(e.content, q)
	}
	if of.Missing != "" {
		return nil, nil
	}
	name := v.nameOf(of.kept.id)
	b, err := v.at.Storage.Load(v.ctx, name)
	if err != nil {
		return nil, err
	}
	e, err := parseStored(b)
	if err != nil {
		return nil, fmt.Errorf("entry %s: %w", name, err)
	}
	keys, err := parseContent(e.content, q)
	if err != nil {
		return nil, fmt.Errorf("entry %s: %w", name, err)
	}
	return keys, nil
}

// List returns the changes that are asked for, newest first.
func (s *Store) List(ctx context.Context, q Query) (all []Entry, err error) {
	err = s.use(ctx, func(v *visit) error {
		items := s.items()
		slices.Reverse(items)
		if q.IsAsked == nil {
			items, q.Skip = items[min(q.Skip, len(items)):], 0
		}
		for _, i := range items {
			if len(all)-q.Skip >= q.Most {
				break
			}
			if e, ok := v.entry(i, q); ok {
				all = append(all, e)
			}
		}
		all = all[min(q.Skip, len(all)):]
		return nil
	})
	return all, err
}

// entry returns a change with the keys that are asked for, if it is.
func (v *visit) entry(i item, q Query) (Entry, bool) {
	if q.Keys == 0 || !q.mayHave(i.Change) {
		return Entry{Change: *i.Change}, q.IsAsked == nil
	}
	keys, err := v.content(i, q)
	if err != nil {
		v.at.Logger.Warn("the keys of a change are left out", zap.Error(err))
	}
	return Entry{*i.Change, keys}, q.IsAsked == nil || len(keys) > 0
}

// Between returns the last change that made the rules of one digest those of another, with its
// content.
func (s *Store) Between(ctx context.Context, old, now string) (e *Entry, err error) {
	err = s.use(ctx, func(v *visit) error {
		for _, i := range slices.Backward(s.items()) {
			if i.Old == old && i.New == now {
				keys, err := v.whole(i)
				e = &Entry{*i.Change, keys}
				return err
			}
		}
		return fmt.Errorf("%w: no change that is kept led from %.12s to %.12s", ErrUnknown, old, now)
	})
	return e, err
}

// Get returns the last change that led to a digest, with its content. The beginning of a digest is
// enough.
func (s *Store) Get(ctx context.Context, digest string) (e *Entry, err error) {
	err = s.use(ctx, func(v *visit) error {
		digest, err := s.complete(digest)
		if err != nil {
			return err
		}
		all := s.items()
		slices.Reverse(all)
		at := slices.IndexFunc(all, func(i item) bool { return i.New == digest })
		if at < 0 {
			return fmt.Errorf("%w: no change that is kept has led to the rules of %s, only away from them",
				ErrUnknown, digest)
		}
		keys, err := v.whole(all[at])
		e = &Entry{*all[at].Change, keys}
		return err
	})
	return e, err
}

// Complete returns the digest that begins so.
func (s *Store) Complete(ctx context.Context, beginning string) (digest string, err error) {
	err = s.use(ctx, func(*visit) (err error) {
		digest, err = s.complete(beginning)
		return err
	})
	return digest, err
}

func (s *Store) complete(beginning string) (digest string, err error) {
	if len(beginning) < shortestDigest {
		return "", ErrTooShort
	}
	for _, i := range s.items() {
		for _, d := range [...]string{i.Old, i.New} {
			if !strings.HasPrefix(d, beginning) || d == digest {
				continue
			}
			if digest != "" {
				return "", fmt.Errorf("%w: %s, %s", ErrAmbiguous, digest, d)
			}
			digest = d
		}
	}
	if digest == "" {
		return "", fmt.Errorf("%w: no change that is kept has led to %s, or away from it",
			ErrUnknown, beginning)
	}
	return digest, nil
}

// Forget drops the contents of the changes that led to a digest, for all servers that share the
// storage. Lines without them remain.
func (s *Store) Forget(ctx context.Context, digest string) error {
	e, err := s.Get(ctx, digest)
	if e == nil {
		return err
	}
	return s.use(ctx, func(v *visit) error {
		for _, i := range s.items() {
			if i.New != e.New {
				continue
			}
			if i.pending != nil {
				s.mu.Lock()
				i.pending.drop(Forgotten)
				i.pending.First = nil
				s.mu.Unlock()
				continue
			}
			without := stored{Change: *i.Change, Order: i.kept.order}
			without.Missing, without.First = Forgotten, nil
			id := i.kept.id
			id.form = forgotten
			if err := v.put(id, without); err != nil {
				return err
			}
		}
		return v.tidy()
	})
}

// Recent is a key that a change has changed.
type Recent struct {
	FirstKey
	*Change
}

// Recent returns keys that were changed last, newest first, as far as they are known without asking
// the storage.
func (s *Store) Recent() (all []Recent) {
	known := map[string]bool{}
	for _, i := range slices.Backward(s.items()) {
		for _, k := range i.First {
			if !known[k.Key] {
				known[k.Key] = true
				all = append(all, Recent{k, i.Change})
			}
		}
	}
	return all
}

// Way passes the changes of keys that lead from one digest to another, in their order, so that a
// key may be passed several times.
func (s *Store) Way(ctx context.Context, from, to string, do func(KeyChange)) error {
	return s.use(ctx, func(v *visit) error {
		all := s.items()
		hasContent := func(i item) bool { return i.Missing == "" }
		steps := findWay(slices.DeleteFunc(slices.Clone(all), func(i item) bool {
			return !hasContent(i)
		}), from, to, true)
		if steps == nil {
			return whyNoWay(findWay(all, from, to, true))
		}
		for _, step := range steps {
			if err := v.walk(step, do); err != nil {
				return err
			}
		}
		return nil
	})
}

// walk passes the changes of a step.
func (v *visit) walk(s step, do func(KeyChange)) error {
	keys, err := v.whole(s.item)
	if err == nil && s.Missing != "" {
		err = whyNoWay([]step{s})
	}
	for _, k := range keys {
		if s.isBack {
			k.Before, k.After = k.After, k.Before
		}
		do(k)
	}
	return err
}

// whyNoWay says why changes cannot be taken back; steps are those that would have to be.
func whyNoWay(steps []step) error {
	for _, s := range steps {
		if s.Missing != "" {
			return fmt.Errorf("%w: the change from %.12s to %.12s lies in between, and has no content: %s",
				ErrNoWay, s.Old, s.New, s.Missing)
		}
	}
	return fmt.Errorf("%w: the rules have changed in between where no change was recorded, as at a "+
		"start or with Caddy's configuration", ErrNoWay)
}

// step is a change on a way.
type step struct {
	item
	isBack bool // it is taken back
}

// findWay returns the shortest way from one digest to another, nil if there is none. Changes are
// taken back only if they may be.
func findWay(changes []item, from, to string, mayGoBack bool) []step {
	if from == to {
		return nil
	}
	type arrival struct {
		step step
		from string
	}
	arrivals := map[string]arrival{from: {}}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		arrive := func(where string, s step) {
			if _, is := arrivals[where]; !is {
				arrivals[where] = arrival{s, at}
				queue = append(queue, where)
			}
		}
		for _, i := range slices.Backward(changes) {
			switch {
			case i.Old == at:
				arrive(i.New, step{i, false})
			case i.New == at && mayGoBack:
				arrive(i.Old, step{i, true})
			}
		}
	}
	var way []step
	for at := to; at != from; {
		a, is := arrivals[at]
		if !is {
			return nil
		}
		way = append(way, a.step)
		at = a.from
	}
	slices.Reverse(way)
	return way
}
