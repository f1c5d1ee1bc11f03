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

// heartbeat is how often the server is pinged, and how long it may take to answer. A server that
// hangs is noticed within two heartbeats.
const heartbeat = 2 * time.Second

// listener is a connection to a server that pushes which keys change.
type listener struct {
	subject
	hear   func(names []any) // receives the names of changed keys, nil for all
	client *goredis.Client
	pubsub *goredis.PubSub
	// address is that of the server: of the master, if Sentinels are asked for it.
	address   string
	sentinels *sentinels // nil for none
	// answered says that something was received since the last ping.
	answered atomic.Bool
	// tracked and events say whether the server pushes invalidations, or keyspace events of all
	// kinds.
	tracked, events bool
	// connected says that this is known.
	connected bool
}

// subject is what a listener listens for.
type subject struct {
	prefix  string // of the names of tracked keys
	channel string // of keyspace events that serve instead; or empty
}

// signal is a channel that holds a value when something has happened.
type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

// raise signals that it has happened.
func (s signal) raise() {
	select {
	case s <- struct{}{}:
	default: // a signal is waiting already
	}
}

// drop clears the signal.
func (s signal) drop() {
	select {
	case <-s:
	default:
	}
}

// listen connects to a server and asks it to push. It is not an error if it refuses. Changes after
// listen has returned are heard, if the server pushes at all.
func (s *Source) listen(ctx context.Context, node *goredis.Client) (*listener, error) {
	l := &listener{
		subject: s.content.subject(), hear: s.content.hear,
		address: node.Options().Addr, sentinels: s.server.sentinels,
	}
	var err error
	if l.sentinels != nil {
		if l.address, err = l.sentinels.master(ctx); err != nil {
			return nil, err
		}
	}
	if l.client, err = l.newClient(node.Options()); err != nil {
		return nil, err
	}
	l.pubsub = l.client.Subscribe(ctx)
	if err := l.connect(ctx, node); err != nil {
		l.close()
		return nil, err
	}
	l.connected = true
	return l, nil
}

// newClient returns a client with tracked connections. Connections that read rules are not tracked,
// or the server would push to them, too, in vain.
func (l *listener) newClient(node *goredis.Options) (*goredis.Client, error) {
	opt := *node
	opt.MaxRetries, opt.DialerRetries = noRetries, oneDial
	opt.MinIdleConns = 0
	processor := goredis.NewPushNotificationProcessor()
	if err := processor.RegisterHandler("invalidate", l, false); err != nil {
		return nil, err
	}
	opt.PushNotificationProcessor = processor
	// The older protocol cannot push invalidations on the same connection.
	canPush := opt.Protocol == 3
	opt.OnConnect = func(ctx context.Context, conn *goredis.Conn) error {
		if l.connected { // the library silently replaces a lost connection
			return errors.New("the connection was lost")
		}
		if canPush {
			return l.track(ctx, conn)
		}
		return nil
	}
	return goredis.NewClient(&opt), nil
}

// track asks for an invalidation whenever a key with the prefix changes, whoever has read it.
func (l *listener) track(ctx context.Context, conn *goredis.Conn) error {
	err := conn.Do(ctx, "client", "tracking", "on", "bcast", "prefix", l.prefix).Err()
	l.tracked = err == nil
	if isReply(err) {
		return nil
	}
	return err
}

// connect opens the connection, and subscribes to keyspace events if the server does not track.
func (l *listener) connect(ctx context.Context, node *goredis.Client) error {
	if err := l.pubsub.Ping(ctx); err != nil {
		return err
	}
	if _, err := l.pubsub.ReceiveTimeout(ctx, heartbeat); err != nil {
		return err
	}
	if l.tracked || l.channel == "" {
		return nil
	}
	subscribed, err := l.subscribe(ctx, l.channel)
	l.events = subscribed && publishesEvents(ctx, node)
	return err
}

// subscribe subscribes to a channel, if the server allows it.
func (l *listener) subscribe(ctx context.Context, channel string) (subscribed bool, err error) {
	if err := l.pubsub.Subscribe(ctx, channel); err != nil {
		return false, err
	}
	_, err = l.pubsub.ReceiveTimeout(ctx, heartbeat)
	if isReply(err) {
		return false, nil // and no reconnection tries again, as there is none: see newClient
	}
	return err == nil, err
}

// publishesEvents reports whether the server is known to publish all keyspace events of a hash:
// generic ones, of hashes, of expired and of evicted keys.
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

// isReply reports whether an error is an answer of the server.
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
// one that passes in the middle of a push would silently lose what was read of it.
func (l *listener) run(ctx context.Context) error {
	ctx, end := context.WithCancelCause(ctx)
	var guards sync.WaitGroup
	guard := func(until func(context.Context) error) {
		end(until(ctx))
		l.pubsub.Close() // ends the read
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
			l.hear(nil)
		}
	}
}

// ping pings the server at every heartbeat until one is not answered or ctx ends, and returns why.
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

// HandlePushNotification handles an invalidation: a list of keys, or nothing for all keys.
func (l *listener) HandlePushNotification(_ context.Context, _ push.NotificationHandlerContext,
	notification []any) error {
	if len(notification) < 2 {
		return nil
	}
	names, _ := notification[1].([]any)
	l.hear(names)
	return nil
}

// close closes the connection, and so ends run.
func (l *listener) close() {
	l.pubsub.Close()
	l.client.Close()
}
