package redis

import (
	"context"
	"errors"
	"slices"
	"sync"

	goredis "github.com/redis/go-redis/v9"
)

// listeners are the connections to all servers that hold rules: one, or the masters of a cluster.
type listeners []*listener

// listenToAll connects to all servers that hold rules; see [Source.listen].
func (s *Source) listenToAll(ctx context.Context) (all listeners, err error) {
	nodes, err := s.content.nodes(ctx)
	if err != nil {
		return nil, err
	}
	for _, node := range nodes {
		l, err := s.listen(ctx, node)
		if err != nil {
			all.close()
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// run listens until one connection is lost or all are closed, and returns why.
func (all listeners) run(ctx context.Context) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	var running sync.WaitGroup
	for _, l := range all {
		running.Go(func() {
			end(l.run(ctx))
			all.close()
		})
	}
	running.Wait()
	return context.Cause(ctx)
}

// check returns an error if the rules are now on other servers than those that are listened to.
func (all listeners) check(nodes []*goredis.Client) error {
	if !slices.EqualFunc(all, nodes, func(l *listener, node *goredis.Client) bool {
		return l.address == node.Options().Addr
	}) {
		return errors.New("other nodes of the cluster hold the rules now")
	}
	return nil
}

// pushes reports whether all changes are heard.
func (all listeners) pushes() bool {
	return !slices.ContainsFunc(all, func(l *listener) bool { return !l.pushes() })
}

// means says how changes are noticed: with several servers, how the least capable does.
func (all listeners) means() string {
	for _, l := range all {
		if !l.pushes() {
			return l.means()
		}
	}
	return all[0].means()
}

// close closes the connections, and so ends run.
func (all listeners) close() {
	for _, l := range all {
		l.close()
	}
}
