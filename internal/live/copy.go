package live

import (
	"context"
	"iter"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/internal/copies"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// lastCopy is how long after the end of a configuration copies may still be stored.
const lastCopy = 10 * time.Second

// outliving returns a context that ends some time after a configuration, so that copies can be
// stored meanwhile.
func outliving(ctx context.Context) context.Context {
	lasting, end := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { time.AfterFunc(lastCopy, end) })
	return lasting
}

// copyWriter returns what stores copies of the i-th source, if it wants one.
func (rs *Ruleset) copyWriter(i int) (w copies.Writer, isWanted bool) {
	key := copies.KeyOf(rs.Sources[i])
	if key == "" {
		return w, false
	}
	return copies.Writer{
		Copy: rs.shared.copies[i], Key: key, Storage: rs.Context.Storage(), Lasting: rs.lasting,
		Logger: rs.logger.With(zap.Stringer("source", rs.Sources[i])),
		Serving: func() (version string, rules iter.Seq[resolver.Rule]) {
			serving := rs.Serving()
			return serving.versions[i], serving.RulesOf(i + 1)
		},
	}, true
}

// storeLastCopies stores the remaining copies when nobody follows the sources any more.
func (rs *Ruleset) storeLastCopies() {
	stored := make(chan struct{})
	go func() {
		defer close(stored)
		for i := range rs.Sources {
			if w, isWanted := rs.copyWriter(i); isWanted {
				w.Store()
			}
		}
	}()
	select {
	case <-stored:
	case <-rs.lasting.Done():
	}
}
