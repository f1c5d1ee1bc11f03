package redis

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

const (
	// copyPause is how old a stored copy of rules with a key for each is, at least, when it is
	// replaced, also by another server or another process. It is made from Redis anew, as rules are
	// not kept in memory, and all of it is in memory while it is stored.
	copyPause = time.Minute
	// copyShare is how many times as long as making a copy the pause is that follows it.
	copyShare = 100
	// fluxTries is how often rules are read again that have just changed.
	fluxTries = 5
)

// errInFlux is the error of rules that change faster than they are judged.
var errInFlux = errors.New("the rules are others than those that serve")

// store keeps the stored copy up to date until ctx ends.
func (k *keys) store(ctx context.Context) {
	stored := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.unstored:
		}
		// no longer than that where the storage's clock is ahead
		wait(ctx, min(copyPause, time.Until(k.copy.storedAt(ctx).Add(copyPause))))
		version := k.version()
		if version == stored || ctx.Err() != nil {
			continue
		}
		begun := time.Now()
		switch err := k.storeRules(ctx); {
		case err == nil:
			stored = version
		default:
			k.unstored.raise()
			k.logger.Debug("redis' rules cannot be copied yet", zap.Error(err))
		}
		pause := max(copyPause, copyShare*time.Since(begun))
		freeMemory()
		wait(ctx, pause)
	}
}

// freeMemory returns the memory to the system that a copy has taken. By itself the runtime would
// wait until as much again has been left behind, and it keeps as much as the heap was at the last
// collection.
func freeMemory() {
	runtime.GC()
	runtime.GC()
}

// version returns the version of what was read last.
func (k *keys) version() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known == nil {
		return ""
	}
	return k.known.version()
}

// storeRules stores the rules that serve.
func (k *keys) storeRules(ctx context.Context) error {
	var b bytes.Buffer
	b.Grow(k.size())
	var failed error
	err := rulefile.WriteJSON(&b, func(yield func(resolver.Rule) bool) {
		failed = k.eachServing(ctx, func(rule resolver.Rule) { yield(rule) })
	})
	if failed != nil {
		return failed
	}
	if err == nil {
		err = k.copy.storage.Store(context.WithoutCancel(ctx), k.copy.key, b.Bytes())
	}
	if err != nil {
		k.logger.Error("storing a copy of redis' rules failed", zap.Error(err))
	}
	return err
}

// size returns about how large the stored copy becomes.
func (k *keys) size() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known == nil {
		return 0
	}
	return k.known.size + k.known.size/16
}

// eachServing visits the rules that serve, as Redis holds them. What has just changed it reads
// again until that has been judged.
func (k *keys) eachServing(ctx context.Context, visit func(resolver.Rule)) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var flux []string
	visitServing := func(e entry) {
		switch {
		case k.serves(e):
			visit(e.rule)
		case len(flux) == maxNoted:
			stop(errInFlux)
		case !e.gone:
			flux = append(flux, e.name)
		}
	}
	err := k.each(ctx, visitServing)
	for try := 0; try < fluxTries && len(flux) > 0 && err == nil; try++ {
		wait(ctx, 20*tick)
		again := flux
		flux = nil
		err = k.fetchAll(ctx, again, visitServing)
	}
	if err == nil && len(flux) > 0 {
		return errInFlux
	}
	return err
}
