package redis

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// storedCopy keeps the last good rules in Caddy's storage.
type storedCopy struct {
	storage certmagic.Storage
	key     string
	offers  chan offer // holds the latest
	read    *offer     // what was read last, until it is known whether it serves
}

// offer is what there is to be stored.
type offer struct {
	rules   []resolver.Rule
	version string
}

// newStoredCopy returns the copy of a hash on the server of an address.
func newStoredCopy(storage certmagic.Storage, address, hash string) *storedCopy {
	name := sha256.Sum256(appendText(appendText(nil, address), hash))
	return &storedCopy{
		storage: storage,
		key:     "shortlink/redis/" + hex.EncodeToString(name[:16]) + ".json",
		offers:  make(chan offer, 1),
	}
}

// load passes the rules of the copy. Where there is none, the error is [fs.ErrNotExist]. The time
// is when it was stored, or zero where the storage does not know.
func (c *storedCopy) load(
	ctx context.Context, source string, add func(resolver.Rule),
) (stored time.Time, err error) {
	b, err := c.storage.Load(ctx, c.key)
	if err != nil {
		return time.Time{}, err
	}
	err = rulefile.ReadJSON(bytes.NewReader(b), source, func(rule resolver.Rule) {
		rule.Position = resolver.Position{Source: source}
		add(rule)
	})
	if err != nil {
		return time.Time{}, err
	}
	return c.storedAt(ctx), nil
}

// storedAt returns when the copy was stored, or zero where the storage does not know.
func (c *storedCopy) storedAt(ctx context.Context) time.Time {
	info, err := c.storage.Stat(ctx, c.key)
	if err != nil {
		return time.Time{}
	}
	return info.Modified
}

// judge lets run store what was read last if it serves now, in place of what it has not come to.
func (c *storedCopy) judge(serves bool) {
	read := c.read
	c.read = nil
	if read == nil || !serves {
		return
	}
	select {
	case <-c.offers:
	default:
	}
	c.offers <- *read
}

// run stores what is offered until ctx ends, and in the end what is left. Writing takes up a tenth
// of its time at most.
func (c *storedCopy) run(ctx context.Context, logger *zap.Logger) {
	var stored string
	for {
		select {
		case <-ctx.Done():
			c.storeLast(context.WithoutCancel(ctx), stored, logger)
			return
		case latest := <-c.offers:
			if latest.version == stored {
				continue
			}
			begun := time.Now()
			c.store(context.WithoutCancel(ctx), latest, logger)
			stored = latest.version
			wait(ctx, 9*time.Since(begun))
		}
	}
}

// storeLast stores what was offered last, if there is anything.
func (c *storedCopy) storeLast(ctx context.Context, stored string, logger *zap.Logger) {
	select {
	case latest := <-c.offers:
		if latest.version != stored {
			c.store(ctx, latest, logger)
		}
	default:
	}
}

// store stores rules.
func (c *storedCopy) store(ctx context.Context, latest offer, logger *zap.Logger) {
	var b bytes.Buffer
	err := rulefile.WriteJSON(&b, slices.Values(latest.rules))
	if err == nil {
		err = c.storage.Store(ctx, c.key, b.Bytes())
	}
	if err != nil {
		logger.Error("storing a copy of redis' rules failed", zap.Error(err))
	}
}
