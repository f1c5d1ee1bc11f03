//go:build linux

package fleet

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

var soak = flag.Duration("soak", 0, "how long servers are edited and reloaded")

// usage is what a server takes at one time.
type usage struct{ memory, handles, goroutines int }

// usage returns what the server takes now; the memory in KiB.
func (s *server) usage() (u usage, err error) {
	proc := fmt.Sprint("/proc/", s.cmd.Process.Pid)
	handles, err := os.ReadDir(proc + "/fd")
	if err != nil {
		return u, err
	}
	u.handles = len(handles)
	status, err := os.ReadFile(proc + "/status")
	if err != nil {
		return u, err
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	if _, err := fmt.Sscan(rest, &u.memory); err != nil {
		return u, err
	}
	response, err := s.admin.Get("http://caddy/debug/pprof/goroutine?debug=1")
	if err != nil {
		return u, err
	}
	defer response.Body.Close()
	profile, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return u, fmt.Errorf("%s: %w", response.Status, err)
	}
	_, err = fmt.Sscanf(string(profile), "goroutine profile: total %d", &u.goroutines)
	return u, err
}

// TestASoakedServerTakesNoMoreThanBefore edits and reloads for as long as the flag soak says. What
// servers take in the last third of that time is compared with the second third. A reload of Caddy
// opens new listeners, and Linux resets the connections that still wait at the old ones: with a
// redir of Caddy's own, too.
func TestASoakedServerTakesNoMoreThanBefore(t *testing.T) {
	skipOutsideLab(t)
	if *soak == 0 {
		t.Skip("-args -soak 1h says for how long")
	}
	l := newLab(t)
	redis := l.startNode(t)
	fill(t, redis.client)
	f := l.newFleet(t, [3]string{}, func() []site { return sites("redis://"+redis.addr, "") })
	f.write, f.stored = set(redis.client, 0), stored(redis.client)
	f.isEdited = true
	f.run(t)
	var samples []usage
	for begun, n := time.Now(), 0; time.Since(begun) < *soak; n++ {
		for i, s := range f.servers {
			s.sites = sites("redis://"+redis.addr, "")
			s.sites[0].source += fmt.Sprintf("\n\t\tcache %ds", n%2+1)
			if err := s.reload(); err != nil {
				t.Fatal(err)
			}
			u, err := s.usage()
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				samples = append(samples, u)
			}
		}
		pause(t.Context(), 5*time.Second)
	}
	f.checkLevel(t, samples)
	f.writing.Lock()
	defer f.writing.Unlock()
	f.settle(t, recovery)
	f.mu.Lock()
	defer f.mu.Unlock()
	dropped := 0
	for _, err := range f.failed {
		if errors.Is(err, syscall.ECONNRESET) {
			dropped++
		} else {
			t.Error(err)
		}
	}
	if dropped > len(samples) {
		t.Errorf("%d connections were dropped in %d reloads of each server", dropped, len(samples))
	}
	t.Logf("%v: %d requests, %d connections dropped; %d writes, %d edits, %d reloads of each server",
		*soak, f.requests, dropped, f.writes, f.edits, len(samples))
}

// checkLevel compares the last third of samples with the second third.
func (f *fleet) checkLevel(t *testing.T, samples []usage) {
	t.Helper()
	third := len(samples) / 3
	second, last := samples[third:2*third], samples[2*third:]
	for _, of := range []struct {
		name  string
		value func(usage) int
	}{
		{"memory in KiB", func(u usage) int { return u.memory }},
		{"handles", func(u usage) int { return u.handles }},
		{"goroutines", func(u usage) int { return u.goroutines }},
	} {
		before, after := median(second, of.value), median(last, of.value)
		t.Logf("%s: %d, then %d", of.name, before, after)
		if after > before+before/10 {
			t.Errorf("%s grow from %d to %d", of.name, before, after)
		}
	}
}

func median(samples []usage, value func(usage) int) int {
	var values []int
	for _, sample := range samples {
		values = append(values, value(sample))
	}
	slices.Sort(values)
	return values[len(values)/2]
}
