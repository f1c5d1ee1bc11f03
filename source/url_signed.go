package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"time"

	"aead.dev/minisign"
	"go.uber.org/zap"
)

// mismatch is the error of rules and a signature that do not belong together.
type mismatch struct{ error }

// signaturePause is how long after a mismatch all is fetched once more.
const signaturePause = time.Second

// signedAt is the Unix time of a signature, 0 for none.
type signedAt int64

// mark returns a version that tells the time, too.
func (t signedAt) mark(version string) string {
	if t == 0 || version == "" {
		return version
	}
	return fmt.Sprintf("signed %d %s", t, version)
}

// unmark returns the two parts of a version.
func unmark(marked string) (t signedAt, version string) {
	if _, err := fmt.Sscanf(marked, "signed %d %s", &t, &version); err != nil {
		return 0, marked
	}
	return t, version
}

// String returns the time for messages.
func (t signedAt) String() string { return time.Unix(int64(t), 0).UTC().Format(time.RFC3339) }

// verify reads the rules to the end, and returns the time of their signature. The error says that
// it is not valid, or older than one that has served.
func (s *URL) verify(rules *reading, signature []byte) (signed signedAt, err error) {
	signedRules := minisign.NewReader(rules)
	if _, err := io.Copy(io.Discard, signedRules); err != nil || s.content.publicKey == nil {
		return 0, err
	}
	if !signedRules.Verify(*s.content.publicKey, signature) {
		return 0, mismatch{s.content.signatureProblem(signature)}
	}
	if signed, err = timeOf(signature); err != nil {
		return 0, err
	}
	served, err := s.lastSigned(rules.ctx)
	if err == nil && signed < served {
		err = fmt.Errorf("its signature is of %s, and rules with one of %s have served: the server "+
			"has old rules again; sign these anew if they are meant, or, if a clock was wrong, delete "+
			"%s in Caddy's storage and restart Caddy", signed, served, s.storageKey(".signed"))
	}
	return signed, err
}

// timeOf returns the time in the trusted comment of a signature, which minisign writes there.
func timeOf(signature []byte) (t signedAt, err error) {
	var parsed minisign.Signature
	err = parsed.UnmarshalText(signature)
	for field := range strings.FieldsSeq(parsed.TrustedComment) {
		if digits, is := strings.CutPrefix(field, "timestamp:"); is {
			n, err := strconv.ParseInt(digits, 10, 64)
			return signedAt(n), err
		}
	}
	return 0, errors.Join(err, errors.New("its signature has no time to tell older rules by; sign "+
		"without -t, or begin the trusted comment with timestamp:<Unix time>"))
}

// floor is the time of the newest signature that has served.
type floor struct {
	mu      sync.Mutex
	time    signedAt
	isKnown bool       // from Caddy's storage
	storing sync.Mutex // held while it is stored
}

// lastSigned returns the time of the newest signature that has served, here or before a restart.
func (s *URL) lastSigned(ctx context.Context) (signedAt, error) {
	s.floor.mu.Lock()
	defer s.floor.mu.Unlock()
	if s.floor.isKnown {
		return s.floor.time, nil
	}
	stored, err := callBounded(ctx, newBoundedCalls(storageLimit),
		func(ctx context.Context) ([]byte, error) {
			return s.storage.Load(ctx, s.storageKey(".signed"))
		})
	n := int64(0)
	if err == nil {
		n, err = strconv.ParseInt(string(stored), 10, 64)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("the time of the last signature cannot be read from Caddy's storage: %w",
			plainly(err))
	}
	s.floor.time, s.floor.isKnown = max(s.floor.time, signedAt(n)), true
	return s.floor.time, nil
}

// Serves records the version of rules that begin to serve, in the background also in Caddy's
// storage; see [Serving].
func (s *URL) Serves(version string) {
	signed, _ := unmark(version)
	s.floor.mu.Lock()
	defer s.floor.mu.Unlock()
	if signed > s.floor.time {
		s.floor.time = signed
		go s.storeSigned()
	}
}

// storeSigned stores the time of the newest signature that has served.
func (s *URL) storeSigned() {
	s.floor.storing.Lock()
	defer s.floor.storing.Unlock()
	s.floor.mu.Lock()
	signed := s.floor.time
	s.floor.mu.Unlock()
	err := doBounded(context.Background(), newBoundedCalls(storageLimit),
		func(ctx context.Context) error {
			text := strconv.FormatInt(int64(signed), 10)
			return s.storage.Store(ctx, s.storageKey(".signed"), []byte(text))
		})
	if err != nil {
		s.logger.Error("storing the time of the last signature failed; older rules could serve after "+
			"a restart", zap.Stringer("source", s), zap.Error(err))
	}
}
