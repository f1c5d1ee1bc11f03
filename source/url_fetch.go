package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"time"

	"github.com/caddy-shortlink/shortlink/rulefile"
)

// The parts of what lies at the URLs of a source, and the prefixes of errors about them.
const (
	ofRules = iota
	ofSignature
	ofExpectations
)

var partNames = [...]string{"", "its signature: ", "its expectations: "}

// part is what lies at one URL.
type part struct {
	text   []byte // nil for a part that is known and has not changed
	digest uint64
	// etag and modified are the response's validators: they ask whether there is another text.
	etag, modified string
	format         rulefile.Format // as the response tells it
}

// fetched is what lies at all URLs of a source, or the error of fetching it.
type fetched struct {
	parts   [len(partNames)]part
	format  rulefile.Format
	signed  signedAt
	version string // of the content
	isWhole bool   // it has the texts of all parts
	err     error
	at      time.Time
}

func (f *fetched) read(_ context.Context, use func(io.Reader) error) error {
	if f.err != nil {
		return f.err
	}
	return use(bytes.NewReader(f.parts[ofRules].text))
}

func (f *fetched) signature(context.Context) ([]byte, error) { return f.parts[ofSignature].text, nil }

func (f *fetched) expectations(context.Context) ([]byte, error) {
	return f.parts[ofExpectations].text, nil
}

// newest returns what Read reads: what a look has fetched a moment ago, or what is there now.
func (s *URL) newest(ctx context.Context) *fetched {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	f := s.unread
	s.unread = nil
	if f == nil || time.Since(f.at) > time.Second {
		f = s.attempt(ctx, new(fetched))
	}
	return f
}

// look returns the state of what lies at the URLs, and keeps it for the next Read if it has changed.
func (s *URL) look(ctx context.Context) string {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	f, before := s.attempt(ctx, s.known), s.content.seen.last()
	if ctx.Err() != nil {
		return before
	}
	s.content.note(ctx, f.err)
	state := stateOf(f.version, f.err)
	s.unread = nil
	if state != before && (f.isWhole || f.err != nil) {
		s.unread = f
	}
	return state
}

// attempt fetches what is not known, within the time limit. s.turn must be held.
func (s *URL) attempt(ctx context.Context, known *fetched) *fetched {
	limit := time.Duration(s.Timeout)
	limited, cancel := context.WithTimeoutCause(ctx, limit, noAnswer(limit))
	defer cancel()
	f, err := s.fetch(limited, known)
	if _, wrong := errors.AsType[mismatch](err); wrong && sleep(limited, signaturePause) == nil {
		// Perhaps rules and signature were being replaced, one after the other.
		f, err = s.fetch(limited, new(fetched))
	}
	if late, is := errors.AsType[noAnswer](context.Cause(limited)); is && err != nil {
		err = fmt.Errorf("%w for all of it; if the server needs longer, set timeout", late)
	}
	if ctx.Err() == nil {
		s.polling.note(err)
	}
	if err != nil {
		return &fetched{err: err, at: time.Now()}
	}
	f.at = time.Now()
	light := *f
	for i := range light.parts {
		light.parts[i].text = nil
	}
	s.known = &light
	return f
}

// fetch asks for all parts. What is known is asked for only if another part has changed.
func (s *URL) fetch(ctx context.Context, known *fetched) (f *fetched, err error) {
	f = &fetched{format: known.format, signed: known.signed, version: known.version}
	isSame := true
	for _, i := range s.parts {
		if f.parts[i], err = s.get(ctx, i, known.parts[i]); err != nil {
			return nil, err
		}
		isSame = isSame && f.parts[i].digest == known.parts[i].digest
	}
	if isSame {
		return f, nil
	}
	for _, i := range s.parts {
		if f.parts[i].text != nil {
			continue
		}
		if f.parts[i], err = s.get(ctx, i, part{}); err != nil {
			return nil, err
		}
	}
	f.format, f.isWhole = f.parts[ofRules].format, true
	hashed := newReading(ctx, bytes.NewReader(f.parts[ofRules].text), nil)
	f.signed, err = s.verify(hashed, f.parts[ofSignature].text)
	f.version = hashed.version(siblings{f.parts[ofSignature].text, f.parts[ofExpectations].text})
	return f, err
}

// newPart returns a part with its digest.
func newPart(text []byte) part {
	return part{text: text, digest: maphash.Bytes(contentSeed, text)}
}

// sleep waits for a pause. The error is that of ctx.
func sleep(ctx context.Context, pause time.Duration) error {
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
