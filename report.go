package shortlink

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// The events that the handler emits, for Caddy's events app.
const (
	eventLoaded   = "shortlink_loaded"
	eventRejected = "shortlink_rejected"
)

// namedWarnings is how many warnings of a ruleset are written to the log one by one.
const namedWarnings = 20

// reportLoaded logs the first ruleset of a configuration, and returns the data of the event that tells of it.
func (h *Handler) reportLoaded(first *candidate) map[string]any {
	h.warn(first.ruleset.Warnings())
	h.logger.Info("rules loaded",
		zap.String("name", h.Name),
		zap.String("digest", first.digest),
		zap.Int("rules", first.ruleset.Len()),
		zap.Stringers("sources", h.sources))
	return map[string]any{"name": h.Name, "digest": first.digest, "rules": first.ruleset.Len()}
}

// reportSwapped is the audit record of a swap. After a rejection it also tells that all is well again where nothing
// has changed.
func (h *Handler) reportSwapped(before string, next *candidate, d resolver.Difference) {
	h.warn(d.Warnings)
	message := "rules swapped"
	if before == next.digest {
		message = "the sources of the rules are well again, and nothing has changed"
	}
	h.logger.Info(message,
		zap.String("name", h.Name),
		zap.String("old_digest", before),
		zap.String("digest", next.digest),
		zap.Int("rules", next.ruleset.Len()),
		zap.Int("added", d.Added), zap.Strings("first_added", d.FirstAdded),
		zap.Int("removed", d.Removed), zap.Strings("first_removed", d.FirstRemoved),
		zap.Int("changed", d.Changed), zap.Strings("first_changed", d.FirstChanged),
		zap.Int("new_warnings", len(d.Warnings)),
		zap.Stringers("sources", h.sources))
	h.emit(eventLoaded, map[string]any{
		"name": h.Name, "old_digest": before, "digest": next.digest, "rules": next.ruleset.Len(),
		"added": d.Added, "first_added": d.FirstAdded,
		"removed": d.Removed, "first_removed": d.FirstRemoved,
		"changed": d.Changed, "first_changed": d.FirstChanged,
		"new_warnings": len(d.Warnings),
	})
}

// reportUnchanged tells that sources have been read and say what they said before, but perhaps elsewhere.
func (h *Handler) reportUnchanged(d resolver.Difference) {
	h.warn(d.Warnings)
	h.logger.Debug("the sources of the rules have been read, and nothing has changed", zap.String("name", h.Name))
}

// reportRejected tells what is wrong with rules, and that the old ones go on serving.
func (h *Handler) reportRejected(err error) {
	h.logger.Error("rules rejected: those from before go on serving",
		zap.String("name", h.Name),
		zap.String("digest", h.live.digest),
		zap.Time("failing_since", h.live.failingSince),
		zap.Stringers("sources", h.sources),
		zap.Error(err))
	h.emit(eventRejected, map[string]any{
		"name": h.Name, "digest": h.live.digest, "error": err.Error(), "failing_since": h.live.failingSince,
	})
}

// warn writes what the authors of rules should know, up to a number that a person can read.
func (h *Handler) warn(warnings []resolver.Warning) {
	for i, w := range warnings {
		if i == namedWarnings {
			h.logger.Warn("more warnings are left out", zap.Int("warnings", len(warnings)-namedWarnings))
			return
		}
		h.logger.Warn(w.Message,
			zap.String("kind", string(w.Kind)),
			zap.String("key", w.Key),
			zap.String("position", w.Position.String()))
	}
}

// readableError is an error of many lines, of which it tells as many as a person can read.
type readableError struct{ error }

// toldLines is how many lines of an error are told.
const toldLines = 100

// Error returns the first lines, and how many more there are.
func (e readableError) Error() string {
	text := e.error.Error()
	end := 0
	for range toldLines {
		i := strings.IndexByte(text[end:], '\n')
		if i < 0 {
			return text
		}
		end += i + 1
	}
	return fmt.Sprintf("%s(%d more)", text[:end], strings.Count(text[end:], "\n")+1)
}

// Unwrap returns the whole error.
func (e readableError) Unwrap() error { return e.error }

// emit tells Caddy's events app. Only once that has started it knows those who listen.
func (h *Handler) emit(name string, data map[string]any) { h.events.Emit(h.ctx, name, data) }

// eventsApp returns Caddy's events app.
func eventsApp(ctx caddy.Context) (*caddyevents.App, error) {
	app, err := ctx.App("events")
	if err != nil {
		return nil, err
	}
	return app.(*caddyevents.App), nil
}

// onceStarted runs a function, beside all others, when Caddy has started with this configuration. One that
// is only validated, or fails to start, never gets there.
func (h *Handler) onceStarted(run func()) {
	once := &startedHandler{sync.OnceFunc(func() { go run() })} // other apps, too, may have an event of this name
	if err := h.events.On("started", once); err != nil {
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
