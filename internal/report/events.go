package report

import (
	"context"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
)

// EventsApp returns Caddy's events app.
func EventsApp(ctx caddy.Context) (*caddyevents.App, error) {
	app, err := ctx.App("events")
	if err != nil {
		return nil, err
	}
	return app.(*caddyevents.App), nil
}

// OnceStarted calls a function when Caddy has started with this configuration. The function must
// return at once. It is never called for a configuration that is only validated or fails to start.
func OnceStarted(events *caddyevents.App, run func()) {
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
