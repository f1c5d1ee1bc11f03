package live

import (
	"github.com/caddy-shortlink/shortlink/internal/report"
	"time"

	"go.uber.org/zap"
)

// alone runs do while nobody else loads rules. What do reports is told after the lock is released,
// because listeners do not belong to those who wait to load.
func (rs *Ruleset) alone(do func() error) error {
	notices, err := func() ([]report.Notice, error) {
		rs.shared.loading.Lock()
		defer rs.unlockLoading()
		rs.shared.notices = nil
		err := do()
		return rs.shared.notices, err
	}()
	rs.reporter.Tell(rs.Serving().versions, notices...)
	return err
}

// addNotice adds a notice to tell after the load. loading must be held.
func (s *shared) addNotice(n report.Notice) { s.notices = append(s.notices, n) }

// unlockLoading releases shared.loading. A worn ruleset is recompiled first, in the background:
// requests and the caller do not wait for it, but the next load does.
func (rs *Ruleset) unlockLoading() {
	if rs.Context.Err() != nil || !rs.shared.isWorn() {
		rs.shared.loading.Unlock()
		return
	}
	go func() {
		defer rs.shared.loading.Unlock()
		rs.recompile()
	}()
}

// isWorn reports whether the ruleset that serves should be recompiled, because changes, even
// refused ones, have left much garbage in it.
func (s *shared) isWorn() bool {
	return s.serving.Load().Ruleset.IsWorn() && !time.Now().Before(s.wornUntil)
}

// wornShare is how many times the duration of a failed recompilation passes before the next one.
const wornShare = 100

// recompile replaces the ruleset that serves with an equal one that is compact. shared.loading must
// be held.
func (rs *Ruleset) recompile() {
	old, begun := rs.Serving(), time.Now()
	anew, err := old.Rules.Recompile()
	if err != nil || anew.Ruleset.Digest() != old.Ruleset.Digest() {
		rs.shared.wornUntil = time.Now().Add(wornShare * time.Since(begun))
		rs.logger.Debug("the rules that serve were not recompiled",
			zap.String("name", rs.Name), zap.Error(err))
		return
	}
	next := newCandidate(old)
	next.Rules = anew
	rs.put(next)
}
