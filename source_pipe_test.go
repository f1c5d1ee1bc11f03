//go:build unix

package shortlink_test

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// Whoever opens a pipe waits for its other end: nothing would ever be loaded again.
func TestAPipeInThePlaceOfAFileIsRejectedAndNothingWaitsForIt(t *testing.T) {
	s := follow(t, `{"a": "https://old.example"}`, "", "")
	mustDo(t, syscall.Mkfifo(s.links+".pipe", 0o600))
	mustDo(t, os.Rename(s.links+".pipe", s.links))
	if entry := s.logged(t, 1, rejected); !strings.Contains(entry["error"].(string), "it is no file, but a device or pipe") {
		t.Errorf("the entry is %v", entry)
	}
	write(t, s.links, `{"a": "https://new.example"}`)
	s.eventually(t, "/a", "302 https://new.example/")
}
