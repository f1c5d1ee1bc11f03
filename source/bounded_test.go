package source

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/certmagic"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// deaf is a storage that does not answer until it is healed.
type deaf struct {
	certmagic.Storage
	healed chan struct{}
	calls  atomic.Int64
}

func (d *deaf) Load(context.Context, string) ([]byte, error) {
	d.calls.Add(1)
	<-d.healed
	return []byte("{}"), nil
}

func (d *deaf) Lock(context.Context, string) error {
	<-d.healed
	return nil
}

func (d *deaf) Unlock(context.Context, string) error {
	d.calls.Add(1)
	return nil
}

func newDeafSource() (*Storage, *deaf) {
	d := &deaf{healed: make(chan struct{})}
	s := &Storage{Key: "links.json", boundedStorage: newBoundedStorage(d)}
	s.content.format = rulefile.JSON
	s.content.read = s.open
	return s, d
}

func TestAStorageThatDoesNotAnswerIsAnErrorUntilItDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, storage := newDeafSource()
		read := func() error {
			_, err := s.Read(t.Context(), func(resolver.Rule) {})
			return err
		}
		start := time.Now()
		for range 2 * maxRunning {
			if err := read(); !errors.As(err, new(noAnswer)) {
				t.Fatalf("got %v", err)
			}
		}
		took, left := time.Since(start), storage.calls.Load()
		if took != 2*maxRunning*storageLimit || left != maxRunning {
			t.Errorf("it took %s, and %d calls were left behind", took, left)
		}
		close(storage.healed)
		synctest.Wait()
		if err := read(); err != nil {
			t.Error(err)
		}
	})
}

func TestALockThatComesTooLateIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, storage := newDeafSource()
		_, err := s.Edit(t.Context(), "", editOf(rulefile.Change{Key: "a"}))
		if !errors.Is(err, ErrBeingWritten) {
			t.Errorf("got %v", err)
		}
		close(storage.healed)
		synctest.Wait()
		if storage.calls.Load() != 1 {
			t.Errorf("it was given back %d times", storage.calls.Load())
		}
	})
}

func TestAReaderThatStopsHalfWayEndsWithAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pipe, _ := io.Pipe()
		half := io.MultiReader(strings.NewReader(`{"a": `), pipe)
		r := newBoundedReader(t.Context(), newBoundedCalls(answerLimit), half)
		start := time.Now()
		content, err := io.ReadAll(r)
		if string(content) != `{"a": ` || !errors.As(err, new(noAnswer)) {
			t.Errorf("got %q, %v", content, err)
		}
		if took := time.Since(start); took != answerLimit {
			t.Errorf("it took %s", took)
		}
		pipe.Close()
	})
}

func TestWhatOthersAreInTheWayOfIsWorthAnotherTry(t *testing.T) {
	for _, err := range []error{changedWhileRead, beingWritten, beingEdited, noAnswer(answerLimit)} {
		if !errors.Is(err, ErrUnavailable) {
			t.Errorf("%v: the source is said to be available", err)
		}
	}
}
