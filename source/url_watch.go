package source

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	// firstPause is how soon after a failure the server is asked again. Further pauses double, up to
	// the interval of polls.
	firstPause = time.Second
	// longestRetryAfter bounds how long a server can ask to be left alone.
	longestRetryAfter = time.Hour
)

// polling says when to ask next, by how the last request went.
type polling struct {
	mu       sync.Mutex
	hasAsked bool
	backoff  time.Duration // 0 after a success
	notUntil time.Time     // as the server has asked for
}

// note records how a request went.
func (p *polling) note(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hasAsked, p.notUntil = true, time.Time{}
	if err == nil {
		p.backoff = 0
		return
	}
	p.backoff = min(max(2*p.backoff, firstPause), longestRetryAfter)
	if status, is := errors.AsType[*statusError](err); is {
		p.notUntil = time.Now().Add(min(status.retryAfter, longestRetryAfter))
	}
}

// next returns the pause before the next request of a source that is polled at an interval, 0 for
// never. isOver says that there is none.
func (p *polling) next(every time.Duration) (pause time.Duration, isOver bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.hasAsked || every == 0 {
		return 0, p.hasAsked
	}
	pause = every
	if p.backoff > 0 {
		pause = min(every, p.backoff)
	}
	// A fleet that starts at once does not ask at once.
	pause += rand.N(pause/5+1) - pause/10
	left := max(0, time.Until(p.notUntil))
	return max(pause, left+rand.N(left/10+1)), false
}

// retryAfter returns how long a response asks to wait. A time is one of the server's clock, if the
// response tells that.
func retryAfter(header http.Header) time.Duration {
	written := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(written, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	until, err := http.ParseTime(written)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return until.Sub(now)
}
