package storage

import (
	"context"
	"errors"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"
)

// LastSave is how long storing may take after the end of a configuration, for all names together.
const LastSave = 10 * time.Second

// Place is the storage of a configuration. Its context outlasts the configuration by LastSave.
type Place struct {
	Context context.Context
	Storage certmagic.Storage // its operations end with their context
	Logger  *zap.Logger
}

// NewPlace returns the place of the configuration that has this context. When the configuration
// ends, saveNow gets a signal, because Caddy may be about to stop.
func NewPlace(ctx context.Context, in certmagic.Storage, logger *zap.Logger,
	saveNow chan<- struct{},
) *Place {
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		time.AfterFunc(LastSave, func() {
			cancel(errors.New("the configuration ended 10s ago"))
		})
		select {
		case saveNow <- struct{}{}:
		default:
		}
	})
	return &Place{longer, awaited{in}, logger}
}
