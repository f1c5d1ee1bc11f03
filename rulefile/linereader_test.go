package migrate_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
)

func TestLinesHaveNeitherEndsNorTheMarkInFront(t *testing.T) {
	table := migrate.Table{Input: migrate.Input{Source: "file"}}
	lines := table.NewLineReader(strings.NewReader("\uFEFFa \r\n\n # b\n\uFEFFc"))
	for _, want := range []string{"file:1:3 a ", "file:4:3 \uFEFFc"} {
		line, err := lines.NextEntry()
		if got := lines.At(3).String() + " " + line; got != want || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	if line, err := lines.Next(); err != io.EOF {
		t.Errorf("%q, %v", line, err)
	}
}

func TestALineOfMoreThanAMebibyteEndsTheReading(t *testing.T) {
	whole, table := strings.Repeat("a", 1<<20), migrate.Table{Input: migrate.Input{Source: "file"}}
	if line, err := table.NewLineReader(strings.NewReader(whole)).Next(); line != whole || err != nil {
		t.Errorf("%d bytes, %v", len(line), err)
	}
	_, err := table.NewLineReader(strings.NewReader("a\nb" + whole)).NextEntry()
	if err != nil {
		t.Error(err)
	}
	lines := table.NewLineReader(strings.NewReader("a\nb" + whole))
	lines.Next()
	if _, err = lines.Next(); err == nil || !strings.HasPrefix(err.Error(), "file:2:1: the line is") {
		t.Errorf("%v", err)
	}
	broken := errors.New("broken")
	if _, err := table.NewLineReader(iotest.ErrReader(broken)).Next(); err != broken {
		t.Errorf("%v", err)
	}
}
