package report

import (
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/internal/place"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/source"
)

// Reporter tells notices of a handler.
type Reporter struct {
	Name, PublicName string // see live.Config
	Context          caddy.Context
	Logger           *zap.Logger
	Events           *caddyevents.App // which knows its listeners only once it has started
	Sources          []source.Source
}

// namedWarnings is how many warnings of a ruleset are logged one by one.
const namedWarnings = 20

// Tell writes notices of rules of these versions to the log, and emits their events.
func (r *Reporter) Tell(versions []string, notices ...Notice) {
	for _, n := range notices {
		r.Warn(versions, n.Warnings)
		if n.message != "" {
			fields := n.record.fields(zap.Stringers("sources", r.Sources))
			r.Logger.Log(n.level, n.message, fields...)
		}
		if n.event != "" {
			r.Events.Emit(r.Context, n.event, n.record.data())
		}
	}
}

// Broken logs the first rules that are answered with an error, and why, and how many more there
// are.
func (r *Reporter) Broken(first []*resolver.RuleError, more int) {
	for _, err := range first {
		r.Logger.Error(err.Message, append([]zap.Field{
			zap.String("name", r.Name),
			zap.String("kind", string(lint.FailureKind(err.Kind))),
			zap.String("key", err.Key),
		}, r.positionFields(err.Position)...)...)
	}
	if more > 0 {
		r.Logger.Error("more rules are answered with an error; "+CheckNamesAll,
			zap.String("name", r.Name), zap.Int("rules", more))
	}
}

// CheckNamesAll says how to list all of them.
const CheckNamesAll = "caddy shortlink check --format json names all of them"

// Warn logs warnings for authors of rules of these versions, at most namedWarnings.
func (r *Reporter) Warn(versions []string, warnings []lint.Warning) {
	named := min(len(warnings), namedWarnings)
	for _, w := range place.OfWarnings(r.Context, r.Sources, versions, warnings[:named]) {
		r.Logger.Warn(w.Message, append([]zap.Field{
			zap.String("kind", string(w.Kind)),
			zap.String("key", w.Key),
		}, r.positionFields(w.Position)...)...)
	}
	if more := len(warnings) - named; more > 0 {
		r.Logger.Warn("more warnings are left out", zap.Int("warnings", more))
	}
}

// positionFields says where a rule stands. Caddy's JSON has lost the lines of inline rules.
func (r *Reporter) positionFields(at resolver.Position) []zap.Field {
	fields := []zap.Field{zap.String("position", at.String())}
	if at == (resolver.Position{Source: InlineSource(r.Name)}) {
		fields = append(fields, zap.String("handler", r.PublicName),
			zap.String("hint", "caddy shortlink check --config says the line"))
	}
	return fields
}

// InlineSource is the source in positions of rules that stand in the configuration of the handler
// with this name.
func InlineSource(name string) string { return strings.TrimSpace("shortlink " + name) }
