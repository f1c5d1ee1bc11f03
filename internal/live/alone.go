package live

import (
	"time"

	"go.uber.org/zap"
)

// alone runs do while nobody else loads rules. What do has to tell is told after that, as those who
// listen are none of the others' who wait to load.
func (rs *Ruleset) alone(do func() error) error {
	notices, err := func() ([]notice, error) {
		rs.shared.loading.Lock()
		defer rs.letOthersLoad()
		rs.shared.notices = nil
		err := do()
		return rs.shared.notices, err
	}()
	rs.tell(rs.Serving(), notices)
	return err
}

// note adds what is to be told of a load, for who runs alone.
func (rs *Ruleset) note(n notice) { rs.shared.notices = append(rs.shared.notices, n) }

// letOthersLoad lets others run alone, for who does. A worn ruleset is compiled anew first, for
// which neither requests wait nor who has run alone, but the next one who wants to.
func (rs *Ruleset) letOthersLoad() {
	if !rs.isWorn() {
		rs.shared.loading.Unlock()
		return
	}
	go func() {
		defer rs.shared.loading.Unlock()
		rs.renew()
	}()
}

// isWorn reports whether what serves is to be compiled anew, as changes have left much behind, also
// those that were refused.
func (rs *Ruleset) isWorn() bool {
	return rs.Context.Err() == nil && rs.Serving().Ruleset.IsWorn() &&
		!time.Now().Before(rs.shared.wornUntil)
}

// wornShare is how many times as long as a renewal in vain the next one is put off.
const wornShare = 100

// renew lets what serves be compiled anew serve in its place, for who runs alone. Nobody sees a
// difference.
func (rs *Ruleset) renew() {
	old, begun := rs.Serving(), time.Now()
	anew, err := old.Ruleset.Recompile()
	if err != nil || anew.Digest() != old.Digest {
		rs.shared.wornUntil = time.Now().Add(wornShare * time.Since(begun))
		rs.logger.Debug("the rules that serve were not compiled anew",
			zap.String("name", rs.Name), zap.Error(err))
		return
	}
	next := *old
	next.Ruleset = anew
	rs.shared.replace(old, &next)
}
