package apache_test

import (
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate/apache"
	"github.com/caddy-shortlink/shortlink/internal/migrate/migratetest"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

func TestRulesAnswerAsARunningApache(t *testing.T) {
	rows, same := migratetest.CheckAnswers(t, "../testdata/answers/apache.json",
		map[string]migratetest.Program{"apache": {
			Reader: apache.Read, Reading: rulefile.Reading{Hosts: []string{migratetest.SiteHost}},
			Query: resolver.QueryPreserve,
		}})
	if same < 150 {
		t.Errorf("%d of %d rows are the same", same, rows)
	}
}
