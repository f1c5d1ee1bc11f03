package metrics

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// A pedantic registry checks that what is collected is consistent with what is described, and that
// nothing comes twice.
func TestTheMetricsCanBeCollectedByTwoRegistries(t *testing.T) {
	for range 2 {
		registry := prometheus.NewPedanticRegistry()
		for i := range 2 {
			err := registry.Register(Collector(func() []Handler { return nil }))
			if (err == nil) != (i == 0) {
				t.Errorf("registered for time %d: %v", i+1, err)
			}
		}
		if _, err := registry.Gather(); err != nil {
			t.Error(err)
		}
	}
}
