package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/push"
)

// heartbeat is how often the server is asked whether it is there, and how long it may take to
// answer. One that hangs is noticed within two of them.
const heartbeat = 4 * time.Second

// listener is one connection to the server, on which it says when the hash changes.
type listener struct {
	hash   string
	client *goredis.Client
	pubsub *goredis.PubSub
	// address is that of the server, of the master where sentinels are asked for it.
	address   string
	sentinels *sentinels // nil for none
	// answered tells that something has been received since the last ping.
	answered atomic.Bool
	// tracked and events tell whether the server pushes invalidations, or keyspace events of all
	// kinds.
	tracked, events bool
	// connected is set when that is known.
	connected bool
	// heard holds a value when the server has said that the hash changed.
	heard chan struct{}
}

// listen connects to the server and asks it to push. That it refuses is no error. What changes
// after listen returned is heard, if the server pushes at all.
func (s *Source) listen(ctx context.Context) (*listener, error) {
	node, err := s.server.node(ctx, s.Hash)
	if err != nil {
		return nil, err
	}
	l := &listener{
		hash: s.Hash, address: node.Options().Addr, sentinels: s.server.sentinels,
		heard: make(chan struct{}, 1),
	}
	if l.sentinels != nil {
		if l.address, err = l.sentinels.master(ctx); err != nil {
			return nil, err
		}
	}
	if l.client, err = l.newClient(node.Options()); err != nil {
		return nil, err
	}
	l.pubsub = l.client.Subscribe(ctx)
	if err := l.connect(ctx, node, s.server.db); err != nil {
		l.close()
		return nil, err
	}
	l.connected = true
	return l, nil
}

// newClient returns a client whose connections are tracked. Those that the hash is read on are not,
// or the server would push to them what nobody hears.
func (l *listener) newClient(node *goredis.Options) (*goredis.Client, error) {
	opt := *node
	opt.MaxRetries, opt.DialerRetries = noRetries, oneDial
	opt.MinIdleConns = 0
	processor := goredis.NewPushNotificationProcessor()
	if err := processor.RegisterHandler("invalidate", l, false); err != nil {
		return nil, err
	}
	opt.PushNotificationProcessor = processor
	// in the older protocol invalidations cannot be pushed to who reads them
	canPush := opt.Protocol == 3
	opt.OnConnect = func(ctx context.Context, conn *goredis.Conn) error {
		if l.connected { // the library puts another connection in place of one that is lost, silently
			return errors.New("the connection was lost")
		}
		if canPush {
			return l.track(ctx, conn)
		}
		return nil
	}
	return goredis.NewClient(&opt), nil
}

// track asks for an invalidation whenever a key that begins with the hash's name changes, whoever
// read it.
func (l *listener) track(ctx context.Context, conn *goredis.Conn) error {
	err := conn.Do(ctx, "client", "tracking", "on", "bcast", "prefix", l.hash).Err()
	l.tracked = err == nil
	if isReply(err) {
		return nil
	}
	return err
}

// connect opens the connection, and subscribes to keyspace events where the server does not track.
func (l *listener) connect(ctx context.Context, node *goredis.Client, db int) error {
	if err := l.pubsub.Ping(ctx); err != nil {
		return err
	}
	if _, err := l.pubsub.ReceiveTimeout(ctx, heartbeat); err != nil {
		return err
	}
	if l.tracked {
		return nil
	}
	subscribed, err := l.subscribe(ctx, fmt.Sprintf("__keyspace@%d__:%s", db, l.hash))
	l.events = subscribed && publishesEvents(ctx, node)
	return err
}

// subscribe subscribes to a channel, if the server lets it.
func (l *listener) subscribe(ctx context.Context, channel string) (subscribed bool, err error) {
	if err := l.pubsub.Subscribe(ctx, channel); err != nil {
		return false, err
	}
	_, err = l.pubsub.ReceiveTimeout(ctx, heartbeat)
	if isReply(err) {
		return false, l.pubsub.Unsubscribe(ctx) // or a reconnection would subscribe again
	}
	return err == nil, err
}

// publishesEvents reports whether the server is known to publish keyspace events of all kinds that
// there are of a hash: generic ones, of hashes, of expired and of evicted keys.
func publishesEvents(ctx context.Context, node *goredis.Client) bool {
	const option = "notify-keyspace-events"
	config, err := node.ConfigGet(ctx, option).Result()
	kinds := config[option]
	all := strings.Contains(kinds, "A") ||
		!slices.ContainsFunc(strings.Split("ghxe", ""), func(kind string) bool {
			return !strings.Contains(kinds, kind)
		})
	return err == nil && strings.Contains(kinds, "K") && all
}

// isReply reports whether an error is what the server answered.
func isReply(err error) bool {
	_, is := errors.AsType[goredis.Error](err)
	return is
}

// pushes reports whether all changes are heard.
func (l *listener) pushes() bool { return l.tracked || l.events }

// means says how changes are noticed.
func (l *listener) means() string {
	switch {
	case l.tracked:
		return "client tracking"
	case l.events:
		return "keyspace events"
	}
	return "polling"
}

// run listens until the connection is lost or closed, and returns why. It reads without a deadline:
// one that passes in the middle of a push would lose what was read of it, without an error.
func (l *listener) run(ctx context.Context) error {
	ctx, end := context.WithCancelCause(ctx)
	var guards sync.WaitGroup
	guard := func(until func(context.Context) error) {
		end(until(ctx))
		l.pubsub.Close() // which ends the reading
	}
	guards.Go(func() { guard(l.ping) })
	if l.sentinels != nil {
		guards.Go(func() { guard(l.untilSwitched) })
	}
	defer guards.Wait()
	for {
		message, err := l.pubsub.ReceiveTimeout(ctx, 0)
		if err != nil {
			end(err)
			return context.Cause(ctx)
		}
		l.answered.Store(true)
		if _, is := message.(*goredis.Message); is {
			l.hear()
		}
	}
}

// ping asks the server at every heartbeat whether it is there, until one passes without an answer
// or ctx ends. It returns why.
func (l *listener) ping(ctx context.Context) error {
	ticks := time.NewTicker(heartbeat)
	defer ticks.Stop()
	for l.answered.Store(true); ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticks.C:
		}
		if !l.answered.Swap(false) {
			return fmt.Errorf("the server has not answered for %v", heartbeat)
		}
		if err := l.pubsub.Ping(ctx); err != nil {
			return err
		}
	}
}

// untilSwitched returns when the server is no longer the master.
func (l *listener) untilSwitched(ctx context.Context) error {
	return l.sentinels.untilSwitched(ctx, l.address)
}

// HandlePushNotification hears an invalidation: a list of keys, or nothing for all keys. Other keys
// may begin like the hash's name.
func (l *listener) HandlePushNotification(_ context.Context, _ push.NotificationHandlerContext,
	notification []any) error {
	if len(notification) < 2 {
		return nil
	}
	keys, listed := notification[1].([]any)
	if !listed || slices.Contains(keys, any(l.hash)) {
		l.hear()
	}
	return nil
}

// hear takes down that the hash changed.
func (l *listener) hear() {
	select {
	case l.heard <- struct{}{}:
	default: // as it has been already
	}
}

// forget drops what was heard: it is being dealt with.
func (l *listener) forget() {
	select {
	case <-l.heard:
	default:
	}
}

// close ends the connection, and run.
func (l *listener) close() {
	l.pubsub.Close()
	l.client.Close()
}
