package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// boundedCalls runs calls of a file system or a storage with a time limit. They may take long or
// never return, for example when a network is cut.
type boundedCalls struct {
	limit time.Duration
	// running has a slot for each call that runs, also for one that has been abandoned.
	running chan struct{}
}

// maxRunning is how many calls of a source run at a time, and so how many abandoned ones there can
// be.
const maxRunning = 4

func newBoundedCalls(limit time.Duration) *boundedCalls {
	return &boundedCalls{limit: limit, running: make(chan struct{}, maxRunning)}
}

// noAnswer is the error of an abandoned call.
type noAnswer time.Duration

// Error says how long the call was given.
func (n noAnswer) Error() string {
	return fmt.Sprintf("no answer within %s", time.Duration(n))
}

// Is reports that a later try may succeed.
func (noAnswer) Is(target error) bool { return target == ErrUnavailable }

// callBounded returns what a call returns, or an error if it takes too long. The call's context
// ends when it is abandoned.
func callBounded[T any](
	ctx context.Context, calls *boundedCalls, call func(context.Context) (T, error),
) (result T, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, calls.limit, noAnswer(calls.limit))
	defer cancel()
	select {
	case calls.running <- struct{}{}:
	case <-ctx.Done():
		return result, context.Cause(ctx)
	}
	type answer struct {
		result T
		err    error
	}
	answers := make(chan answer, 1)
	go func() {
		result, err := call(ctx)
		<-calls.running
		answers <- answer{result, err}
	}()
	select {
	case a := <-answers:
		return a.result, a.err
	case <-ctx.Done():
		return result, context.Cause(ctx)
	}
}

// doBounded is callBounded for calls that return only an error.
func doBounded(
	ctx context.Context, calls *boundedCalls, call func(context.Context) error,
) error {
	_, err := callBounded(ctx, calls, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, call(ctx)
	})
	return err
}

// boundedReader bounds the time of each read.
type boundedReader struct {
	ctx   context.Context
	calls *boundedCalls
	r     io.Reader
	// An abandoned call may still write into the buffer, which nobody reads any more.
	buffer, unread []byte
}

func newBoundedReader(ctx context.Context, calls *boundedCalls, r io.Reader) *boundedReader {
	return &boundedReader{ctx: ctx, calls: calls, r: r, buffer: make([]byte, 1<<16)}
}

// Read reads from the reader.
func (b *boundedReader) Read(p []byte) (int, error) {
	if len(b.unread) == 0 {
		read := func(context.Context) (int, error) { return b.r.Read(b.buffer) }
		n, err := callBounded(b.ctx, b.calls, read)
		if n == 0 {
			return 0, err
		}
		b.unread = b.buffer[:n]
	}
	n := copy(p, b.unread)
	b.unread = b.unread[n:]
	return n, nil
}

// maxBeside is the maximum size of a file beside a rule file, and of a storage entry. Unlike a rule
// file, it is held in memory as a whole.
const maxBeside = 256 << 20

var errTooLong = errors.New("it is longer than 256 MiB")

// readAtMost reads at most maxBeside bytes, of which there are probably size.
func readAtMost(r io.Reader, size int64) ([]byte, error) {
	var content bytes.Buffer
	content.Grow(int(min(size, maxBeside)) + bytes.MinRead)
	_, err := content.ReadFrom(io.LimitReader(r, maxBeside+1))
	if err == nil && content.Len() > maxBeside {
		return nil, errTooLong
	}
	return content.Bytes(), err
}
