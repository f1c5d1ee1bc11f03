package resolver

import (
	"strings"
	"testing"
)

func TestOnePassFindsWhatDecodingAgainAndAgainFinds(t *testing.T) {
	r := newRandom(1)
	unsafe := 0
	for range 60_000 {
		pieces := make([]string, 1+r.IntN(8))
		for i := range pieces {
			pieces[i] = r.one("%", "%", "2", "5", "25", "%2", "e", "%2e", "%2E", ".", "..", "/",
				"%2f", "%5C", "5c", "0", "%0", "7f", "a")
		}
		path := "/" + strings.Join(pieces, "")
		if hasDotSegment(path) {
			continue // of these no pathname is left
		}
		want := plainUnsafe(path)
		if got := unsafePath(path, nil); got != want {
			t.Fatalf("%q: %v, want %v", path, got, want)
		}
		if want {
			unsafe++
		}
	}
	if unsafe < 1000 {
		t.Errorf("only %d of the paths are unsafe", unsafe)
	}
}

func TestAPathThatIsEscapedAThousandTimesIsSeenThrough(t *testing.T) {
	for suffix, want := range map[string]bool{"2e.": true, "2e./x": true, "2e.x": false, "00": true,
		"41": false} {
		path := "/%" + strings.Repeat("25", 1_000_000) + suffix
		if got := unsafePath(path, nil); got != want {
			t.Errorf("…%s: %v, want %v", suffix, got, want)
		}
	}
}

func TestTheScratchMemoryOfAPathIsNotItsBuffersContent(t *testing.T) {
	buffer := append(make([]byte, 0, 64), "Location: "...)
	if unsafePath("/%41%42", buffer) || string(buffer) != "Location: " {
		t.Errorf("the buffer is %q", buffer)
	}
}
