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

// listener is one connection to a server, on which it says which keys change.
type listener struct {
	subject
	hear   func(names []any) // takes the names of keys that have changed, nil for all
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
}

// subject is what a listener listens for.
type subject struct {
	prefix  string // what the names of keys begin with that are tracked
	channel string // of the keyspace events that do as well; empty for none
}

// signal holds a value when something has happened.
type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

// raise says that it has happened.
func (s signal) raise() {
	select {
	case s <- struct{}{}:
	default: // as it has been said already
	}
}

// drop forgets what has happened: it is being dealt with.
func (s signal) drop() {
	select {
	case <-s:
	default:
	}
}

// listen connects to a server and asks it to push. That it refuses is no error. What changes after
// listen returned is heard, if the server pushes at all.
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

// newClient returns a client whose connections are tracked. Those that rules are read on are not,
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

// track asks for an invalidation whenever a key that begins with the prefix changes, whoever read
// it.
func (l *listener) track(ctx context.Context, conn *goredis.Conn) error {
	err := conn.Do(ctx, "client", "tracking", "on", "bcast", "prefix", l.prefix).Err()
	l.tracked = err == nil
	if isReply(err) {
		return nil
	}
	return err
}

// connect opens the connection, and subscribes to keyspace events where the server does not track.
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
			l.hear(nil)
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

// HandlePushNotification hears an invalidation: a list of keys, or nothing for all keys.
func (l *listener) HandlePushNotification(_ context.Context, _ push.NotificationHandlerContext,
	notification []any) error {
	if len(notification) < 2 {
		return nil
	}
	names, _ := notification[1].([]any)
	l.hear(names)
	return nil
}

// close ends the connection, and run.
func (l *listener) close() {
	l.pubsub.Close()
	l.client.Close()
}
