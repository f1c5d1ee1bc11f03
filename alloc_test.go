//go:build !race

package shortlink_test

// The race detector allocates on its own, so it has no part in this.

import (
	"net/http"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink"
	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// What a request costs beyond what Caddy itself needs for it: for a redirect the
// Location, the answer that headers and placeholders refer to, and the function that
// gives the placeholders.
func TestAllocationsOfARequest(t *testing.T) {
	h, err := testcaddy.Provision(t, benchmarkRules)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		target string
		most   float64
	}{
		"redirect":                     {"/github/caddyserver/caddy", 3},
		"redirect through other rules": {"/source/issues", 3},
		"redirect to this host":        {"/docs/a", 3},
		"redirect with a query":        {"/search?q=caddy&page=2", 3},
		"pass":                         {"/not/a/key?q=caddy", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := allocations(t, h, tt.target); got > tt.most {
				t.Errorf("got %v allocations, want at most %v", got, tt.most)
			}
		})
	}
}

func TestAResponseThatIsNotAdvertisedCostsNoAllocation(t *testing.T) {
	h, err := testcaddy.Provision(t,
		strings.Replace(benchmarkRules, "{", `{"advertise": {"base_url": "http://go.example"}, `, 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"/not/a/key", "/not/a/key?q=caddy", "/caf%c3%a9/"} {
		if got := allocations(t, h, target); got > 0 {
			t.Errorf("%s: %v allocations", target, got)
		}
	}
}

// allocations returns the allocations of one ServeHTTP: each has a request of its own,
// prepared outside of what is counted.
func allocations(t *testing.T, h *shortlink.Handler, target string) float64 {
	t.Helper()
	const runs = 100
	var requests []*http.Request
	var writers []*testcaddy.Response
	for range runs + 1 { // AllocsPerRun runs once more, to warm up
		w := testcaddy.NewResponse()
		writers = append(writers, w)
		requests = append(requests, prepare(target, w))
	}
	i := 0
	return testing.AllocsPerRun(runs, func() {
		if err := h.ServeHTTP(writers[i], requests[i], nothing); err != nil {
			t.Fatal(err)
		}
		i++
	})
}
