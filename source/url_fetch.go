package source

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/fetch"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// The parts of what lies at the URLs of a source, and the prefixes of errors about them.
const (
	ofRules = iota
	ofSignature
	ofExpectations
)

var partPrefixes = [...]string{"", "its signature: ", "its expectations: "}

// fetched is what lies at all URLs of a source, or the error of fetching it.
type fetched struct {
	parts   [len(partPrefixes)]fetch.Resource
	format  rulefile.Format
	reading rulefile.Reading
	signed  int64  // when, as Unix time; 0 for no signature
	version string // of the content
	err     error
}

func (f *fetched) read(_ context.Context, use func(io.Reader) error) error {
	if f.err != nil {
		return f.err
	}
	return use(bytes.NewReader(f.parts[ofRules].Text))
}

// text returns a function that returns the text of a part.
func (f *fetched) text(i int) func(context.Context) ([]byte, error) {
	return func(context.Context) ([]byte, error) { return f.parts[i].Text, nil }
}

// newest returns what Read reads: what a look has fetched a moment ago, or what is there now.
func (s *URL) newest(ctx context.Context) *fetched {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.unread
	s.unread = nil
	if f == nil {
		f = s.attempt(ctx, new(fetched))
	}
	return f
}

// look returns the state of what lies at the URLs, and keeps that for the next Read if it is new.
func (s *URL) look(ctx context.Context) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, before := s.attempt(ctx, s.known), s.content.seen.last()
	if ctx.Err() != nil {
		return before
	}
	s.content.note(ctx, f.err)
	state := stateOf(f.version, f.err)
	s.unread = nil
	if state != before && (f.err != nil || f.parts[ofRules].Text != nil) {
		s.unread = f
	}
	return state
}

// attempt fetches what is not known, within the time limit, and notes how that went.
func (s *URL) attempt(ctx context.Context, known *fetched) *fetched {
	limit := time.Duration(s.Timeout)
	limited, cancel := context.WithTimeoutCause(ctx, limit, noAnswer(limit))
	defer cancel()
	f, err := s.fetch(limited, known)
	if _, is := errors.AsType[mismatch](err); is {
		// Perhaps rules and signature were being replaced, one after the other.
		select {
		case <-time.After(signaturePause):
			f, err = s.fetch(limited, new(fetched))
		case <-limited.Done():
		}
	}
	s.hasAsked, s.notUntil = true, time.Time{}
	if err == nil {
		s.failures = 0
		light := *f
		light.parts[ofRules].Text = nil
		s.known = &light
		return f
	}
	if late, is := errors.AsType[noAnswer](context.Cause(limited)); is {
		err = fmt.Errorf("%w for all of it; if the server needs longer, set timeout", late)
	}
	s.failures++
	if status, is := errors.AsType[*fetch.StatusError](err); is {
		s.notUntil = time.Now().Add(min(status.RetryAfter, longestRetryAfter))
	}
	return &fetched{err: err}
}

// fetch asks for all parts. If one has changed, it gets the rules, too, even if they are known.
func (s *URL) fetch(ctx context.Context, known *fetched) (_ *fetched, err error) {
	f := *known
	for i := range f.parts {
		if f.parts[i], err = s.get(ctx, i, known.parts[i]); err != nil {
			return nil, err
		}
	}
	rules, signature := &f.parts[ofRules], f.parts[ofSignature].Text
	if rules.Text == nil {
		if bytes.Equal(signature, known.parts[ofSignature].Text) &&
			bytes.Equal(f.parts[ofExpectations].Text, known.parts[ofExpectations].Text) {
			return &f, nil
		}
		if *rules, err = s.get(ctx, ofRules, fetch.Resource{}); err != nil {
			return nil, err
		}
	}
	if f.format, err = s.formatBy(rules.MediaType); err != nil {
		return nil, err
	}
	if f.reading, err = s.readingAs(f.format); err != nil {
		return nil, err
	}
	if f.signed, err = s.verify(ctx, rules.Text, signature); err != nil {
		return nil, err
	}
	hashed := newReading(ctx, bytes.NewReader(rules.Text), nil)
	_, err = io.Copy(io.Discard, hashed)
	f.version = hashed.version(siblings{signature, f.parts[ofExpectations].Text})
	return &f, err
}

// get fetches a part, or returns it as it is known; nothing is known of the zero one.
func (s *URL) get(ctx context.Context, i int, known fetch.Resource) (fetch.Resource, error) {
	rules, err := s.target(ofRules)
	target, wrong := s.target(i)
	if err = cmp.Or(err, wrong); err != nil || target == nil {
		return fetch.Resource{}, err
	}
	var header http.Header
	if target.Scheme == rules.Scheme && target.Host == rules.Host {
		header = s.header(rules)
	}
	got, err := s.client.Get(ctx, target, header, known)
	if err != nil {
		err = fmt.Errorf("%s%w", partPrefixes[i], err)
	}
	return got, err
}

// formatBy returns the format that is written, or that the media type tells, or the path.
func (s *URL) formatBy(media string) (rulefile.Format, error) {
	switch {
	case s.Format != "":
		return rulefile.ParseFormat(s.Format)
	case media == "application/json" || strings.HasSuffix(media, "+json"):
		return rulefile.JSON, nil
	case media == "text/csv" || media == "text/tab-separated-values":
		return rulefile.CSV, nil
	case media == "text/html" || media == "application/xhtml+xml":
		return "", fmt.Errorf("it answers with a page, of Content-Type %s: write the URL of the raw "+
			"file, or, if these are rules, their format", media)
	}
	target, err := s.target(ofRules)
	if err != nil {
		return "", err
	}
	return formatOf("", target.Path)
}

const (
	// firstPause is how soon after a failure the server is asked again. Further pauses double, up to
	// the interval of polls.
	firstPause = time.Second
	// longestRetryAfter bounds how long a server can ask to be left alone.
	longestRetryAfter = time.Hour
)

// nextPoll returns a channel that says when to ask next, by how the last request went; nil for
// never.
func (s *URL) nextPoll() <-chan time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	pause := s.every
	switch {
	case !s.hasAsked:
		return time.After(0)
	case s.every == 0:
		return nil
	case s.failures > 0:
		pause = min(pause, firstPause<<min(s.failures-1, 12))
	}
	// A fleet that starts at once does not ask at once.
	pause += rand.N(pause/5+1) - pause/10
	left := max(0, time.Until(s.notUntil))
	return time.After(max(pause, left+rand.N(left/10+1)))
}
