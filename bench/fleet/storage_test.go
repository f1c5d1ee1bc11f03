//go:build linux

package fleet

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// shared is a storage that all servers share: their rules are an entry of it.
type shared struct {
	*fleet
	storage string
}

// startShared starts everything, with requests and edits.
func startShared(t *testing.T) *shared {
	l := newLab(t)
	s := &shared{storage: l.newDisk(t)}
	first := make(map[string]string)
	for i := range all {
		first[key(i)] = destination(i, 0)
	}
	content, err := json.Marshal(first)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, s.entry(), content)
	s.fleet = l.newFleet(t, [3]string{s.storage, s.storage, s.storage}, func() []site {
		return []site{{"storage", "from storage links.json {\n\t\t\tpoll 1s\n\t\t}"}}
	})
	s.write = s.edit
	s.stored = func(context.Context) ([]map[string]string, error) {
		content, err := os.ReadFile(s.entry())
		if err != nil {
			return nil, err
		}
		rules := make(map[string]string)
		return []map[string]string{rules}, json.Unmarshal(content, &rules)
	}
	s.isEdited = true
	s.run(t)
	return s
}

// entry returns the file of the entry.
func (s *shared) entry() string { return filepath.Join(s.storage, "links.json") }

func TestServersStayRightWhileTheStorageThatTheyShareBreaks(t *testing.T) {
	s := startShared(t)
	s.sufferAll(t, []fault{
		{
			name: "each server is killed", happen: s.restartServers,
			expected: "its clients are refused until it is started again",
		},
		{
			name: "the disk of the storage is full", expected: "edits are refused; rules serve",
			happen: func(t *testing.T) {
				free := fillDisk(t, s.storage)
				pause(t.Context(), 2*time.Second)
				s.restartServers(t)
				free()
			},
		},
		{
			name: "the entry is gone, and comes back", expected: "the last rules serve",
			happen: func(t *testing.T) {
				s.writing.Lock()
				defer s.writing.Unlock()
				if err := os.Rename(s.entry(), s.entry()+".away"); err != nil {
					t.Fatal(err)
				}
				pause(t.Context(), 3*time.Second)
				if err := os.Rename(s.entry()+".away", s.entry()); err != nil {
					t.Fatal(err)
				}
			},
		},
	})
}
