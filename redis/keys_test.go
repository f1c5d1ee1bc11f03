package redis

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// keysOf returns the rules that a server holds under links:, as keys of their own.
func (s *realServer) keysOf(t *testing.T) map[string]string {
	t.Helper()
	rules := make(map[string]string)
	names, err := s.client.Keys(t.Context(), "links:*").Result()
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		return rules
	}
	values, err := s.client.MGet(t.Context(), names...).Result()
	if err != nil {
		t.Fatal(err)
	}
	for i, value := range values {
		if text, is := value.(string); is {
			rules[strings.TrimPrefix(names[i], "links:")] = text
		}
	}
	return rules
}

// fillKeys puts n rules into keys of their own.
func (s *realServer) fillKeys(t *testing.T, n int) {
	t.Helper()
	for from := 0; from < n; from += 10_000 {
		args := []any{"mset"}
		for i := from; i < min(from+10_000, n); i++ {
			args = append(args, fmt.Sprintf("links:key-%07d", i),
				fmt.Sprintf("https://example.com/some/longer/path/to/the/page/%d", i))
		}
		s.do(t, args...)
	}
}

// addKeysUser adds a user who may do no more than reading the keys, and what else is allowed.
func (s *realServer) addKeysUser(t *testing.T, name string, allowed ...any) {
	t.Helper()
	s.do(t, append([]any{"acl", "setuser", name, "on", ">secret", "~links:*",
		"+scan", "+mget", "+get", "+ping"}, allowed...)...)
}

// startKeysEdge returns an edge that has read links:* and watches it, by some means.
func startKeysEdge(t *testing.T, source *Source) *edge {
	t.Helper()
	source.Hash = "links:*"
	return startEdge(t, source)
}

// untilLike waits until the edge serves what a server holds.
func (e *edge) untilLike(t *testing.T, server *realServer, within time.Duration) time.Duration {
	t.Helper()
	return e.until(t, "what Redis holds is served", within, func(e *edge) bool {
		return e.err == nil && maps.Equal(e.rules, server.keysOf(t)) // which may expire
	})
}

// untilRefused waits until what was read is refused, for a reason.
func (e *edge) untilRefused(t *testing.T, reason string) {
	t.Helper()
	e.until(t, "refused: "+reason, 5*time.Second, func(e *edge) bool {
		return e.err != nil && strings.Contains(e.err.Error(), reason)
	})
}

func TestEachKeyThatBeginsWithThePrefixIsARule(t *testing.T) {
	server := startServer(t)
	server.fillKeys(t, 2500)
	server.do(t, "mset", "links:docs", "/guide", "links:*", "/star", "links:", "/nothing",
		"links", "/no", "link:docs", "/no", "x:links:docs", "/no", "links:a b\nc", "/text")
	e := newEdge(t, &Source{Hash: "links:*", URL: server.url("")}, t.TempDir())
	if e.read(t.Context()); e.err != nil || !maps.Equal(e.rules, server.keysOf(t)) {
		t.Errorf("%d rules, %v", len(e.rules), e.err)
	}
}

func TestAPrefixIsTakenLiterally(t *testing.T) {
	server := startServer(t)
	for _, prefix := range []string{"a*", "a?", "[ab]", `a\`, `a\*`, "a]", "^a", "a-"} {
		server.do(t, "set", prefix+"docs", "/"+prefix)
	}
	server.do(t, "set", "aadocs", "/no")
	for _, prefix := range []string{"a*", "a?", "[ab]", `a\`, `a\*`, "a]", "^a", "a-"} {
		e := newEdge(t, &Source{Hash: prefix + "*", URL: server.url("")}, t.TempDir())
		e.read(t.Context())
		if e.err != nil || e.rules["docs"] != "/"+prefix {
			t.Errorf("%s: %v, %v", prefix, e.rules, e.err)
		}
	}
}

func FuzzAnEscapedTextMatchesItselfOnly(f *testing.F) {
	f.Add("links:", "links?")
	f.Add(`a\*[b-c]?`, `a\*b?`)
	f.Add("[^a]", "b")
	f.Fuzz(func(t *testing.T, text, other string) {
		for _, s := range []string{text, other} {
			// for what is literal, the syntax is that of Redis
			if match, err := path.Match(escapeGlob(text), s); err != nil || match != (s == text) {
				t.Errorf("%q as the pattern %q matches %q: %v, %v", text, escapeGlob(text), s, match, err)
			}
		}
	})
}

func TestAPrefixIsNeeded(t *testing.T) {
	err := provision(t, &Source{Hash: "*"})
	if err == nil || !strings.Contains(err.Error(), "such as links:*") {
		t.Errorf("the error is %v", err)
	}
}

func TestAWrittenKeyIsServedAndNothingElseIsRead(t *testing.T) {
	server := startServer(t)
	server.addKeysUser(t, "edge", "+client|tracking")
	server.fillKeys(t, 10_000)
	e := startKeysEdge(t, &Source{URL: server.url("edge")})
	if by := e.waitForLog(t, "watching redis").ContextMap()["by"]; by != "client tracking" {
		t.Fatalf("changes are noticed by %v", by)
	}
	calls := func() int64 { return server.calls(t, "mget") + server.calls(t, "scan") }
	before := calls()
	server.do(t, "set", "links:docs", "/guide")
	t.Log(e.untilServed(t, "docs", "/guide", time.Second))
	server.do(t, "del", "links:docs")
	t.Log(e.untilServed(t, "docs", "", time.Second))
	if reads, asked := e.readings(), calls()-before; reads != 1 || asked != 2 {
		t.Errorf("everything was read %d times, and keys %d times", reads, asked)
	}
}

func TestWhateverChangesKeysIsServed(t *testing.T) {
	server := startServer(t)
	server.fillKeys(t, 10)
	e := startKeysEdge(t, &Source{URL: server.url("")})
	for _, command := range []string{
		"set links:a /a", "append links:a /b", "setrange links:a 1 c", "set links:a /d",
		"mset links:b /b links:c /c links:d /d", "rename links:b links:e", "rename links:c other",
		"rename other links:f", "copy links:f links:g", "unlink links:g", "del links:a links:d",
		"set links:h /h px 20", "expire links:f 100", "persist links:f", "getdel links:f",
		"eval redis.call('set',KEYS[1],'/i')redis.call('del',KEYS[2])return(1) 2 links:i links:e",
		"set links:a /a", "move links:a 1", "set links:h /again exat 1",
	} {
		args := []any{}
		for word := range strings.FieldsSeq(command) {
			args = append(args, word)
		}
		server.do(t, args...)
		e.untilLike(t, server, 2*time.Second)
	}
	e.until(t, "an expired key is gone", 2*time.Second, func(e *edge) bool {
		return e.rules["h"] == ""
	})
	if reads := e.readings(); reads != 1 {
		t.Errorf("everything was read %d times", reads)
	}
}

func TestEvictedKeysAreGone(t *testing.T) {
	server := startServer(t, "--maxmemory-policy", "allkeys-random")
	server.fillKeys(t, 5000)
	e := startKeysEdge(t, &Source{URL: server.url("")})
	server.do(t, "config", "set", "maxmemory", "2000000")
	for i := range 2000 {
		server.do(t, "set", fmt.Sprint("links:new-", i), "/"+strings.Repeat("x", 500))
	}
	server.do(t, "config", "set", "maxmemory", "0")
	if len(server.keysOf(t)) >= 7000 {
		t.Fatal("no key has been evicted")
	}
	e.untilLike(t, server, 2*time.Second)
}

func TestWithoutAnyKeyTheLastGoodRulesServe(t *testing.T) {
	const refused = "no Redis key begins with links:; write rules with: SET links:<key> <destination>"
	for _, command := range []string{"flushdb", "flushall", "del"} {
		t.Run(command, func(t *testing.T) {
			server := startServer(t)
			server.do(t, "set", "links:docs", "/guide")
			e := startKeysEdge(t, &Source{URL: server.url("")})
			if command == "del" {
				server.do(t, "del", "links:docs")
			} else {
				server.do(t, command)
			}
			e.untilRefused(t, refused)
			if e.rules["docs"] != "/guide" {
				t.Errorf("%v serve", e.rules)
			}
			server.do(t, "set", "links:news", "/new")
			e.untilLike(t, server, 2*time.Second)
		})
	}
}

func TestAnotherDatabaseMayBeFlushed(t *testing.T) {
	server := startServer(t)
	server.fillKeys(t, 10)
	e := startKeysEdge(t, &Source{URL: server.url("")})
	server.inDatabase(t, 1).do(t, "flushdb")
	server.inDatabase(t, 1).do(t, "set", "links:key-0000001", "/wrong")
	server.do(t, "set", "links:docs", "/guide")
	e.untilLike(t, server, 2*time.Second)
}

func TestKeysThatSwapdbHasPutThereAreFound(t *testing.T) {
	server := startServer(t)
	server.fillKeys(t, 10)
	other := server.inDatabase(t, 1)
	for name, commands := range map[string][]any{
		"more": {"mset", "links:key-0000001", "/other", "links:docs", "/guide"},
		"less": {"del", "links:key-0000002"},
	} {
		t.Run(name, func(t *testing.T) {
			other.do(t, "flushdb")
			other.fillKeys(t, 10)
			other.do(t, commands...)
			e := startKeysEdge(t, &Source{URL: server.url("")})
			server.do(t, "swapdb", 0, 1)
			w := &watch{source: e.source, changed: e.hear}
			if _, err := w.compare(t.Context()); err != nil {
				t.Fatal(err)
			}
			e.untilLike(t, server, time.Second)
			server.do(t, "swapdb", 0, 1)
		})
	}
}

func TestAKeyOfAnotherTypeIsRefusedAndNamed(t *testing.T) {
	server := startServer(t)
	server.fillKeys(t, 10)
	e := startKeysEdge(t, &Source{URL: server.url("")})
	server.do(t, "rpush", "links:list", "/guide")
	e.untilRefused(t, `key "list": the Redis key links:list is not a string`)
	server.do(t, "set", "links:docs", "/guide")
	e.until(t, "a second refusal", time.Second, func(e *edge) bool { return e.changes > 1 })
	if e.rules["docs"] != "" {
		t.Error("another change is served")
	}
	again := newEdge(t, &Source{Hash: "links:*", URL: server.url("")}, t.TempDir())
	if again.read(t.Context()); again.err == nil ||
		!strings.Contains(again.err.Error(), "links:list") {
		t.Errorf("read as a whole: %v", again.err)
	}
	server.do(t, "rename", "links:list", "list")
	e.untilLike(t, server, 2*time.Second)
}

func TestBadValuesOfKeysAreReportedTogetherUntilPutRight(t *testing.T) {
	server := startServer(t)
	server.fillKeys(t, 10)
	e := startKeysEdge(t, &Source{URL: server.url("")})
	server.do(t, "set", "links:b", "{")
	e.untilRefused(t, `redis links:*: key "b": the value begins with "{"`)
	server.do(t, "set", "links:a", `{"to": 1}`)
	e.until(t, "both", time.Second, func(e *edge) bool {
		wrong, _ := errors.AsType[rulefile.Errors](e.err)
		return len(wrong) == 2 && strings.Contains(wrong[0].Message, `"a"`)
	})
	server.do(t, "set", "links:docs", "/guide")
	server.do(t, "del", "links:a")
	server.do(t, "set", "links:b", "/b")
	e.untilLike(t, server, 2*time.Second)
	if reads := e.readings(); reads != 1 {
		t.Errorf("everything was read %d times", reads)
	}
}

func TestWhatWasRejectedIsPassedAgainWithTheNextChange(t *testing.T) {
	server := startServer(t)
	server.fillKeys(t, 10)
	e := newEdge(t, &Source{Hash: "links:*", URL: server.url("")}, t.TempDir())
	e.judge = func(rules map[string]string) error {
		if rules["docs"] != "" && rules["guide"] == "" {
			return errors.New("docs leads nowhere")
		}
		return nil
	}
	e.read(t.Context())
	e.watch(t)
	server.do(t, "set", "links:docs", "/guide")
	e.untilRefused(t, "docs leads nowhere")
	server.do(t, "set", "links:guide", "https://example.com")
	e.untilLike(t, server, 2*time.Second)
	if reads := e.readings(); reads != 1 {
		t.Errorf("everything was read %d times", reads)
	}
}

func TestWhatIsWrittenAtOnceIsServedAtOnce(t *testing.T) {
	server := startServer(t)
	const n = 3000 // keys, which SCAN gives in several steps
	set := func(value string) {
		args := []any{"mset"}
		for i := range n {
			args = append(args, fmt.Sprint("links:", i), value)
		}
		server.do(t, args...)
	}
	set("/0")
	e := newEdge(t, &Source{Hash: "links:*", URL: server.url("")}, t.TempDir())
	e.judge = func(rules map[string]string) error {
		for _, value := range rules {
			if value != rules["0"] {
				t.Errorf("%s and %s at once", value, rules["0"])
				break
			}
		}
		return nil
	}
	e.read(t.Context())
	e.watch(t)
	for i := range 20 {
		set(fmt.Sprint("/", i))
	}
	e.untilLike(t, server, 2*time.Second)
}

func TestWhatIsWrittenWhileKeysAreReadIsServed(t *testing.T) {
	server := startServer(t)
	server.fillKeys(t, 20_000)
	e := startKeysEdge(t, &Source{URL: server.url("")})
	e.source.server.client.(*goredis.Client).AddHook(
		&meddler{command: "mget", meddle: func(writes int) {
			if writes > 20 {
				return
			}
			server.do(t, "set", fmt.Sprint("links:new-", writes), "/new")
			server.do(t, "set", fmt.Sprintf("links:key-%07d", writes*900), "/changed")
			server.do(t, "del", fmt.Sprintf("links:key-%07d", writes*900+1))
		}})
	server.inDatabase(t, 1).do(t, "flushdb") // so that everything is read
	e.until(t, "the reading", 5*time.Second, func(e *edge) bool { return e.comparisons == 2 })
	e.untilLike(t, server, 5*time.Second)
}

// repeater lets SCAN give each key twice: with the page, and with the next one.
type repeater struct {
	meddler
	last []string
}

func (r *repeater) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, cmd goredis.Cmder) error {
		err := next(ctx, cmd)
		if scan, is := cmd.(*goredis.ScanCmd); is && err == nil {
			page, cursor := scan.Val()
			scan.SetVal(slices.Concat(page, r.last, page[:len(page)/2]), cursor)
			r.last = page
		}
		return err
	}
}

func TestKeysThatScanGivesTwiceAreReadOnce(t *testing.T) {
	server := startServer(t)
	server.fillKeys(t, 2500)
	e := newEdge(t, &Source{Hash: "links:*", URL: server.url("")}, t.TempDir())
	e.source.server.client.(*goredis.Client).AddHook(new(repeater))
	read := func() (rules int, err error) {
		_, err = e.source.Read(t.Context(), func(resolver.Rule) { rules++ })
		return rules, err
	}
	if rules, err := read(); rules != 2500 || err != nil {
		t.Errorf("2500 keys are %d rules, %v", rules, err)
	}
	server.do(t, "del", "links:key-0000001")
	if rules, err := read(); rules != 2499 || err != nil {
		t.Errorf("2499 keys are %d rules, %v", rules, err)
	}
	server.do(t, "set", "links:bad", "{")
	_, err := read()
	if bad, is := errors.AsType[rulefile.Errors](err); !is || len(bad) != 1 {
		t.Errorf("a bad value is told as %v", err)
	}
}

func TestWhatChangedBeforeKeysAreWatchedIsRead(t *testing.T) {
	server := startServer(t)
	server.fillKeys(t, 10)
	for name, command := range map[string][]any{
		"written": {"set", "links:docs", "/guide"}, "deleted": {"del", "links:key-0000001"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEdge(t, &Source{Hash: "links:*", URL: server.url("")}, t.TempDir())
			e.read(t.Context())
			server.do(t, command...)
			e.watch(t)
			e.untilLike(t, server, time.Second)
		})
	}
}

func TestAnotherSourceGoesOnFromTheVersionOfKeys(t *testing.T) {
	server := startServer(t)
	server.fillKeys(t, 10)
	before := startKeysEdge(t, &Source{URL: server.url("")})
	server.do(t, "set", "links:docs", "/guide") // so that the version is of a change
	before.untilServed(t, "docs", "/guide", time.Second)
	before.stop()
	for name, meanwhile := range map[string]func(){
		"the same": func() {},
		"another":  func() { server.do(t, "set", "links:docs", "/guide/2") },
	} {
		t.Run(name, func(t *testing.T) {
			meanwhile()
			after := newEdge(t, &Source{Hash: "links:*", URL: server.url("")}, t.TempDir())
			after.version, after.rules = before.version, maps.Clone(before.rules)
			after.watch(t)
			server.do(t, "set", "links:news", "/news")
			after.untilLike(t, server, time.Second)
			if name == "the same" && after.readings() != 0 {
				t.Errorf("everything was read %d times", after.readings())
			}
		})
		server.do(t, "mset", "links:docs", "/guide")
		server.do(t, "del", "links:news")
	}
}

func TestKeysAreReadAgainAfterALostConnection(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, server *realServer){
		"closed by the server": func(t *testing.T, server *realServer) {
			server.do(t, "client", "kill", "type", "normal", "skipme", "yes")
		},
		"a server that comes back empty": func(t *testing.T, server *realServer) {
			server.kill()
			server.start(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := startServer(t)
			server.fillKeys(t, 10)
			e := startKeysEdge(t, &Source{URL: server.url("")})
			lose(t, server)
			server.do(t, "set", "links:docs", "/guide")
			server.do(t, "del", "links:key-0000003")
			e.waitForLog(t, "redis can be reached again")
			e.untilLike(t, server, 5*time.Second)
			server.do(t, "set", "links:docs", "/guide/2")
			e.untilLike(t, server, time.Second)
			if e.source.reach.Outage() != nil {
				t.Errorf("the outage lasts: %v", e.source.reach.Outage().Err)
			}
		})
	}
}

func TestAnOutageIsToldOfKeysAndEnds(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	server.fillKeys(t, 10)
	e := startKeysEdge(t, &Source{URL: server.url("")})
	server.kill()
	e.until(t, "the rejection", 10*time.Second, func(e *edge) bool { return e.err != nil })
	if e.source.reach.Outage() == nil {
		t.Error("there is no outage")
	}
	server.start(t)
	server.fillKeys(t, 10) // the same rules
	e.until(t, "the end", 20*time.Second, func(e *edge) bool { return e.err == nil })
	if e.source.reach.Outage() != nil {
		t.Errorf("it goes on: %v", e.source.reach.Outage().Err)
	}
}

func TestChangedKeysThatCannotBeReadAreReadLater(t *testing.T) {
	server := startServer(t)
	server.fillKeys(t, 10)
	server.addKeysUser(t, "edge", "+client|tracking")
	e := startKeysEdge(t, &Source{URL: server.url("edge")})
	server.do(t, "acl", "setuser", "edge", "-mget")
	server.do(t, "set", "links:docs", "/guide")
	e.untilRefused(t, "NOPERM")
	server.do(t, "acl", "setuser", "edge", "+mget")
	e.untilLike(t, server, 10*time.Second)
}

func TestKeysOfTheMasterThatSentinelSwitchesToAreServed(t *testing.T) {
	t.Parallel()
	port, replicaPort := freePort(t), freePort(t)
	server := startServer(t, "--port", port)
	server.fillKeys(t, 10)
	replica := startServer(t, "--port", replicaPort, "--replicaof", "127.0.0.1 "+port)
	sentinel := startSentinel(t, port)
	e := startKeysEdge(t, &Source{URL: sentinel.url})
	sentinel.untilOK(t, "failover", "links") // once it knows the replica
	for replica.client.Set(t.Context(), "links:docs", "/guide", 0).Err() != nil {
	}
	replica.do(t, "del", "links:key-0000001")
	e.untilLike(t, replica, 5*time.Second)
	replica.do(t, "set", "links:docs", "/guide/2")
	e.untilLike(t, replica, time.Second)
}

func TestKeysAreComparedAtEachPollWithoutTracking(t *testing.T) {
	for name, query := range map[string]string{"no permission": "", "RESP2": "?protocol=2"} {
		t.Run(name, func(t *testing.T) {
			server := startServer(t)
			server.fillKeys(t, 10)
			server.addKeysUser(t, "edge")
			e := newEdge(t, &Source{Hash: "links:*", URL: server.url("edge") + query, Poll: "10ms"},
				t.TempDir())
			e.read(t.Context())
			e.watch(t)
			if by := e.waitForLog(t, "watching redis").ContextMap()["by"]; by != "polling" {
				t.Fatalf("changes are noticed by %v", by)
			}
			server.do(t, "mset", "links:docs", "/guide", "links:key-0000001", "/changed")
			e.untilLike(t, server, time.Second)
			if e.readings() != 1 {
				t.Error("everything was read for a change")
			}
			server.do(t, "del", "links:key-0000001")
			e.untilLike(t, server, time.Second)
		})
	}
}

func TestKeysArePolledSeldomByDefault(t *testing.T) {
	e := newEdge(t, &Source{Hash: "links:*"}, t.TempDir())
	if e.source.every != 10*time.Second {
		t.Errorf("every %v", e.source.every)
	}
}

func TestNoneOfAThousandEditsASecondIsLost(t *testing.T) {
	server := startServer(t)
	server.fillKeys(t, 10_000)
	e := startKeysEdge(t, &Source{URL: server.url("")})
	length := time.Second
	if isSlow() {
		length = time.Minute
	}
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	ticks := time.NewTicker(time.Millisecond)
	defer ticks.Stop()
	var latest time.Duration
	edits := 0
	for ; ctx.Err() == nil; edits++ {
		<-ticks.C
		key := fmt.Sprintf("key-%07d", rand.N(12_000))
		if rand.N(10) == 0 {
			server.do(t, "del", "links:"+key)
		} else {
			server.do(t, "set", "links:"+key, fmt.Sprint("/", edits))
		}
		if edits%100 == 0 {
			server.do(t, "set", "links:probe", fmt.Sprint("/", edits))
			latest = max(latest, e.untilServed(t, "probe", fmt.Sprint("/", edits), time.Second))
		}
	}
	e.untilLike(t, server, 5*time.Second)
	t.Logf("%d edits, each hundredth of them served within %v; %d readings of changes", edits, latest,
		e.changes)
	if e.readings() != 1 {
		t.Errorf("everything was read %d times", e.readings())
	}
}

func TestKeysThatComeAndGoWhileAllAreComparedAreNotReadAll(t *testing.T) {
	server := startServer(t)
	server.fillKeys(t, 20_000)
	e := startKeysEdge(t, &Source{URL: server.url("")})
	e.source.server.client.(*goredis.Client).AddHook(&meddler{command: "mget", meddle: func(page int) {
		if page <= 20 {
			server.do(t, "set", fmt.Sprint("links:new-", page), "/new")
			server.do(t, "set", fmt.Sprintf("links:key-%07d", page*900), "/short", "px", 1)
		}
	}})
	w := &watch{source: e.source, changed: e.hear}
	if _, err := w.compare(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.untilLike(t, server, 5*time.Second)
	if reads := e.readings(); reads != 1 {
		t.Errorf("everything was read %d times", reads)
	}
}
