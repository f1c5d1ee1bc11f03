package source

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
)

// pollTakes describes the option.
const pollTakes = "takes a duration of at least 1ms, such as 2s, or off"

// PollOption is the option poll of a source's block; written receives its word.
func PollOption(written *string) BlockOption {
	return parsedOption("poll", pollTakes, written, func(word string) (time.Duration, error) {
		return ParsePoll(word, 0)
	})
}

// pollOff is written for a source that is read only when the configuration is loaded.
const pollOff = "off"

// ParsePoll parses the option poll of a source: 0 for off, and byDefault if it is empty.
func ParsePoll(written string, byDefault time.Duration) (time.Duration, error) {
	switch written {
	case "":
		return byDefault, nil
	case pollOff:
		return 0, nil
	}
	every, err := caddy.ParseDuration(written)
	if err != nil || every < time.Millisecond {
		return 0, fmt.Errorf("poll %s, not %q", pollTakes, written)
	}
	return every, nil
}

// lastSeen is the state in which a source was last seen by a poll or by a reading, which may see
// another. The next poll compares with it, so that what a reading has missed is read again.
type lastSeen struct {
	mu    sync.Mutex
	state string
	// writes counts the writes of this process.
	writes int
}

// see records a state.
func (s *lastSeen) see(state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = state
}

// recordWrite records the state after a write; a poll in progress is ignored, because the state
// that it sees is unknown.
func (s *lastSeen) recordWrite(state string, put func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	err := put()
	if err == nil {
		s.state = state
	}
	return err
}

// lookAt records the state that look returns, unless there was a write meanwhile.
func (s *lastSeen) lookAt(ctx context.Context, look func(context.Context) string) (changed bool) {
	s.mu.Lock()
	before := s.writes
	s.mu.Unlock()
	state := look(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writes != before {
		return false
	}
	changed = state != s.state
	s.state = state
	return changed
}

// begin records the state that an earlier handler has seen, if this one has seen none: a reading
// that failed is not forgotten.
func (s *lastSeen) begin(state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = cmp.Or(s.state, state)
}

// last returns the last state.
func (s *lastSeen) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// poll calls changed whenever look returns a new state. It looks once at the start and then at
// every interval until ctx ends; an interval of 0 never passes.
func (s *lastSeen) poll(ctx context.Context, every time.Duration, look func(context.Context) string,
	changed func()) {
	var ticks <-chan time.Time
	if every > 0 {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		ticks = ticker.C
	}
	for ctx.Err() == nil {
		if s.lookAt(ctx, look) {
			changed()
		}
		select {
		case <-ctx.Done():
		case <-ticks:
		}
	}
}
