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

// entries returns the entries, oldest first: the last ones, where some that are stored have still
// to make room.
func (v *visit) entries() []*entry {
	v.mu.Lock()
	defer v.mu.Unlock()
	all := append(v.inOrder(), v.unstored...)
	return all[max(0, len(all)-cmp.Or(v.most, MostKept)):]
}

// entry returns the change of an entry with its content.
func (v *visit) entry(e *entry) (full *Entry, err error) {
	full = &Entry{Change: e.Change}
	content := e.content
	if e.n > 0 && e.Missing == "" { // it is stored
		var b []byte
		if b, err = v.Storage.Load(v.ctx, v.nameOf(e.id)); err == nil {
			_, content, err = parseEntry(b)
		}
	}
	if err == nil && full.Missing == "" {
		full.Keys, err = parseContent(content)
	}
	if err != nil {
		return nil, fmt.Errorf("the change from %.12s to %.12s: %w", e.Old, e.New, err)
	}
	return full, nil
}

// List returns the changes, newest first. With isAsked, these are the changes of the keys that it
// accepts, and each has the changes of these keys alone; without it, they have no keys. Those
// without content are left out then.
func (s *Store) List(ctx context.Context, isAsked func(key string) bool) (all []Entry, err error) {
	err = s.use(ctx, func(v *visit) error {
		for _, e := range slices.Backward(v.entries()) {
			if isAsked == nil {
				all = append(all, Entry{Change: e.Change})
				continue
			}
			isFirst := func(k FirstKey) bool { return isAsked(k.Key) }
			if len(e.First) == e.Total() && !slices.ContainsFunc(e.First, isFirst) {
				continue // it names all of its keys
			}
			full, err := v.entry(e)
			if err != nil {
				v.Logger.Warn("a change of the history is left out", zap.Error(err))
				continue
			}
			full.Keys = slices.Clone(slices.DeleteFunc(full.Keys, func(k KeyChange) bool {
				return !isAsked(k.Key)
			}))
			if len(full.Keys) > 0 {
				all = append(all, *full)
			}
		}
		return nil
	})
	return all, err
}

// Fill adds their contents to listed changes of at most so many keys.
func (s *Store) Fill(ctx context.Context, changes []Entry, most int) error {
	return s.use(ctx, func(v *visit) (wrong error) {
		for _, e := range v.entries() {
			isIt := func(c Entry) bool { return c.Old == e.Old && c.New == e.New && c.Time.Equal(e.Time) }
			if i := slices.IndexFunc(changes, isIt); i >= 0 && e.Total() <= most {
				full, err := v.entry(e)
				if wrong = errors.Join(wrong, err); err == nil {
					changes[i] = *full
				}
			}
		}
		return wrong
	})
}

// Get returns the last change that led to a digest, with its content. The beginning of a digest is
// enough.
func (s *Store) Get(ctx context.Context, digest string) (full *Entry, err error) {
	err = s.use(ctx, func(v *visit) error {
		all, err := v.to(digest)
		if err == nil {
			full, err = v.entry(all[len(all)-1])
		}
		return err
	})
	return full, err
}

// to returns the changes that led to a digest.
func (v *visit) to(digest string) (all []*entry, err error) {
	digest, err = v.complete(digest)
	all = slices.DeleteFunc(v.entries(), func(e *entry) bool { return e.New != digest })
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%w: of what is kept, no change has led to %s", ErrUnknown, digest)
	}
	return all, err
}

// shortestDigest is how many digits of a digest are enough to name it.
const shortestDigest = 8

// complete returns the digest that begins so.
func (v *visit) complete(beginning string) (digest string, err error) {
	digests := map[string]bool{}
	for _, e := range v.entries() {
		for _, d := range [...]string{e.Old, e.New} {
			if strings.HasPrefix(d, beginning) {
				digest, digests[d] = d, true
			}
		}
	}
	switch {
	case len(beginning) < shortestDigest:
		return "", fmt.Errorf("%w of the digest than %q, at least %d", ErrAmbiguous, beginning,
			shortestDigest)
	case len(digests) > 1:
		return "", fmt.Errorf("%w: %d digests begin with %s", ErrAmbiguous, len(digests), beginning)
	case len(digests) == 0:
		return "", fmt.Errorf("%w: of what is kept, no change has led to %s, or away from it",
			ErrUnknown, beginning)
	}
	return digest, nil
}

// Forget drops the contents of the changes that led to a digest, for all servers that share the
// storage. Lines without them remain.
func (s *Store) Forget(ctx context.Context, digest string) error {
	return s.use(ctx, func(v *visit) error {
		if err := v.storePending(); err != nil {
			return err
		}
		all, err := v.to(digest)
		for _, e := range all {
			i, h := e.id, e.head
			i.form, h.Missing, h.First = forgotten, Forgotten, nil
			if err = v.put(i, h, nil); err != nil {
				return err
			}
		}
		if err == nil {
			err = v.tidy()
		}
		return err
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
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range slices.Backward(append(s.inOrder(), s.pending...)) {
		change := e.Change // as pending ones may change
		for _, k := range change.First {
			if !known[k.Key] {
				known[k.Key] = true
				all = append(all, Recent{k, &change})
			}
		}
	}
	return all
}

// Way passes the changes of keys that lead from one digest to another, in their order, so that a
// key may be passed several times. The beginning of the digest to go to is enough; Way returns it
// in full.
func (s *Store) Way(ctx context.Context, from, to string, do func(KeyChange)) (digest string,
	err error) {
	err = s.use(ctx, func(v *visit) error {
		if digest, err = v.complete(to); err != nil {
			return err
		}
		all := v.entries()
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
