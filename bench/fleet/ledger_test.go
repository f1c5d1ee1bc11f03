//go:build linux

package fleet

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

const (
	// written is how many rules are written where servers read them, and edited how many more of the
	// first site are edited through a server.
	written, edited = 200, 20
	all             = written + edited
)

// ledger knows what was written. A rule's destination names its key and counts its versions, so
// that any answer can be judged: https://dest.example/k7/12 is the version 12 of k7.
type ledger struct {
	mu           sync.Mutex
	attempted    [all]int // the last version that somebody began to write
	acknowledged [all]int // the last one whose writing succeeded
}

// key returns the name of a key.
func key(i int) string { return fmt.Sprint("k", i) }

// destination returns a version of a rule's destination.
func destination(i, version int) string {
	return fmt.Sprintf("https://dest.example/%s/%d", key(i), version)
}

// versionOf returns the version of a destination of a key, or -1 if it is no destination of it.
func versionOf(i int, url string) (version int) {
	rest, isOf := strings.CutPrefix(url, destination(i, 0)[:len(destination(i, 0))-1])
	if _, err := fmt.Sscanf(rest, "%d", &version); !isOf || err != nil ||
		destination(i, version) != url {
		return -1
	}
	return version
}

// begin returns the next version to write.
func (l *ledger) begin(i int) (version int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.attempted[i]++
	return l.attempted[i]
}

// succeed records that a version was written for certain.
func (l *ledger) succeed(i, version int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acknowledged[i] = version
}

// check says why nobody has written a destination of a key.
func (l *ledger) check(i int, url string) (version int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	version = versionOf(i, url)
	if version < 0 || version > l.attempted[i] {
		return 0, fmt.Errorf("%s leads to %q, which nobody has written", key(i), url)
	}
	return version, nil
}

// lost returns how many acknowledged versions of keys are missing from what the sites' stores have,
// and forgets them. The edited ones are in the first store alone.
func (l *ledger) lost(stores []map[string]string) (writes, edits int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range all {
		has := max(0, versionOf(i, stores[0][key(i)]))
		for _, rules := range stores[1:] {
			if i < written {
				has = min(has, max(0, versionOf(i, rules[key(i)])))
			}
		}
		switch isLost := has < l.acknowledged[i]; {
		case isLost && i < written:
			writes++
		case isLost:
			edits++
		}
		l.acknowledged[i] = min(l.acknowledged[i], has)
	}
	return writes, edits
}

func TestTheLedgerKnowsWhatWasWritten(t *testing.T) {
	var l ledger
	l.succeed(7, l.begin(7))
	l.begin(7)
	for url, isWritten := range map[string]bool{
		"https://dest.example/k7/0":   true,
		"https://dest.example/k7/2":   true,
		"https://dest.example/k7/3":   false,
		"https://dest.example/k7/2/x": false,
		"https://dest.example/k77/1":  false,
		"":                            false,
	} {
		if _, err := l.check(7, url); (err == nil) != isWritten {
			t.Errorf("%q: %v", url, err)
		}
	}
	stores := []map[string]string{{"k7": destination(7, 1)}, {"k7": destination(7, 0)}}
	if writes, edits := l.lost(stores); writes != 1 || edits != 0 {
		t.Errorf("%d and %d lost, want the one that one store has not", writes, edits)
	}
	if writes, _ := l.lost(stores); writes != 0 {
		t.Errorf("%d lost the second time", writes)
	}
}
