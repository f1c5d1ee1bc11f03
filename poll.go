package shortlink

import (
	"context"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"
)

// pollOff is what is written for a source that is read only when the configuration is loaded.
const pollOff = "off"

// parsePoll returns the interval of a poll, which is 0 for off.
func parsePoll(written string, byDefault time.Duration) (time.Duration, error) {
	switch written {
	case "":
		return byDefault, nil
	case pollOff:
		return 0, nil
	}
	every, err := caddy.ParseDuration(written)
	if err != nil || every <= 0 {
		return 0, fmt.Errorf("poll takes a duration, such as 2s, or off, not %q", written)
	}
	return every, nil
}

// pollState calls changed each time that state returns another text than before, which is last at first.
// It looks once at the start and then every interval until ctx ends; an interval of 0 is never.
func pollState(ctx context.Context, every time.Duration, last string, state func() string, changed func()) {
	if every == 0 {
		return
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		if now := state(); now != last {
			last = now
			changed()
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
