package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.uber.org/zap"
)

// Errors of those who ask for a digest.
var (
	ErrUnknown   = errors.New("the history does not know it")
	ErrAmbiguous = errors.New("write more digits")
	ErrNoWay     = errors.New("the history does not lead there")
)

// inOrder returns the kept entries that count, oldest first. mu must be held.
func (s *Store) inOrder() (all []*entry) {
	for _, e := range s.kept {
		if e.Order > 0 && !s.isOutdone(e) {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), a.Time.Compare(b.Time), cmp.Compare(a.New, b.New))
	})
	return all
}

// isOutdone reports whether another form of an entry counts. mu must be held.
func (s *Store) isOutdone(e *entry) bool {
	later := func(f form) bool { return e.form < f && s.kept[id{e.old, e.new, e.n, f}] != nil }
	return later(edited) || later(forgotten)
}

// entries returns all entries, oldest first.
func (s *Store) entries() (all []*entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range append(s.inOrder(), s.pending...) {
		copied := *e // as pending ones may change
		all = append(all, &copied)
	}
	return all
}

// read returns the change of an entry with its content.
func (v *visit) entry(e *entry) (*Entry, error) {
	content, missing := []byte(nil), e.Missing
	var err error
	if e.content != nil {
		content, missing = e.content()
	} else if missing == "" {
		var b []byte
		if b, err = v.Storage.Load(v.ctx, v.nameOf(e.id)); err == nil {
			_, content, err = parseEntry(b)
		}
	}
	full := &Entry{Change: e.Change}
	if full.Missing = missing; missing == "" && err == nil {
		full.Keys, err = parseContent(content)
	}
	if err != nil {
		return nil, fmt.Errorf("the change from %.12s to %.12s: %w", e.Old, e.New, err)
	}
	return full, nil
}

// Query says which changes are listed.
type Query struct {
	// IsAsked, if not nil, accepts keys: only changes of these are listed, and of their keys only
	// these. Changes without content are left out then.
	IsAsked func(key string) bool
	// Keys is how many keys a change has at most that is listed with its keys, if all are.
	Keys int
	// Skip is how many changes are left out at the beginning; Most is how many are listed at most.
	Skip, Most int
}

// wants reports whether the content of a change is asked for.
func (q *Query) wants(c *Change) bool {
	n := c.Added + c.Removed + c.Changed
	if q.IsAsked == nil {
		return n <= q.Keys
	}
	return n > len(c.First) ||
		slices.ContainsFunc(c.First, func(k FirstKey) bool { return q.IsAsked(k.Key) })
}

// List returns changes, newest first.
func (s *Store) List(ctx context.Context, q Query) (all []Entry, err error) {
	err = s.use(ctx, func(v *visit) error {
		for _, e := range slices.Backward(s.entries()) {
			if len(all) == q.Most {
				break
			}
			full := v.listed(e, &q)
			switch {
			case q.IsAsked != nil && len(full.Keys) == 0:
			case q.Skip > 0:
				q.Skip--
			default:
				all = append(all, *full)
			}
		}
		return nil
	})
	return all, err
}

// listed returns the change of an entry with the keys that are asked for.
func (v *visit) listed(e *entry, q *Query) *Entry {
	if q.IsAsked == nil && q.Skip > 0 || !q.wants(&e.Change) {
		return &Entry{Change: e.Change}
	}
	full, err := v.entry(e)
	if err != nil {
		v.Logger.Warn("the keys of a change are left out", zap.Error(err))
		return &Entry{Change: e.Change}
	}
	if q.IsAsked != nil {
		full.Keys = slices.Clip(slices.DeleteFunc(full.Keys, func(k KeyChange) bool {
			return !q.IsAsked(k.Key)
		}))
	}
	return full
}

// Between returns the last change that made the rules of one digest those of another, with its
// content.
func (s *Store) Between(ctx context.Context, old, now string) (full *Entry, err error) {
	err = s.use(ctx, func(v *visit) error {
		for _, e := range slices.Backward(s.entries()) {
			if e.Old == old && e.New == now {
				full, err = v.entry(e)
				return err
			}
		}
		return fmt.Errorf("%w: of what is kept, no change has led from %.12s to %.12s", ErrUnknown, old,
			now)
	})
	return full, err
}

// Get returns the last change that led to a digest, with its content. The beginning of a digest is
// enough.
func (s *Store) Get(ctx context.Context, digest string) (full *Entry, err error) {
	err = s.use(ctx, func(v *visit) error {
		all, err := s.to(digest)
		if err == nil {
			full, err = v.entry(all[len(all)-1])
		}
		return err
	})
	return full, err
}

// to returns the changes that led to a digest.
func (s *Store) to(digest string) (all []*entry, err error) {
	digest, err = s.complete(digest)
	all = slices.DeleteFunc(s.entries(), func(e *entry) bool { return e.New != digest })
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%w: of what is kept, no change has led to %s", ErrUnknown, digest)
	}
	return all, err
}

// shortestDigest is how many digits of a digest are enough to name it.
const shortestDigest = 8

// complete returns the digest that begins so.
func (s *Store) complete(beginning string) (digest string, err error) {
	found := map[string]bool{}
	for _, e := range s.entries() {
		for _, d := range [...]string{e.Old, e.New} {
			if strings.HasPrefix(d, beginning) {
				digest, found[d] = d, true
			}
		}
	}
	switch {
	case len(beginning) < shortestDigest:
		return "", fmt.Errorf("%w of the digest than %q, at least %d", ErrAmbiguous, beginning,
			shortestDigest)
	case len(found) > 1:
		return "", fmt.Errorf("%w: %d digests begin with %s", ErrAmbiguous, len(found), beginning)
	case len(found) == 0:
		return "", fmt.Errorf("%w: of what is kept, no change has led to %s, or away from it",
			ErrUnknown, beginning)
	}
	return digest, nil
}

// Forget drops the contents of the changes that led to a digest, for all servers that share the
// storage. Lines without them remain.
func (s *Store) Forget(ctx context.Context, digest string) error {
	return s.use(ctx, func(v *visit) error {
		all, err := s.to(digest)
		if err != nil {
			return err
		}
		s.mu.Lock()
		for _, e := range s.pending {
			if e.New == all[0].New {
				e.drop(Forgotten)
				e.First = nil
			}
		}
		s.mu.Unlock()
		for _, e := range all {
			if e.content != nil {
				continue
			}
			e.Missing, e.First, e.form = Forgotten, nil, forgotten
			if err := v.put(e.id, e.head, nil); err != nil {
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
	for _, e := range slices.Backward(s.entries()) {
		for _, k := range e.First {
			if !known[k.Key] {
				known[k.Key] = true
				all = append(all, Recent{k, &e.Change})
			}
		}
	}
	return all
}

// Way passes the changes of keys that lead from one digest to another, in their order, so that a
// key may be passed several times. The beginning of the digest to go to is enough; Way returns it in
// full.
func (s *Store) Way(ctx context.Context, from, to string, do func(KeyChange)) (digest string,
	err error) {
	err = s.use(ctx, func(v *visit) error {
		if digest, err = s.complete(to); err != nil {
			return err
		}
		all := s.entries()
		whole := slices.DeleteFunc(slices.Clone(all), func(e *entry) bool { return e.Missing != "" })
		steps := findWay(whole, from, digest, true)
		if steps == nil {
			steps = findWay(all, from, digest, true) // whose first step without content says why
		}
		if steps == nil && from != digest {
			return fmt.Errorf("%w: the rules have changed in between where no change was recorded, as at "+
				"a start or with Caddy's configuration", ErrNoWay)
		}
		for _, step := range steps {
			if err := v.walk(step, do); err != nil {
				return err
			}
		}
		return nil
	})
	return digest, err
}

// walk passes the changes of a step.
func (v *visit) walk(s step, do func(KeyChange)) error {
	full, err := v.entry(s.entry)
	if err != nil {
		return err
	}
	if full.Missing != "" {
		return fmt.Errorf("%w: the change from %.12s to %.12s lies in between, and has no content: %s",
			ErrNoWay, s.Old, s.New, full.Missing)
	}
	for _, k := range full.Keys {
		if s.isBack {
			k.Before, k.After = k.After, k.Before
		}
		do(k)
	}
	return nil
}

// step is a change on a way.
type step struct {
	*entry
	isBack bool // it is taken back
}

// findWay returns the shortest way from one digest to another, nil if there is none. Changes are
// taken back only if they may be.
func findWay(changes []*entry, from, to string, mayGoBack bool) (way []step) {
	arrivals := map[string]step{from: {}}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		arrive := func(at string, s step) {
			if _, is := arrivals[at]; !is {
				arrivals[at], queue = s, append(queue, at)
			}
		}
		for _, e := range changes {
			switch {
			case e.Old == queue[0]:
				arrive(e.New, step{e, false})
			case e.New == queue[0] && mayGoBack:
				arrive(e.Old, step{e, true})
			}
		}
	}
	for at := to; at != from; {
		s := arrivals[at]
		switch {
		case s.entry == nil:
			return nil
		case s.isBack:
			at = s.New
		default:
			at = s.Old
		}
		way = append(way, s)
	}
	slices.Reverse(way)
	return way
}
