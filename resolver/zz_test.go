package resolver

import (
	"fmt"
	"testing"
	"time"
)

func TestZZLeast(t *testing.T) {
	for _, dear := range dearRequests(maxTemplatePath) {
		rs := mustCompile(t, dear.rules, Options{})
		request, _ := NewRequest("https", "go.example", dear.path)
		dst := make([]byte, 0, 128<<10)
		least := time.Hour
		var r Result
		for range 60 {
			start := time.Now()
			_, r = rs.AppendDestination(dst, &request)
			least = min(least, time.Since(start))
		}
		fmt.Printf("%-40s %8.3f ms %v\n", dear.name, float64(least)/1e6, r.Err)
	}
}
