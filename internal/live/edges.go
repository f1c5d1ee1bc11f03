package live

import (
	"time"

	"github.com/caddy-shortlink/shortlink/internal/ahead"
	"github.com/caddy-shortlink/shortlink/internal/pace"
	"github.com/caddy-shortlink/shortlink/internal/place"
	"github.com/caddy-shortlink/shortlink/internal/report"
	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
)

// tick is how often the clock is looked at while there are windows: it may be set, and a machine
// may sleep, neither of which timers notice.
const tick = time.Second

// early is how long before an edge its rules are derived, which takes a while where many change.
const early = 10 * time.Second

// edge is what serves from an edge on.
type edge struct {
	*candidate
	inRules error // as of [schedule.Rules.Turn]
}

// edgeAt returns what serves at a time in place of what serves now.
func edgeAt(at schedule.Time, now *Loaded) edge {
	e := edge{candidate: newCandidate(now)}
	e.inRules = e.turn(at)
	e.countBroken()
	return e
}

// isReady reports whether the edge can take the place of what serves now, at a time.
func (e edge) isReady(at schedule.Time, now *Loaded) bool {
	return e.candidate != nil && e.base == now && e.IsFor(at)
}

// followClock lets windows begin and end until the configuration is unloaded.
func (rs *Ruleset) followClock() {
	if !rs.shared.timing.LockWithin(rs.Context) {
		return
	}
	defer rs.shared.timing.Unlock()
	var looking, looked *ahead.Look // looked came to its end
	var ready edge
	for {
		var next <-chan time.Time
		if serving := rs.Serving(); serving.HasWindows() {
			now := time.Now()
			if !serving.IsFor(schedule.At(now)) {
				rs.turn(schedule.At(now), ready)
				ready = edge{}
				continue
			}
			if looking != serving.ahead {
				if looking != nil && looking.IsDone() {
					looked = looking
				}
				looking = serving.ahead
				go rs.lookAhead(looked, serving) // it takes a while
			}
			left := tick
			if at, ok := serving.NextEdge(); ok {
				away := at.Sub(now.Round(0)) // by the clock on the wall
				left = min(left, away)
				if away < early && !ready.isReady(schedule.At(at), serving) {
					ready = edgeAt(schedule.At(at), serving)
					continue
				}
			}
			next = time.After(left)
		}
		select {
		case <-rs.Context.Done():
			return
		case <-next:
		case <-rs.shared.windowed:
		}
	}
}

// turn swaps in the ruleset of a time, beside any load that goes on. It is the ready one if nothing
// else has come since that was derived.
func (rs *Ruleset) turn(now schedule.Time, ready edge) {
	rs.shared.swapping.Lock()
	old, next := rs.Serving(), ready
	if !next.isReady(now, old) {
		next = edgeAt(now, old)
	}
	rs.shared.replace(old, next.Loaded)
	rs.shared.swapping.Unlock()
	// Files are read for it, and somebody may listen: the next window does not wait for them.
	go func() { rs.reporter.Tell(next.versions, rs.turned(old, next)...) }()
	if next.Ruleset.IsWorn() {
		go rs.alone(func() error { return nil }) //nolint:errcheck // it recompiles
	}
}

// turn makes the candidate that of another time, like [schedule.Rules.Turn].
func (c *candidate) turn(at schedule.Time) error {
	derived, err := c.Turn(at)
	c.follow(derived, nil)
	return err
}

// catchUp brings a candidate up to date with what serves: an edge may have come since it was begun.
// With many rules that takes a while, but only for the first edge.
func (c *candidate) catchUp(serving *Loaded) {
	if c.base == nil || c.base == serving {
		return
	}
	if c.Ruleset.SharesNumbers(serving.Ruleset) { // both have given the next number to a key
		if anew, err := c.Rules.Recompile(); err == nil {
			c.Rules = anew
		}
	}
	difference, fresh := c.difference, c.fresh
	_ = c.turn(serving.At()) // its error was reported at the edge
	c.difference, c.fresh = difference, fresh
	c.countBroken()
	c.base = serving
}

// turned returns the notices of an edge: what has changed, and what fails since then.
func (c *Config) turned(old *Loaded, next edge) []report.Notice {
	notices := []report.Notice{next.told(c.Name, old.Digest, next.fresh).OfEdge()}
	fail := func(message string, err error) {
		if err != nil {
			notices = append(notices, report.Failing(c.Name, next.Digest, message, err))
		}
	}
	fail("windows that begin cannot serve, and wait for the next edge", next.inRules)
	if c.check(old.Ruleset, old.expected) == nil {
		fail("an expectation fails now that a window begins or ends, which takes effect all the same",
			c.check(next.Ruleset, next.expected))
	}
	fail("keys are answered with an error now that a window begins or ends",
		c.brokenBy(next.Loaded, old.Ruleset))
	return notices
}

// lookAhead finds out what fails at edges to come, and logs what was not known before: that is the
// last look that came to its end, nil for none.
func (rs *Ruleset) lookAhead(before *ahead.Look, serving *Loaded) {
	pause := pace.New().Pause
	serving.ahead.At(&serving.Rules, rs.checkOf(serving), func() bool {
		pause()
		return rs.Context.Err() == nil && rs.Serving().ahead == serving.ahead
	})
	if !serving.ahead.IsDone() {
		return // something else serves
	}
	warnings := serving.ahead.NewWarnings(before, serving.At())
	if before == nil { // an edge tells of later ones
		warnings = append(ahead.FailingNow(&serving.Rules, rs.checkOf(serving)), warnings...)
	}
	rs.reporter.Warn(serving.versions, warnings)
}

// WindowFindings returns what there is to say of the windows of rules that [Ruleset.CompileRules]
// has compiled, as [ahead.Findings].
func (rs *Ruleset) WindowFindings() []lint.Finding {
	if rs.compiled == nil {
		return nil
	}
	return ahead.Findings(&rs.compiled.Rules, rs.checkOf(rs.compiled))
}

// LooksAhead tells that what fails at edges to come is still being found out.
func (l *Loaded) LooksAhead() bool { return !l.ahead.IsDone() }

// EdgeWarnings returns the warnings of what fails at edges to come, as far as that is known, and of
// an expectation that has failed since an edge.
func (c *Config) EdgeWarnings(of *Loaded) []lint.Warning {
	warnings := append(ahead.FailingNow(&of.Rules, c.checkOf(of)), of.ahead.Warnings(of.At())...)
	return place.OfWarnings(c.Context, c.Sources, of.versions, warnings)
}
