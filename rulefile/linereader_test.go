package rulefile_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/caddy-shortlink/shortlink/rulefile"
)

func TestLinesHaveNeitherEndsNorTheMarkInFront(t *testing.T) {
	lines := rulefile.NewLineReader(strings.NewReader("\uFEFFa \r\n\n # b\n\uFEFFc"), "file")
	for _, want := range []string{"file:1:3 a ", "file:4:3 \uFEFFc"} {
		line, err := lines.Next()
		if got := lines.At(3).String() + " " + string(line); got != want || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	if line, err := lines.Next(); err != io.EOF {
		t.Errorf("%q, %v", line, err)
	}
}

func TestALineOfMoreThanAMebibyteEndsTheReading(t *testing.T) {
	whole := strings.Repeat("a", 1<<20)
	line, err := rulefile.NewLineReader(strings.NewReader(whole), "file").Next()
	if string(line) != whole || err != nil {
		t.Errorf("%d bytes, %v", len(line), err)
	}
	lines := rulefile.NewLineReader(strings.NewReader("a\nb"+whole), "file")
	if _, err := lines.Next(); err != nil {
		t.Error(err)
	}
	if _, err = lines.Next(); err == nil || !strings.HasPrefix(err.Error(), "file:2:1: the line is") {
		t.Errorf("%v", err)
	}
	broken := errors.New("broken")
	if _, err := rulefile.NewLineReader(iotest.ErrReader(broken), "file").Next(); err != broken {
		t.Errorf("%v", err)
	}
}
