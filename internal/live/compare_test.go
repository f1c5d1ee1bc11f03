package live

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-shortlink/shortlink/internal/pending"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

// sayAll lets a source say that all its rules may have changed.
func (s *changingSource) sayAll(keys ...string) {
	s.all(keys...)
	synctest.Wait()
}

func rejections(logs *observer.ObservedLogs) int {
	return logs.FilterMessage("rules rejected: those from before go on serving").Len()
}

func TestARejectionThatIsFoundAgainIsNotToldAgain(t *testing.T) {
	for name, reject := range map[string]func(s *changingSource){
		"by key": func(s *changingSource) {
			s.put("a", "/a/x")
			s.tell()
		},
		"as the source cannot be read": func(s *changingSource) {
			s.fails = errors.New("a bad value")
			s.put("b", two)
			s.tell()
		},
		"as a whole": func(s *changingSource) {
			s.fails = errors.New("a bad value")
			s.sayAll()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &changingSource{}
				s.set("a", one)
				rs, logs := serve(t, Config{Sources: []source.Source{s}})
				synctest.Wait()
				reject(s)
				if n := rejections(logs); n != 1 || rs.LastLoad().Err == nil {
					t.Fatalf("%d rejections are told of, the last is %v", n, rs.LastLoad().Err)
				}
				for range 3 {
					s.sayAll()
				}
				if n := rejections(logs); n != 1 {
					t.Errorf("%d rejections are told of", n)
				}
				s.fails = nil
				s.set("a", one)
				s.sayAll()
				if err := rs.LastLoad().Err; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestOfRulesThatServeAComparisonReadsNoKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &changingSource{}
		s.set("a", one, "B/{x}", two, "%7Ec", three)
		s.rules[0] = resolver.Rule{Key: "a", Value: one, Status: 301, Exact: true, Unlisted: true,
			Note: "why", Position: s.rules[0].Position}
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		synctest.Wait()
		s.sayAll()
		if s.reads != 2 || s.keyReads != 0 {
			t.Errorf("everything was read %d times, and keys %d times", s.reads, s.keyReads)
		}
		if err := rs.LastLoad().Err; err != nil {
			t.Error(err)
		}
	})
}

func TestAKeyThatIsSpelledOtherwiseWhileNobodyListensServes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &changingSource{}
		s.set("a", one, "b", one)
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		synctest.Wait()
		s.set("%61", two, "b", one)
		s.sayAll()
		rs.wantServed(t, "a", two, "b", one)
		if err := rs.LastLoad().Err; err != nil {
			t.Error(err)
		}
	})
}

func TestVeryManyKeysAreReadAsAWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &changingSource{}
		s.set("a", one)
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		synctest.Wait()
		s.put("b", two)
		keys := make([]string, pending.MaxKeys+1)
		for i := range keys {
			keys[i] = fmt.Sprint("key", i)
		}
		s.sayAll(keys...)
		rs.wantServed(t, "b", two)
		if s.reads != 2 || s.keyReads != 0 {
			t.Errorf("everything was read %d times, and keys %d times", s.reads, s.keyReads)
		}
	})
}

func TestAKeyThatIsDeletedWhileAllIsReadAndNobodyListensIsNotServed(t *testing.T) {
	for name, isNew := range map[string]bool{"one that serves": false, "a new one": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &changingSource{}
				s.set("a", one, "b", two)
				rs, _ := serve(t, Config{Sources: []source.Source{s}})
				synctest.Wait()
				s.sayAll()
				if isNew {
					s.put("b", "")
					s.tell()
					s.put("b", two)
				}
				goOn := make(chan struct{})
				s.afterRead = func() { <-goOn }
				go rs.Reload(t.Context())
				synctest.Wait() // it has read b
				s.afterRead = nil
				s.put("b", "")
				s.all() // as the connection is there again
				close(goOn)
				synctest.Wait()
				rs.wantServed(t, "a", one, "b", resolver.Pass.String())
			})
		})
	}
}

func TestAChangeThatAConfigurationHasNotReadIsReadByTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &changingSource{}
		s.set("a", one)
		old, _ := serve(t, Config{Sources: []source.Source{s}})
		synctest.Wait()
		ending, end := context.WithCancel(t.Context())
		next := *old
		next.Context = caddy.Context{Context: ending}
		go next.follow(next.watch())
		synctest.Wait()
		s.afterKeys = end
		s.set("a", two)
		s.sayAll()
		s.afterKeys = nil
		old.wantServed(t, "a", one)
		next.Context = caddy.Context{Context: t.Context()}
		go next.follow(next.watch())
		synctest.Wait()
		s.sayAll()
		old.wantServed(t, "a", two)
	})
}

// outSource is a changingSource that can be out.
type outSource struct {
	changingSource
	reach source.Reachability
}

func (s *outSource) Reach() *source.Reachability { return &s.reach }

func (s *outSource) Read(ctx context.Context, add func(resolver.Rule)) (string, error) {
	version, err := s.changingSource.Read(ctx, add)
	if err != nil {
		s.reach.Fail(err)
	} else {
		s.reach.Succeed()
	}
	return version, err
}

func TestAnOutageIsRejectedWhenItHasLasted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(outSource)
		s.set("a", one)
		rs, logs := serve(t, Config{Sources: []source.Source{s}})
		synctest.Wait()
		s.fails = errors.New("connection refused")
		s.sayAll()
		if rs.LastLoad().Err != nil {
			t.Errorf("it is rejected at once: %v", rs.LastLoad().Err)
		}
		letPass(pending.Grace)
		if rs.LastLoad().Err == nil {
			t.Error("it is not rejected though the outage lasts")
		}
		s.sayAll()
		letPass(2 * pending.Grace)
		if n := rejections(logs); n != 1 {
			t.Errorf("%d rejections are told of", n)
		}
		s.fails = nil
		s.set("a", two)
		s.sayAll()
		rs.wantServed(t, "a", two)
		if rs.LastLoad().Err != nil {
			t.Error(rs.LastLoad().Err)
		}
	})
}

func TestWhileAFileWithOtherRulesIsRejectedKeysAreReadByThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file, s := &plainSource{name: "file"}, &changingSource{}
		s.set("a", one)
		file.set("f", one)
		rs, _ := serve(t, Config{Sources: []source.Source{file, s}})
		synctest.Wait()
		rules := []string{"broken", "/broken"}
		for i := range 2000 {
			rules = append(rules, fmt.Sprint("f", i), one)
		}
		file.set(rules...)
		file.tell()
		if rs.LastLoad().Err == nil {
			t.Fatal("nothing is rejected")
		}
		reads := s.reads
		s.put("a", two)
		s.tell()
		s.put("a", three)
		s.tell()
		file.set("f", two)
		file.tell()
		rs.wantServed(t, "a", three, "f", two)
		if s.reads-reads > 2 || s.keyReads != 3 {
			t.Errorf("all was read %d times, and keys %d times", s.reads-reads, s.keyReads)
		}
	})
}
