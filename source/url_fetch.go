package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/fetch"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// The parts of what lies at the URLs of a source, and the prefixes of errors about them.
const (
	ofRules = iota
	ofExpectations
	ofSignature
)

var partPrefixes = [...]string{ofExpectations: "its expectations: ",
	ofSignature: "its signature, at the same path with .minisig: "}

// fetched is what lies at all URLs of a source, or the error of fetching it.
type fetched struct {
	parts  [len(partPrefixes)]fetch.Resource
	signed int64  // when, as Unix time; 0 for no signature
	state  string // what polls compare; the version of rules that can be read
	err    error
}

// open calls use with the rules that were fetched last.
func (s *URL) open(_ context.Context, use func(io.Reader) error) error {
	if s.now.err != nil {
		return s.now.err
	}
	return use(bytes.NewReader(s.now.parts[ofRules].Text))
}

// beside returns a function that returns the text of another part.
func (s *URL) beside(part int) func(context.Context) ([]byte, error) {
	return func(context.Context) ([]byte, error) { return s.now.parts[part].Text, nil }
}

// look returns the state of what lies at the URLs, and keeps that for the next Read if it is new.
func (s *URL) look(ctx context.Context) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.content.seen.last()
	s.attempt(ctx, *s.now)
	if s.now.err == nil && s.now.parts[ofRules].Text == nil { // the server says: not modified
		return s.now.state
	}
	s.now.state = s.content.state(ctx)
	if s.isUnread = s.isUnread || s.now.state != before; !s.isUnread {
		s.now.parts[ofRules].Text = nil // which may be large
	}
	return s.now.state
}

// attempt fetches what is not known, within the time limit, and notes how that went.
func (s *URL) attempt(ctx context.Context, known fetched) {
	limit := time.Duration(s.Timeout)
	limited, cancel := context.WithTimeoutCause(ctx, limit, noAnswer(limit))
	defer cancel()
	now, err := s.fetch(limited, known)
	if _, is := errors.AsType[mismatch](err); is {
		// Perhaps rules and signature were being replaced, one after the other.
		select {
		case <-time.After(signaturePause):
			now, err = s.fetch(limited, fetched{})
		case <-limited.Done():
		}
	}
	if late, is := errors.AsType[noAnswer](context.Cause(limited)); is && err != nil {
		err = fmt.Errorf("%w for all of it; if the server needs longer, set timeout", late)
	}
	if err != nil {
		now = fetched{err: err}
	}
	s.now, s.due = &now, time.Now().Add(s.pauseAfter(err))
}

// fetch asks for all parts. If another one has changed, it gets the rules even if they are known.
func (s *URL) fetch(ctx context.Context, known fetched) (now fetched, err error) {
	targets, err := s.targets()
	if err != nil {
		return now, err
	}
	now, now.err = known, nil
	client := s.client
	client.HeaderFor, client.Header = targets[ofRules], s.header(targets[ofRules])
	for i, target := range slices.Backward(targets[:]) {
		if target == nil {
			continue
		}
		if now.parts[i], err = client.Get(ctx, target, known.parts[i]); err != nil {
			return now, fmt.Errorf("%s%w", partPrefixes[i], err)
		}
		if !bytes.Equal(now.parts[i].Text, known.parts[i].Text) {
			known.parts[ofRules] = fetch.Resource{}
		}
	}
	rules := now.parts[ofRules]
	if rules.Text == nil {
		return now, nil
	}
	if s.content.format, err = s.formatBy(rules, targets[ofRules].Path); err != nil {
		return now, err
	}
	now.signed, err = s.verify(ctx, rules.Text, now.parts[ofSignature].Text)
	return now, err
}

// formatBy returns the format that is written, or that the media type tells, or the path.
func (s *URL) formatBy(rules fetch.Resource, path string) (rulefile.Format, error) {
	media := rules.MediaType
	switch {
	case s.Format != "":
	case media == "application/json" || strings.HasSuffix(media, "+json"):
		return rulefile.JSON, nil
	case media == "text/csv" || media == "text/tab-separated-values":
		return rulefile.CSV, nil
	case media == "text/html" || media == "application/xhtml+xml":
		redirected := ""
		if rules.IsRedirected {
			redirected = "; a redirect leads there: check header, and whether one has to sign in"
		}
		return "", fmt.Errorf("%.253s: it answers with a page, of Content-Type %s: write the URL of the "+
			"raw file, or, if these are rules, their format%s", rules.Host, media, redirected)
	}
	return formatOf(s.Format, path)
}

const (
	// firstPause is how soon after a failure the server is asked again. Further pauses double, up to
	// the interval of polls.
	firstPause = time.Second
	// longestRetryAfter bounds how long a server can ask to be left alone.
	longestRetryAfter = time.Hour
)

// pauseAfter returns when to ask again after a request with this error. It is random, so that a
// fleet that starts at once does not ask at once.
func (s *URL) pauseAfter(err error) time.Duration {
	pause := s.every
	switch {
	case pause == 0:
		return math.MaxInt64
	case err == nil:
		s.failures = 0
	default:
		pause = min(pause, firstPause<<min(s.failures, 12))
		s.failures++
	}
	pause += rand.N(pause/5+1) - pause/10
	if status, is := errors.AsType[*fetch.StatusError](err); is {
		left := min(status.RetryAfter, longestRetryAfter)
		pause = max(pause, left+rand.N(left/10+1))
	}
	return pause
}
