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

// namedWarnings is how many warnings of a ruleset are logged one by one.
const namedWarnings = 20

// namedKeys is how many keys of each kind the record of a swap names.
const namedKeys = 10

// toldBroken is how many rules that are answered with an error are reported one by one.
const toldBroken = 1000

// notice is a report of a load: warnings, a log entry, and an event with the same record.
type notice struct {
	warnings []lint.Warning
	level    zapcore.Level
	message  string // of the log entry; empty for none
	record   record
	event    string // its name; empty for none
}

// tell writes notices of what serves to the log, and emits their events.
func (rs *Ruleset) tell(serving *Loaded, notices []notice) {
	for _, n := range notices {
		rs.warn(serving, n.warnings)
		if n.message != "" {
			fields := n.record.fields(zap.Stringers("sources", rs.Sources))
			rs.logger.Log(n.level, n.message, fields...)
		}
		if n.event != "" {
			rs.emit(n.event, n.record.data())
		}
	}
}

// logLoaded logs the first ruleset of a configuration. It returns the notices to tell once Caddy
// has started; they do not retain a ruleset that will be replaced.
func (rs *Ruleset) logLoaded(first *Loaded, last *lastLoad) (later []notice) {
	rs.reportBroken(rs.brokenIn(first))
	loaded := notice{
		warnings: slices.DeleteFunc(slices.Clone(first.Warnings.Warnings()), lint.Warning.IsBroken),
		level:    zap.InfoLevel,
		message:  "rules loaded",
		record: record{
			{"name", rs.Name},
			{"digest", first.Digest},
			{"rules", first.Ruleset.Len()},
		},
	}
	rs.tell(first, []notice{loaded})
	later = append(later, notice{record: loaded.record, event: eventLoaded})
	if last.err != nil {
		later = append(later, rs.rejected(first.Digest, last))
	}
	return later
}

// reportBroken logs each rule that is answered with an error, and why.
func (rs *Ruleset) reportBroken(broken brokenRules) {
	for _, err := range broken.first {
		rs.logger.Error(err.Message, append([]zap.Field{
			zap.String("name", rs.Name),
			zap.String("kind", string(lint.FailureKind(err.Kind))),
			zap.String("key", err.Key),
		}, rs.positionFields(err.Position)...)...)
	}
	if more := broken.more(); more > 0 {
		rs.logger.Error("more rules are answered with an error; "+CheckNamesAll,
			zap.String("name", rs.Name), zap.Int("rules", more))
	}
}

// swapped returns the audit record of a swap. After a rejection it also says that the sources are
// good again if nothing has changed.
func (rs *Ruleset) swapped(
	before string, next *Loaded, d resolver.Difference, warnings []lint.Warning,
) notice {
	message := "rules swapped"
	if before == next.Digest {
		message = "the sources of the rules are good again, and nothing has changed"
	}
	return notice{
		warnings: warnings,
		level:    zap.InfoLevel,
		message:  message,
		record: record{
			{"name", rs.Name},
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

// unchanged returns the notice that sources were read and hold the same rules, perhaps on other
// lines.
func (rs *Ruleset) unchanged(warnings []lint.Warning) notice {
	return notice{
		warnings: warnings,
		level:    zap.DebugLevel,
		message:  "the sources of the rules have been read, and nothing has changed",
		record:   record{{"name", rs.Name}},
	}
}

// rejected returns the notice of rejected rules, which says that the old ones still serve.
func (rs *Ruleset) rejected(digest string, rejected *lastLoad) notice {
	return notice{
		level:   zap.ErrorLevel,
		message: "rules rejected: those from before go on serving",
		record: record{
			{"name", rs.Name},
			{"digest", digest},
			{"failing_since", rejected.failingSince},
			{"error", rejected.err.Error()},
		},
		event: eventRejected,
	}
}

// record has the fields that the log and an event share.
type record []struct {
	name  string
	value any
}

// fields returns the record as log fields, followed by more.
func (r record) fields(more ...zap.Field) []zap.Field {
	var fields []zap.Field
	for _, member := range r {
		fields = append(fields, zap.Any(member.name, member.value))
	}
	return append(fields, more...)
}

// data returns the record as the data of an event.
func (r record) data() map[string]any {
	data := map[string]any{}
	for _, member := range r {
		data[member.name] = member.value
	}
	return data
}

// brokenBy returns an error if rules break keys that work in one of the rulesets before. It says
// why for the first ones.
func (c *Config) brokenBy(next *Loaded, before ...*resolver.Ruleset) error {
	n, first := lint.Broken(next.Ruleset, before, namedKeys)
	if n == 0 {
		return nil
	}
	c.locateErrors(next.versions, first)
	errs := []error{fmt.Errorf("%s would fail", printable.Count(n, "working key"))}
	for _, err := range first {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// brokenRules are the rules that are answered with an error: how many, and the first ones with
// their reasons.
type brokenRules struct {
	count int
	first []*resolver.RuleError
	place *sync.Once // locates the first ones
}

// brokenIn returns the broken rules of what serves, with their positions. They are looked up once,
// because many clients may ask for the status.
func (c *Config) brokenIn(of *Loaded) brokenRules {
	of.broken.place.Do(func() { c.locateErrors(of.versions, of.broken.first) })
	return of.broken
}

// more returns how many rules there are besides the first ones.
func (b brokenRules) more() int { return b.count - len(b.first) }

// CheckNamesAll says how to list all of them.
const CheckNamesAll = "caddy shortlink check --format json names all of them"

// warn logs warnings for authors of rules, at most namedWarnings.
func (rs *Ruleset) warn(serving *Loaded, warnings []lint.Warning) {
	named := min(len(warnings), namedWarnings)
	for _, w := range rs.located(serving.versions, warnings[:named]) {
		rs.logger.Warn(w.Message, append([]zap.Field{
			zap.String("kind", string(w.Kind)),
			zap.String("key", w.Key),
		}, rs.positionFields(w.Position)...)...)
	}
	if more := len(warnings) - named; more > 0 {
		rs.logger.Warn("more warnings are left out", zap.Int("warnings", more))
	}
}

// InlineSource is the source in positions of rules that stand in the configuration of the handler
// with this name.
func InlineSource(name string) string { return strings.TrimSpace("shortlink " + name) }

// positionFields says where a rule stands. Caddy's JSON has lost the lines of inline rules.
func (rs *Ruleset) positionFields(at resolver.Position) []zap.Field {
	fields := []zap.Field{zap.String("position", at.String())}
	if at == (resolver.Position{Source: InlineSource(rs.Name)}) {
		fields = append(fields, zap.String("handler", rs.PublicName()),
			zap.String("hint", "caddy shortlink check --config says the line"))
	}
	return fields
}

// emit passes an event to Caddy's events app. The app knows its listeners only once it has started.
func (rs *Ruleset) emit(name string, data map[string]any) {
	rs.events.Emit(rs.Context, name, data)
}

// eventsApp returns Caddy's events app.
func eventsApp(ctx caddy.Context) (*caddyevents.App, error) {
	app, err := ctx.App("events")
	if err != nil {
		return nil, err
	}
	return app.(*caddyevents.App), nil
}

// onceStarted calls a function when Caddy has started with this configuration. The function must
// return at once. It is never called for a configuration that is only validated or fails to start.
func onceStarted(events *caddyevents.App, run func()) {
	once := &startedHandler{sync.OnceFunc(run)} // other apps may have an event of this name, too
	if err := events.On("started", once); err != nil {
		once.start() // the only error is that Caddy runs already
	}
}

// startedHandler handles the event that Caddy has started.
type startedHandler struct{ start func() }

// Handle calls the function that waits for the start.
func (s *startedHandler) Handle(context.Context, caddy.Event) error {
	s.start()
	return nil
}
