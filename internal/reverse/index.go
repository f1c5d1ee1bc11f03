package reverse

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// Index finds the keys that lead to a page. It never changes, and is safe for concurrent use.
// Unlisted rules are not included.
//
// A key can lead to a page in three ways: its destination is the page; its destination is above the
// page, and the rest of the path is appended; or the key is a template. What is found in these ways
// is a candidate. It is a short URL only if it leads to the page when it is resolved.
type Index struct {
	ruleset *resolver.Ruleset
	table   table
	// templates are those with a destination, by number. leadOn is set if one of them leads to another
	// key, so that any rule may change its destination.
	templates map[int]*template
	leadOn    bool
	// origins has the hashes of the origins of destinations. slashed is set if some of their paths end
	// in "/". Both may still count removed rules.
	origins  origins
	slashed  bool
	searches *sync.Pool // of *search
}

// New returns the index of a ruleset. It calls the ruleset's Pause while it visits the rules.
func New(ruleset *resolver.Ruleset) *Index {
	x := &Index{ruleset: ruleset, templates: map[int]*template{}, searches: new(sync.Pool)}
	entries := make([]entry, 0, ruleset.Len())
	for n, d := range ruleset.Destinations() {
		x.note(n, &d)
		if e := x.entryOf(n, &d); e != 0 {
			entries = append(entries, e)
		}
	}
	steps := 0
	slices.SortFunc(entries, func(a, b entry) int {
		steps++
		ruleset.PauseAfter(steps)
		if a.hash() != b.hash() { // here, as it is nearly always so
			return cmp.Compare(a, b)
		}
		return x.compare(a, b)
	})
	x.table = newTable(entries)
	return x
}

// Follow returns the index of the ruleset that serves next, or nil if x is nil. If that ruleset
// shares its numbers with the one before, the cost is proportional to the difference.
func (x *Index) Follow(ruleset *resolver.Ruleset) *Index {
	switch {
	case x == nil:
		return nil
	case !x.ruleset.SharesNumbers(ruleset):
		return New(ruleset)
	}
	next := *x
	next.ruleset = ruleset
	var edits []edit
	for n := range next.differing(x) {
		var old, now entry
		if d, ok := x.ruleset.DestinationOf(n); ok {
			old = x.entryOf(n, &d)
		}
		if d, ok := ruleset.DestinationOf(n); ok {
			next.note(n, &d)
			now = next.entryOf(n, &d)
		}
		if old != now {
			edits = append(edits, edit{old, true}, edit{now, false})
		}
	}
	edits = slices.DeleteFunc(edits, func(e edit) bool { return e.entry == 0 })
	slices.SortFunc(edits, func(a, b edit) int { return next.compare(a.entry, b.entry) })
	next.table = x.table.with(edits, next.compare)
	return &next
}

// differing returns the numbers whose rules may lead elsewhere than before. If templates are among
// them, x gets its own copy of the templates.
func (x *Index) differing(before *Index) map[int]bool {
	numbers, inTemplates := map[int]bool{}, false
	for n := range x.ruleset.Differing(before.ruleset) {
		numbers[n] = true
		inTemplates = inTemplates || resolver.IsTemplate(x.ruleset.KeyOf(n))
	}
	if !inTemplates && (!x.leadOn || len(numbers) == 0) {
		return numbers
	}
	x.templates = maps.Clone(x.templates)
	for n, t := range before.templates {
		if inTemplates || t.leadsOn { // one may also take the paths of another
			numbers[n] = true
			delete(x.templates, n)
		}
	}
	return numbers
}

// note records where the rule with a number leads.
func (x *Index) note(n int, d *resolver.Destination) {
	if d.Base != "" {
		origin, path := cutOrigin(d.Base)
		x.origins.add(hashOf(origin))
		x.slashed = x.slashed || strings.HasSuffix(path, "/")
		return
	}
	t, _ := newTemplate(x.ruleset, n, resolver.Request{Scheme: "https", Host: standIn})
	if t.origin == "https://"+standIn {
		t.origin = ""
	}
	if t.isReversible() && !d.Unlisted {
		t.entry = newEntry(hashOf(t.origin).add(t.beginning()).sum(templatesHash), n, d.Exact)
	}
	x.origins.add(hashOf(t.origin))
	t.sampled = "" // of which nobody asks the index
	x.templates[n] = t
	x.leadOn = x.leadOn || t.leadsOn
}

// standIn is a host that nobody has. It replaces the host of the request.
const standIn = "request.invalid"

// entryOf returns the entry of a rule, or 0 if the rule leads to no page. Clients do not send
// fragments, so no page has one.
func (x *Index) entryOf(n int, d *resolver.Destination) entry {
	switch {
	case d.Base == "":
		return x.templates[n].entry
	case d.Unlisted || d.Fragment != "":
		return 0
	}
	var memory [128]byte
	origin, path := cutOrigin(d.Base)
	hash := hashOf(origin).add(text(weburl.AppendCanonicalPath(memory[:0], path)))
	return newEntry(hash.sum(hashOf(searchOf(d.Query))), n, d.Exact)
}

// compare orders entries with one hash: the better short URL comes first.
func (x *Index) compare(a, b entry) int {
	if a.hash() != b.hash() {
		return cmp.Compare(a, b)
	}
	return compareShort(x.ruleset.KeyOf(a.number()), x.ruleset.KeyOf(b.number()))
}

// pageHash is the FNV-1a hash of an origin and a path, or of their beginning.
type pageHash uint64

func hashOf(text string) pageHash { return pageHash(14695981039346656037).add(text) }

func (h pageHash) addByte(b byte) pageHash { return (h ^ pageHash(b)) * 1099511628211 }

func (h pageHash) add(text string) pageHash {
	for i := range len(text) {
		h = h.addByte(text[i])
	}
	return h
}

// sum returns the hash of a page with a query, never 0.
func (h pageHash) sum(query pageHash) uint32 {
	return max(1, uint32((h^query<<1)*0x9e3779b97f4a7c15>>32))
}

// templatesHash replaces a query in the hashes of templates.
const templatesHash pageHash = 1

// origins is a set of hashes of origins. If has returns false, no destination has the origin; true
// may be a collision.
type origins [1024]uint64

func (o *origins) add(origin pageHash) { o[origin.sum(0)>>22] |= 1 << (origin & 63) }

func (o *origins) has(origin pageHash) bool { return o[origin.sum(0)>>22]>>(origin&63)&1 != 0 }
