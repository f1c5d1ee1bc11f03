package resolver

import "github.com/caddy-shortlink/shortlink/weburl"

// recordWriter makes the records of rules and adds them to the arena.
type recordWriter struct {
	opts  *options
	arena *arena
	// shared are the long parts of destinations that are in the arena once, by their text.
	shared map[string]ref
	merger *weburl.Merger
	// scratch memory
	query, encoded []byte
}

// newRecord returns the record of a valid rule with a canonical key, without its chain. The record
// is valid as long as the key, and until the next call.
func (w *recordWriter) newRecord(rule Rule, key []byte, value parsedValue, source int) record {
	r := record{key: text(key)}
	switch {
	case value.internal:
	case value.outcome != "":
		r.setOutcome(value.outcome)
	default:
		mode := w.opts.queryOf(rule.Query)
		w.query = mode.appendConstantQuery(w.query[:0], w.merger, value.url.Query, "")
		r.base, r.query, r.fragment = value.url.Origin()+value.url.Path, text(w.query), value.url.Hash()
		r.status, r.ownStatus, r.mode = w.opts.statusOf(rule), rule.Status, rule.Query
	}
	r.describe(rule, source)
	return r
}

// store adds a record to the arena.
func (w *recordWriter) store(r *record) ref {
	w.encoded = appendRecord(w.encoded[:0], r)
	return w.arena.add(w.encoded)
}

// longPart is the minimum length of parts of destinations that are shared, in bytes.
const longPart = 256

// share stores long parts once, and all records refer to them: thousands of keys can lead to one
// long URL. It returns how many bytes a chain adds.
func (w *recordWriter) share(r *record) (added int) {
	if r.flags.has(noDestination) {
		return 0
	}
	for i, part := range [...]string{r.base, r.query, r.fragment} {
		if len(part) < longPart {
			added += len(part)
			continue
		}
		at, known := w.shared[part]
		if !known {
			added += len(part)
			if at = r.shared[i]; at == 0 {
				at = w.arena.add([]byte(part))
			}
			w.noteShared(at, len(part))
		}
		if r.shared[i] == 0 {
			r.shared[i] = at
		}
	}
	return added
}

// noteShared records where a long part is stored.
func (w *recordWriter) noteShared(at ref, length int) {
	if w.arena.full {
		return
	}
	if w.shared == nil {
		w.shared = map[string]ref{}
	}
	w.shared[text(w.arena.bytes(at)[:length])] = at
}
