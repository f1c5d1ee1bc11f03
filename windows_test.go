package shortlink_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-shortlink/shortlink"
	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// adaptBlock returns the rules of a directive's block as JSON, or what is wrong with it.
func adaptBlock(t *testing.T, lines string) string {
	t.Helper()
	h := new(shortlink.Handler)
	err := h.UnmarshalCaddyfile(caddyfile.NewTestDispenser("shortlink {\n" + lines + "\n}"))
	if err != nil {
		return err.Error()
	}
	b, err := json.Marshal(h.Rules)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &h.Rules); err != nil {
		t.Errorf("it is not read again: %v", err)
	}
	return string(b)
}

func TestALineSaysWhatAKeyLeadsToAtWhichTime(t *testing.T) {
	for line, want := range map[string]string{
		"fair /register until 2027-03-01 then https://video.example until 2027-06-01 then gone": `{"fair":` +
			`[{"to":"/register","until":"2027-03-01"},` +
			`{"to":"https://video.example","since":"2027-03-01","until":"2027-06-01"},` +
			`{"to":"gone","since":"2027-06-01"}]}`,
		"sale /sale 301 since 2027-03-20T18:00:00+01:00 exact": `{"sale":{"to":"/sale","status":301,` +
			`"exact":true,"since":"2027-03-20T17:00:00Z"}}`,
		"a /b until 2027-03-01 then /c since 2027-04-01": `{"a":[{"to":"/b","until":"2027-03-01"},` +
			`{"to":"/c","since":"2027-04-01"}]}`,
		"rule then /then until 2027-03-01": `{"then":{"to":"/then","until":"2027-03-01"}}`,
		"{year}/x /{year} until 2027-03-01 then /old/{year}": `{"{year}/x":[{"to":"/{year}","until":` +
			`"2027-03-01"},{"to":"/old/{year}","since":"2027-03-01"}]}`,
	} {
		if got := adaptBlock(t, line); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", line, got, want)
		}
	}
}

func TestALineSaysWhatIsWrongWithItsTimes(t *testing.T) {
	for line, want := range map[string]string{
		"a /b until": `key "a": until takes a time, such as until 2027-03-01`,
		"a /b until 2027-03-01T10:00:00": `key "a": until takes a time; 2027-03-01T10:00:00 has no zone; ` +
			"write 2027-03-01T10:00:00Z for UTC, or a zone such as +01:00 in place of the Z",
		"a /b since 2027-03-02 until 2027-03-01": `key "a": until is 2027-03-01, which is not after ` +
			"since, 2027-03-02; write a later until, or an earlier since",
		"a /b then /c": `key "a": then follows a destination that ends; write until and a time in front ` +
			"of it, such as until 2027-03-01",
		"a /b until 2027-03-01 then": `key "a": then takes a destination, which begins with https://, ` +
			`http:// or /, or the word gone or pass, not ""`,
		"a /b until 2027-03-01 then /c since 2027-02-01": `key "a": it begins at 2027-02-01, and the ` +
			"rule in front of it lasts until 2027-03-01; let one begin when the other ends",
		"a /b until 2027-03-01 until 2027-04-01": `key "a": until is given twice`,
		"a /b until 2027-03-01 then https://": `key "a": the destination "https://" is not a URL: the ` +
			`host is missing`,
	} {
		if got := adaptBlock(t, line); !strings.HasSuffix(got, want) || !strings.Contains(got, ":2") {
			t.Errorf("%s\ngot  %s\nwant %s", line, got, want)
		}
	}
}

func TestNoRedirectIsKeptLongerThanItsWindow(t *testing.T) {
	now := time.Now()
	in := func(d time.Duration) string { return now.Add(d).UTC().Format(time.RFC3339) }
	hour, day := in(time.Hour), in(24*time.Hour)
	rules := fmt.Sprintf(`"rules": {
		"plain": "https://x.example", "moved": {"to": "https://x.example", "status": 301},
		"hour": {"to": "https://x.example", "until": %q},
		"day": {"to": "https://x.example", "until": %q},
		"begun": {"to": "https://x.example", "since": %q},
		"gone": {"to": "https://x.example", "status": 308, "until": %[1]q},
		"chain": {"to": "/gone", "status": 301}, "chain2": "/hour", "chain3": "/plain",
		"{x}/y": {"to": "/hour?{x}", "status": 301},
		"above": "https://x.example", "above/new": {"to": "https://new.example", "since": %[1]q},
		"old": {"to": "https://x.example", "status": 301},
		"old/new": {"to": "https://new.example", "since": %[1]q}
	}`, hour, day, in(-time.Hour))
	for cache, wants := range map[string]map[string]int{
		"": {"plain": 0, "moved": 0, "hour": 0, "gone": 3600, "chain": 3600, "chain2": 0,
			"above": 0, "old": 3600},
		`"cache": "2h",`: {"plain": 7200, "moved": 7200, "hour": 3600, "day": 7200, "begun": 7200,
			"gone": 3600, "chain": 3600, "chain2": 3600, "chain3": 7200, "a/y": 3600,
			"above": 3600, "old": 3600},
	} {
		h, err := testcaddy.Provision(t, "{"+cache+rules+"}")
		if err != nil {
			t.Fatal(err)
		}
		for key, want := range wants {
			for range 2 {
				w := httptest.NewRecorder()
				if err := h.ServeHTTP(w, prepare("/"+key, w), nothing); err != nil {
					t.Fatal(err)
				}
				got := 0
				_, err := fmt.Sscanf(w.Header().Get("Cache-Control"), "max-age=%d", &got)
				if (err == nil) != (want > 0) || got > want || got < want-60 {
					t.Errorf("%s %s: %q, want %d", cache, key, w.Header().Get("Cache-Control"), want)
				}
			}
		}
	}
}

func TestAServerTurnsToTheNextWindowWithinASecond(t *testing.T) {
	edge := time.Now().Truncate(time.Second).Add(3 * time.Second)
	at := edge.UTC().Format(time.RFC3339)
	s := testcaddy.Serve(t, `
		handle /cached/* {
			shortlink {
				cache 1h
				cached/fair https://fair.example until `+at+` then https://video.example
			}
		}
		shortlink {
			fair https://fair.example until `+at+` then https://video.example
			moved https://fair.example 301 until `+at+`
			stays https://fair.example 301
		}
		respond "no link"
	`)
	then := map[string]string{
		"/fair": "302 https://video.example/", "/cached/fair": "302 https://video.example/",
		"/moved": "200",
	}
	for isOver := false; !isOver; <-time.After(10 * time.Millisecond) {
		isOver = time.Now().After(edge.Add(time.Second))
		for path, then := range then {
			asked := time.Now()
			got := s.Get(t, path)
			kept := got.Header.Get("Cache-Control")
			seconds, hasNext := 0, got.Location() == then
			_, err := fmt.Sscanf(kept, "max-age=%d", &seconds)
			switch {
			case hasNext && time.Now().Before(edge):
				t.Errorf("%s: the next window has begun %s early", path, time.Until(edge))
			case !hasNext && isOver:
				t.Errorf("%s: the window lasts on %s later", path, time.Since(edge))
			case !hasNext && asked.Before(edge) && ((err == nil) != (path != "/fair") ||
				asked.Add(time.Duration(seconds)*time.Second).After(edge)):
				t.Errorf("%s: %s before the edge Cache-Control is %q", path, edge.Sub(asked), kept)
			}
		}
	}
	if got := s.Get(t, "/stays").Header.Get("Cache-Control"); got != "" {
		t.Errorf("a link without an end has Cache-Control %s", got)
	}
}
