package live

import (
	"slices"
	"sync"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// backlog is which sources may hold other rules than those that serve: they have said so, or what
// they hold has been rejected.
type backlog struct {
	mu  sync.Mutex
	all []unread // by source; may be shorter
}

// unread is what is still to be read of a source.
type unread struct {
	isStale bool
	// isWhole tells that all of its rules have to be read, and that it need not be asked for changes.
	isWhole bool
	// passed are changes that a [source.Changing] has passed already, and that do not serve.
	passed []resolver.RuleChange
}

// add adds what is still to be read of a source.
func (b *backlog) add(i int, what unread) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.all) <= i {
		b.all = append(b.all, unread{})
	}
	one := &b.all[i]
	one.isStale = one.isStale || what.isStale
	one.isWhole = one.isWhole || what.isWhole
	one.passed = lastOfEach(append(what.passed, one.passed...))
}

// take returns what is to be read of a number of sources, and leaves nothing.
func (b *backlog) take(sources int) []unread {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := make([]unread, sources)
	copy(taken, b.all)
	b.all = nil
	return taken
}

// lastOfEach leaves the last change of each key, so that those of a source that is rejected for
// long do not become ever more.
func lastOfEach(changes []resolver.RuleChange) []resolver.RuleChange {
	seen := make(map[string]bool, len(changes))
	var last []resolver.RuleChange
	for _, change := range slices.Backward(changes) {
		if !seen[change.Key] {
			seen[change.Key] = true
			last = append(last, change)
		}
	}
	slices.Reverse(last)
	return last
}

// isStale reports whether a source is to be read.
func isStale(what unread) bool { return what.isStale }
