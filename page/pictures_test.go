package page_test

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/internal/hits"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// popular says how many redirects links have on a working day, about, so that pictures show some.
var popular = map[string]int{
	"standup": 61, "handbook": 48, "wiki": 35, "oncall": 17, "grafana": 29, "roadmap": 12,
	"gh/issues": 22, "lunch": 40, "vpn": 5, "okrs": 8, "design/system": 14, "status": 3, "holidays": 2,
}

// writeHits writes what a server would have stored that has served links for the last 90 days.
func writeHits(t *testing.T, dir string) {
	t.Helper()
	if _, err := caddy.InstanceID(); err != nil {
		t.Fatal(err)
	}
	first := time.Now().AddDate(0, 0, 1-hits.DaysKept)
	synctest.Test(t, func(t *testing.T) {
		var rules []resolver.Rule
		for key := range popular {
			rules = append(rules, resolver.Rule{Key: key, Value: "https://www.example.com"})
		}
		ruleset, err := resolver.Compile(rules, resolver.Options{})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Until(first))
		counters := hits.NewCounters(time.Now())
		keeper, counted := hits.NewKeeper("go", counters), counters.Begin(ruleset)
		ctx, end := context.WithCancel(context.Background())
		keeper.KeepIn(ctx, &certmagic.FileStorage{Path: filepath.Join(dir, "storage")}, zap.NewNop())
		synctest.Wait()
		for day := range hits.DaysKept {
			if day > 0 {
				time.Sleep(24 * time.Hour)
			}
			for key, n := range popular {
				number, _ := ruleset.NumberOf(key)
				for range redirectsOn(time.Now(), day, len(key), n) {
					counted.Count(number)
				}
			}
		}
		end()
		keeper.End()
	})
}

// redirectsOn returns how often a link is used on a day: more and more, and little at weekends.
func redirectsOn(date time.Time, day, variety, usual int) int {
	n := usual * (60 + day) / 110 * (85 + (day*7+variety*13)%31) / 100
	if date.Weekday() == time.Saturday || date.Weekday() == time.Sunday {
		n /= 9
	}
	return n
}
