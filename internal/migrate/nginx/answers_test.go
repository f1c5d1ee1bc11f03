package nginx_test

import (
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate/migratetest"
	"github.com/caddy-shortlink/shortlink/internal/migrate/nginx"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

func TestMapsAnswerAsTheirProgramsDo(t *testing.T) {
	programs := map[string]migratetest.Program{}
	for _, name := range []string{
		"nginx", "haproxy", "haproxy_beg", "haproxy_reg", "rewritemap", "rewritemap_bare",
	} {
		isExact := name != "haproxy_beg"
		programs[name] = migratetest.Program{Reader: nginx.Read, IsSaid: true,
			Reading: rulefile.Reading{Status: 301, Query: resolver.QueryIgnore, Exact: &isExact}}
	}
	if rows, _ := migratetest.CheckAnswers(t, "../testdata/answers/maps.json", programs); rows < 250 {
		t.Errorf("%d requests", rows)
	}
}
