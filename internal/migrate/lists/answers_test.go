package lists_test

import (
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate/lists"
	"github.com/caddy-shortlink/shortlink/internal/migrate/migratetest"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

func TestListsAreAnsweredAsTheirProgramsDo(t *testing.T) {
	preserving := migratetest.Program{Reader: lists.ReadArray,
		Reading: rulefile.Reading{Query: resolver.QueryPreserve}}
	rows, same := migratetest.CheckAnswers(t, "../testdata/answers/lists.json",
		map[string]migratetest.Program{"vercel": preserving, "next": preserving, "firebase": preserving,
			"bulk": {Reader: lists.ReadArray}})
	if rows < 690 || same < 650 {
		t.Errorf("%d rows, of which %d are the same", rows, same)
	}
}
