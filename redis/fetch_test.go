package redis

import (
	"context"
	"fmt"
	"sync"
	"testing"

	goredis "github.com/redis/go-redis/v9"
)

// meddler is a hook that does something after each page that is read by a command.
type meddler struct {
	goredis.Hook
	command string
	meddle  func(page int)
	mu      sync.Mutex
	pages   int
}

func (m *meddler) DialHook(next goredis.DialHook) goredis.DialHook { return next }

func (m *meddler) ProcessPipelineHook(
	next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return func(ctx context.Context, all []goredis.Cmder) error {
		err := next(ctx, all)
		m.saw(all[0])
		return err
	}
}

func (m *meddler) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, cmd goredis.Cmder) error {
		err := next(ctx, cmd)
		m.saw(cmd)
		return err
	}
}

// saw meddles after a command.
func (m *meddler) saw(cmd goredis.Cmder) {
	if cmd.Name() == m.command {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.pages++
		m.meddle(m.pages)
	}
}

// fetchMeddledWith reads a hash of 20,000 rules, while something is done after each page.
func fetchMeddledWith(t *testing.T, server *realServer, meddle func(page int)) ([]field, error) {
	t.Helper()
	server.fill(t, 20_000)
	e := newEdge(t, &Source{URL: server.url("")}, t.TempDir())
	e.source.server.client.(*goredis.Client).AddHook(
		&meddler{command: "hscan", meddle: meddle})
	return e.source.fetch(t.Context())
}

func TestAHashThatIsReplacedWhileItIsReadIsReadAnew(t *testing.T) {
	server := startServer(t)
	server.do(t, "hset", "new", "docs", "/guide")
	fields, err := fetchMeddledWith(t, server, func(page int) {
		if page == 1 {
			server.do(t, "rename", "new", "links")
		}
	})
	if err != nil || len(fields) != 1 || fields[0] != (field{"docs", "/guide"}) {
		t.Errorf("%d fields, %v", len(fields), err)
	}
}

func TestAHashThatIsDeletedWhileItIsReadIsMissing(t *testing.T) {
	server := startServer(t)
	_, err := fetchMeddledWith(t, server, func(page int) {
		if page == 1 {
			server.do(t, "del", "links")
		}
	})
	if !isRejection(err) {
		t.Errorf("the error is %v", err)
	}
}

func TestAHashThatIsWrittenToAllTheTimeIsReadWithAllThatStays(t *testing.T) {
	server := startServer(t)
	fields, err := fetchMeddledWith(t, server, func(page int) {
		server.do(t, "hset", "links", fmt.Sprintf("new-%d", page), "/guide")
	})
	if err != nil || len(fields) < 20_000 {
		t.Errorf("%d fields, %v", len(fields), err)
	}
}

func TestAHashThatIsReplacedAllTheTimeIsAnError(t *testing.T) {
	server := startServer(t)
	fields, err := fetchMeddledWith(t, server, func(page int) {
		// the first of a reading: nothing is left for the second, but all is back at the end
		if page%2 == 1 {
			server.do(t, "rename", "links", "aside")
			server.do(t, "hset", "links", "docs", "/guide")
		} else {
			server.do(t, "rename", "aside", "links")
		}
	})
	if err == nil || isRejection(err) {
		t.Errorf("%d fields of a torn hash, and the error %v", len(fields), err)
	}
}

func TestAFieldThatIsGivenTwiceIsReadOnce(t *testing.T) {
	once := sortedOnce([]field{{"b", "/2"}, {"a", "/1"}, {"b", "/2"}})
	if len(once) != 2 || once[0] != (field{"a", "/1"}) || once[1] != (field{"b", "/2"}) {
		t.Errorf("%v", once)
	}
}

func TestAReadingWithTooFewFieldsIsNotPlausible(t *testing.T) {
	for name, test := range map[string]struct {
		fetched   fetched
		plausible bool
	}{
		"fields came":              {fetched{fields: make([]field, 2), before: 2, after: 3}, true},
		"fields went":              {fetched{fields: make([]field, 2), before: 3, after: 2}, true},
		"a part is missing":        {fetched{fields: make([]field, 1), before: 2, after: 2}, false},
		"more than there ever was": {fetched{fields: make([]field, 4), before: 2, after: 2}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.fetched.plausible(); got != test.plausible {
				t.Errorf("plausible: %v", got)
			}
		})
	}
}
