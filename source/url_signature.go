package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"aead.dev/minisign"
	"go.uber.org/zap"
)

// mismatch is the error of rules and a signature that do not belong together.
type mismatch struct{ error }

// signaturePause is how long after a mismatch all is fetched once more.
const signaturePause = time.Second

// verify returns the time of the rules' signature, 0 if none is needed. The error says that it is
// not valid, or older than one that has served.
func (s *URL) verify(ctx context.Context, rules, signature []byte) (signed int64, err error) {
	if s.content.publicKey == nil {
		return 0, nil
	}
	if !minisign.Verify(*s.content.publicKey, rules, signature) {
		return 0, mismatch{s.content.signatureProblem(signature)}
	}
	if signed, err = timeOf(signature); err != nil {
		return 0, err
	}
	newest, err := s.newestServed(ctx)
	if err == nil && signed < newest {
		err = fmt.Errorf("its signature is of %s, and rules with one of %s have served: the server "+
			"has old rules again; sign these anew if they are meant, or, if a clock was wrong, delete "+
			"%s in Caddy's storage and restart Caddy", inUTC(signed), inUTC(newest),
			s.storageKey(".signed"))
	}
	return signed, err
}

func inUTC(unix int64) string { return time.Unix(unix, 0).UTC().Format(time.RFC3339) }

// timeOf returns the time in the trusted comment of a signature, which minisign writes there.
func timeOf(signature []byte) (unix int64, err error) {
	var parsed minisign.Signature
	err = parsed.UnmarshalText(signature)
	for field := range strings.FieldsSeq(parsed.TrustedComment) {
		if digits, is := strings.CutPrefix(field, "timestamp:"); is {
			return strconv.ParseInt(digits, 10, 64)
		}
	}
	return 0, errors.Join(err, errors.New("its signature has no time to tell older rules by; sign "+
		"without -t, or begin the trusted comment with timestamp:<Unix time>"))
}

// newestServed returns the time of the newest signature of rules that have served, here or before a
// restart.
func (s *URL) newestServed(ctx context.Context) (int64, error) {
	if s.isServedLoaded {
		return s.served.Load(), nil
	}
	stored, err := callBounded(ctx, newBoundedCalls(storageLimit),
		func(ctx context.Context) ([]byte, error) {
			return s.storage.Load(ctx, s.storageKey(".signed"))
		})
	newest := int64(0)
	if err == nil {
		newest, err = strconv.ParseInt(string(stored), 10, 64)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("the time of the last signature cannot be read from Caddy's storage: %w",
			plainly(err))
	}
	s.served.Store(newest)
	s.isServedLoaded = true
	return newest, nil
}

// recordServed records the time of rules that begin to serve, in the background also in Caddy's
// storage; see [Reachability].
func (s *URL) recordServed(version string) {
	f := s.lastRead.Load()
	if f == nil || f.version != version || f.signed <= s.served.Load() {
		return
	}
	s.served.Store(f.signed)
	go s.storeServed()
}

func (s *URL) storeServed() {
	s.storing.Lock()
	defer s.storing.Unlock()
	err := doBounded(context.Background(), newBoundedCalls(storageLimit),
		func(ctx context.Context) error {
			text := strconv.FormatInt(s.served.Load(), 10)
			return s.storage.Store(ctx, s.storageKey(".signed"), []byte(text))
		})
	if err != nil {
		s.logger.Error("storing the time of the last signature failed; older rules could serve after "+
			"a restart", zap.Stringer("source", s), zap.Error(err))
	}
}
