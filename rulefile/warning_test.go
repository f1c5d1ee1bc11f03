package rulefile

import (
	"fmt"
	"io"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
)

func TestWarningsOfAFileAreTenThousandAndTheirRestIsCounted(t *testing.T) {
	var reports Reports
	for line := 12_000; line > 0; line-- {
		at := resolver.Position{Source: "f", Line: line, Column: 1}
		reports.warn(WarnLeftOut, at, "", fmt.Sprintf("line %d", line))
	}
	all, _ := reports.Result(io.EOF)
	if len(all) != maxReports+1 || all[0].String() != "f:2001:1: line 2001" {
		t.Fatalf("%d warnings, the first is %s", len(all), all[0])
	}
	const want = "f:12000:1: 2000 more warnings of the file are left out"
	if got := all[maxReports].String(); got != want {
		t.Errorf("got %s", got)
	}
}
