package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
)

// The events that the handler emits, for Caddy's events app.
const (
	eventLoaded   = "shortlink_loaded"
	eventRejected = "shortlink_rejected"
)

// namedWarnings is how many warnings of a ruleset are written to the log one by one.
const namedWarnings = 20

// namedKeys is how many keys of each kind a record of a swap names.
const namedKeys = 10

// toldBroken is how many rules that are answered with an error are told one by one.
const toldBroken = 1000

// notice is what is told of a load: warnings, a log entry, and an event of the same record.
type notice struct {
	warnings []lint.Warning
	level    zapcore.Level
	message  string // of the log entry; empty for none
	record   record
	event    string // its name; empty for none
}

// reporter tells of loads, in the log and by events.
type reporter struct {
	of     *Config
	logger *zap.Logger
	events *caddyevents.App
}

// tell writes notices of what serves to the log, and emits their events.
func (r *reporter) tell(serving *Loaded, notices []notice) {
	for _, n := range notices {
		r.warn(serving, n.warnings)
		if n.message != "" {
			fields := n.record.fields(zap.Stringers("sources", r.of.Sources))
			r.logger.Log(n.level, n.message, fields...)
		}
		if n.event != "" {
			r.emit(n.event, n.record.data())
		}
	}
}

// logLoaded logs the first ruleset of a configuration. It returns what there is to tell once Caddy
// has started, and holds no more then of what another ruleset will replace.
func (r *reporter) logLoaded(first *Loaded, last *lastLoad) (later []notice) {
	r.reportBroken(r.of.brokenIn(first))
	loaded := notice{
		warnings: slices.DeleteFunc(slices.Clone(first.Warnings.Warnings()), lint.Warning.IsBroken),
		level:    zap.InfoLevel,
		message:  "rules loaded",
		record: record{
			{"name", r.of.Name},
			{"digest", first.Digest},
			{"rules", first.Ruleset.Len()},
		},
	}
	r.tell(first, []notice{loaded})
	later = append(later, notice{record: loaded.record, event: eventLoaded})
	if last.err != nil {
		later = append(later, r.rejected(first.Digest, last))
	}
	return later
}

// reportBroken tells of each rule that is answered with an error, and why.
func (r *reporter) reportBroken(broken brokenRules) {
	for _, err := range broken.first {
		r.logger.Error(err.Message, append([]zap.Field{
			zap.String("name", r.of.Name),
			zap.String("kind", string(kindOfBroken(err))),
			zap.String("key", err.Key),
		}, r.place(err.Position)...)...)
	}
	if more := broken.more(); more > 0 {
		r.logger.Error("more rules are answered with an error; "+CheckNamesAll,
			zap.String("name", r.of.Name), zap.Int("rules", more))
	}
}

// swapped is the audit record of a swap. After a rejection it also tells that all is well again
// where nothing has changed.
func (r *reporter) swapped(
	before string, next *Loaded, d resolver.Difference, warnings []lint.Warning,
) notice {
	message := "rules swapped"
	if before == next.Digest {
		message = "the sources of the rules are well again, and nothing has changed"
	}
	return notice{
		warnings: warnings,
		level:    zap.InfoLevel,
		message:  message,
		record: record{
			{"name", r.of.Name},
			{"old_digest", before},
			{"digest", next.Digest},
			{"rules", next.Ruleset.Len()},
			{"added", d.Added}, {"first_added", d.FirstAdded},
			{"removed", d.Removed}, {"first_removed", d.FirstRemoved},
			{"changed", d.Changed}, {"first_changed", d.FirstChanged},
			{"new_warnings", len(warnings)},
		},
		event: eventLoaded,
	}
}

// unchanged tells that sources have been read and say what they said before, but perhaps elsewhere.
func (r *reporter) unchanged(warnings []lint.Warning) notice {
	return notice{
		warnings: warnings,
		level:    zap.DebugLevel,
		message:  "the sources of the rules have been read, and nothing has changed",
		record:   record{{"name", r.of.Name}},
	}
}

// rejected tells what is wrong with rules, and that the old ones go on serving.
func (r *reporter) rejected(digest string, rejected *lastLoad) notice {
	return notice{
		level:   zap.ErrorLevel,
		message: "rules rejected: those from before go on serving",
		record: record{
			{"name", r.of.Name},
			{"digest", digest},
			{"failing_since", rejected.failingSince},
			{"error", rejected.err.Error()},
		},
		event: eventRejected,
	}
}

// record is what the log and an event say of a load in the same words.
type record []struct {
	name  string
	value any
}

// fields returns the record for the log, with more.
func (r record) fields(more ...zap.Field) []zap.Field {
	var fields []zap.Field
	for _, member := range r {
		fields = append(fields, zap.Any(member.name, member.value))
	}
	return append(fields, more...)
}

// data returns the record for an event.
func (r record) data() map[string]any {
	data := map[string]any{}
	for _, member := range r {
		data[member.name] = member.value
	}
	return data
}

// brokenError is the error of rules that would no longer be answered: how many, and why the first
// ones.
func brokenError(n int, first []*resolver.RuleError) error {
	errs := []error{fmt.Errorf("%s would be answered with an error, and not as now",
		printable.Count(n, "key"))}
	for _, err := range first {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// brokenBy returns the error of a candidate that breaks keys, nil where it does not.
func (rs *Ruleset) brokenBy(next *candidate) error {
	before := []*resolver.Ruleset{rs.Serving().Ruleset}
	n, first := lint.Broken(next.Ruleset, before, namedKeys)
	if n == 0 {
		return nil
	}
	rs.locateErrors(next.versions, first)
	return brokenError(n, first)
}

// brokenRules are rules that are answered with an error: how many, and the first ones with the
// reason.
type brokenRules struct {
	count int
	first []*resolver.RuleError
	place *sync.Once // looks up where the first ones stand
}

// brokenIn returns the broken rules of what serves, with their places. These are looked up once, as
// many may ask for the status.
func (c *Config) brokenIn(of *Loaded) brokenRules {
	of.broken.place.Do(func() { c.locateErrors(of.versions, of.broken.first) })
	return of.broken
}

// more is how many there are besides the first ones.
func (b brokenRules) more() int { return b.count - len(b.first) }

// CheckNamesAll says where to read of the others.
const CheckNamesAll = "caddy shortlink check --format json names all of them"

// kindOfBroken returns why a rule is answered with an error.
func kindOfBroken(err *resolver.RuleError) lint.Kind {
	if errors.Is(err, resolver.ErrLoop) {
		return lint.WarnLoop
	}
	return lint.WarnTooManyRedirects
}

// warn writes what the authors of rules should know, up to a number that a person can read.
func (r *reporter) warn(serving *Loaded, warnings []lint.Warning) {
	named := min(len(warnings), namedWarnings)
	for _, w := range r.of.located(serving.versions, warnings[:named]) {
		r.logger.Warn(w.Message, append([]zap.Field{
			zap.String("kind", string(w.Kind)),
			zap.String("key", w.Key),
		}, r.place(w.Position)...)...)
	}
	if more := len(warnings) - named; more > 0 {
		r.logger.Warn("more warnings are left out", zap.Int("warnings", more))
	}
}

// InlineSource is what positions have for the source of the rules that stand in a handler's own
// configuration; name is the handler's.
func InlineSource(name string) string { return strings.TrimSpace("shortlink " + name) }

// place says in the log where a rule stands. Of inline rules Caddy's JSON has lost the lines.
func (r *reporter) place(at resolver.Position) []zap.Field {
	fields := []zap.Field{zap.String("position", at.String())}
	if at == (resolver.Position{Source: InlineSource(r.of.Name)}) {
		fields = append(fields, zap.String("handler", r.of.PublicName()),
			zap.String("hint", "caddy shortlink check --config says the line"))
	}
	return fields
}

// emit tells Caddy's events app. Only once that has started it knows those who listen.
func (r *reporter) emit(name string, data map[string]any) {
	r.events.Emit(r.of.Context, name, data)
}

// eventsApp returns Caddy's events app.
func eventsApp(ctx caddy.Context) (*caddyevents.App, error) {
	app, err := ctx.App("events")
	if err != nil {
		return nil, err
	}
	return app.(*caddyevents.App), nil
}

// onceStarted calls a function, which returns at once, when Caddy has started with this
// configuration. One that is only validated, or fails to start, never gets there.
func onceStarted(events *caddyevents.App, run func()) {
	once := &startedHandler{sync.OnceFunc(run)} // other apps, too, may have an event of this name
	if err := events.On("started", once); err != nil {
		once.start() // Caddy runs already: that is the one error
	}
}

// startedHandler is a handler of the event that Caddy has started.
type startedHandler struct{ start func() }

// Handle starts what has waited for it.
func (s *startedHandler) Handle(context.Context, caddy.Event) error {
	s.start()
	return nil
}
