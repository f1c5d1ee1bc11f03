package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
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
	var parsed minisign.Signature
	_ = parsed.UnmarshalText(signature) // which Verify has done
	if _, err := fmt.Sscanf(parsed.TrustedComment, "timestamp:%d", &signed); err != nil {
		return 0, errors.New("its signature has no time to tell older rules by; sign without -t, or " +
			"begin the trusted comment with timestamp:<Unix time>")
	}
	newest, err := s.newestServed(ctx)
	if err == nil && signed < newest {
		err = fmt.Errorf("its signature is of %s, and rules with one of %s have served: the server "+
			"has old rules again; sign these anew if they are meant, or, if a clock was wrong, delete "+
			"%s.signed in Caddy's storage and restart Caddy", inUTC(signed), inUTC(newest), s.keptAt)
	}
	return signed, err
}

func inUTC(unix int64) string { return time.Unix(unix, 0).UTC().Format(time.RFC3339) }

// newestServed returns the time of the newest signature of rules that have served, here or before a
// restart.
func (s *URL) newestServed(ctx context.Context) (newest int64, err error) {
	if s.isServedLoaded {
		return s.served.Load(), nil
	}
	if newest, err = s.storedServed(ctx); err == nil {
		s.served.Store(newest)
	}
	s.isServedLoaded = err == nil
	return newest, err
}

// storedServed returns that time as Caddy's storage has it, which several servers may share.
func (s *URL) storedServed(ctx context.Context) (unix int64, err error) {
	stored, err := s.kept.load(ctx, s.keptAt+".signed")
	if err == nil {
		unix, err = strconv.ParseInt(string(stored), 10, 64)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return unix, nil
	}
	return 0, fmt.Errorf("the time of the last signature cannot be read from Caddy's storage: %w", err)
}

// recordServed records the time of rules that begin to serve, in the background also in Caddy's
// storage; see [Reachability].
func (s *URL) recordServed(version string) {
	f := s.lastRead.Load()
	if f == nil || f.state != version || f.signed <= s.served.Load() {
		return
	}
	s.served.Store(f.signed)
	go s.storeServed()
}

func (s *URL) storeServed() {
	s.storing.Lock()
	defer s.storing.Unlock()
	served := s.served.Load()
	stored, err := s.storedServed(context.Background())
	if err == nil && stored < served {
		text := strconv.FormatInt(served, 10)
		err = s.kept.store(context.Background(), s.keptAt+".signed", []byte(text))
	}
	if err != nil {
		s.logger.Error("storing the time of a signature failed; older rules may serve after a restart",
			zap.Error(err))
	}
}
