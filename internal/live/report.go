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
	warnings []resolver.Warning
	level    zapcore.Level
	message  string // of the log entry; empty for none
	record   record
	event    string // its name; empty for none
}

// tell writes notices of what serves to the log, and emits their events.
func (rs *Ruleset) tell(of *Loaded, notices []notice) {
	for _, n := range notices {
		rs.warn(of, n.warnings)
		if n.message != "" {
			fields := n.record.fields(zap.Stringers("sources", rs.Sources))
			rs.logger.Log(n.level, n.message, fields...)
		}
		if n.event != "" {
			rs.emit(n.event, n.record.data())
		}
	}
}

// logLoaded logs the first ruleset of a configuration. It returns what there is to tell once Caddy
// has started, and holds no more then of what another ruleset will replace.
func (rs *Ruleset) logLoaded(first *Loaded, last *lastLoad) (later []notice) {
	rs.reportBroken(rs.brokenIn(first))
	loaded := notice{
		warnings: slices.DeleteFunc(slices.Clone(first.Ruleset.Warnings()), resolver.Warning.IsBroken),
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

// reportBroken tells of each rule that is answered with an error, and why.
func (rs *Ruleset) reportBroken(broken brokenRules) {
	for _, err := range broken.first {
		rs.logger.Error(err.Message, append([]zap.Field{
			zap.String("name", rs.Name),
			zap.String("kind", string(kindOfBroken(err))),
			zap.String("key", err.Key),
		}, rs.place(err.Position)...)...)
	}
	if more := broken.more(); more > 0 {
		rs.logger.Error("more rules are answered with an error; "+CheckNamesAll,
			zap.String("name", rs.Name), zap.Int("rules", more))
	}
}

// swapped is the audit record of a swap. After a rejection it also tells that all is well again
// where nothing has changed.
func (rs *Ruleset) swapped(before string, next *Loaded, d resolver.Difference) notice {
	message := "rules swapped"
	if before == next.Digest {
		message = "the sources of the rules are well again, and nothing has changed"
	}
	return notice{
		warnings: d.Warnings,
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
			{"new_warnings", len(d.Warnings)},
		},
		event: eventLoaded,
	}
}

// unchanged tells that sources have been read and say what they said before, but perhaps elsewhere.
func (rs *Ruleset) unchanged(d resolver.Difference) notice {
	return notice{
		warnings: d.Warnings,
		level:    zap.DebugLevel,
		message:  "the sources of the rules have been read, and nothing has changed",
		record:   record{{"name", rs.Name}},
	}
}

// rejected tells what is wrong with rules, and that the old ones go on serving.
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
	n, first := next.difference.Broken, next.difference.FirstBroken
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
}

// brokenIn returns the broken rules of what serves, with their places.
func (rs *Ruleset) brokenIn(of *Loaded) brokenRules {
	broken := of.broken
	broken.first = nil
	for _, err := range of.broken.first {
		placed := *err
		broken.first = append(broken.first, &placed)
	}
	rs.locateErrors(of.versions, broken.first)
	return broken
}

// more is how many there are besides the first ones.
func (b brokenRules) more() int { return b.count - len(b.first) }

// CheckNamesAll says where to read of the others.
const CheckNamesAll = "caddy shortlink check --format json names all of them"

// kindOfBroken returns why a rule is answered with an error.
func kindOfBroken(err *resolver.RuleError) resolver.WarningKind {
	if errors.Is(err, resolver.ErrLoop) {
		return resolver.WarnLoop
	}
	return resolver.WarnTooManyRedirects
}

// warn writes what the authors of rules should know, up to a number that a person can read.
func (rs *Ruleset) warn(of *Loaded, warnings []resolver.Warning) {
	named := min(len(warnings), namedWarnings)
	for _, w := range rs.located(of.versions, warnings[:named]) {
		rs.logger.Warn(w.Message, append([]zap.Field{
			zap.String("kind", string(w.Kind)),
			zap.String("key", w.Key),
		}, rs.place(w.Position)...)...)
	}
	if more := len(warnings) - named; more > 0 {
		rs.logger.Warn("more warnings are left out", zap.Int("warnings", more))
	}
}

// InlineSource is what positions have for the source of the rules that stand in a handler's own
// configuration; name is the handler's.
func InlineSource(name string) string { return strings.TrimSpace("shortlink " + name) }

// place says in the log where a rule stands. Of inline rules Caddy's JSON has lost the lines.
func (rs *Ruleset) place(at resolver.Position) []zap.Field {
	fields := []zap.Field{zap.String("position", at.String())}
	if at == (resolver.Position{Source: InlineSource(rs.Name)}) {
		fields = append(fields, zap.String("handler", rs.PublicName()),
			zap.String("hint", "caddy shortlink check --config says the line"))
	}
	return fields
}

// emit tells Caddy's events app. Only once that has started it knows those who listen.
func (rs *Ruleset) emit(name string, data map[string]any) { rs.events.Emit(rs.Context, name, data) }

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

const (
	// warnClientHost: where no host matcher names a host, that of redirects to paths of the site is
	// whatever a client writes.
	warnClientHost resolver.WarningKind = "host of the client"
	// warnNoRules: a handler has nothing to answer with.
	warnNoRules resolver.WarningKind = "no rules"
)

// ConfigurationWarnings returns what the handler's configuration gives reason to warn of, beside
// its rules.
func (rs *Ruleset) ConfigurationWarnings(ruleset *resolver.Ruleset) []resolver.Warning {
	if ruleset.Len() == 0 && len(rs.Sources) == 0 {
		return []resolver.Warning{{
			Kind: warnNoRules, Position: resolver.Position{Source: InlineSource(rs.Name)},
			Message: "the handler has no rules and no source of any, so all requests pass; write a rule " +
				"into its block, such as: docs https://docs.example, or: from file links.json",
		}}
	}
	return rs.clientHostWarnings(ruleset)
}

// clientHostWarnings returns the warning that the rules lead to the client's own host, if they do.
func (rs *Ruleset) clientHostWarnings(ruleset *resolver.Ruleset) []resolver.Warning {
	rules, first := ruleset.AtSite()
	if rules == 0 || !rs.AnyHost {
		return nil
	}
	message := "the destination is a path of this site, and its host is whatever the client " +
		"writes, as no host matcher names one; "
	if rules > 1 {
		message += "so it is with " + printable.Count(rules-1, "other rule") + "; "
	}
	return []resolver.Warning{{
		Kind: warnClientHost, Position: first.Position, Key: first.Key,
		Message: message + "write origin https://go.example, or name the hosts of the site",
	}}
}
