package hits

import (
	"bytes"
	"maps"
	"strings"
	"testing"
)

func FuzzHitEntry(f *testing.F) {
	f.Add([]byte(`{"since":"2026-11-21T12:00:00Z","began":"2026-11-21T12:00:00Z","date":"2026-11-24","n":7,`+
		`"days":[0,5,0,1],"top":[{"key":"a","n":3}]}`),
		[]byte("a 10 3622320 1,,2\nb%20c 2 3622321\na 11 3622322\n"))
	f.Fuzz(func(t *testing.T, header, lines []byte) {
		b := append(append([]byte(entryStart), header...), '\n')
		b = endEntry(append(b, lines...))
		read, err := parseEntry(b)
		if err != nil {
			return
		}
		again, err := parseEntry(read.write())
		if err != nil || !bytes.Equal(again.write(), read.write()) {
			t.Fatalf("%q is %+v, and written and read again %+v, %v", b, read, again, err)
		}
		// What an entry says never breaks a server, and totals are the same after a restart.
		storage := newDrawer()
		storage.entries["shortlink/hits/links/one/today"] = string(b)
		if newChanges(again.header, again.lines).keys() == bytes.Count(again.lines, []byte("\n")) {
			storage.entries[shardEntry("a")] = string(b)
		}
		c := newCalendar(t, storage, "one", "a")
		c.hit("a", 1)
		c.mustKeep()
		c.daysOf("a")
		c.daysOf("")
		want := c.counts()
		c.restart("a")
		c.mustKeep()
		wantCounts(t, c.Counters, want)
	})
}

// keys returns how many keys there are.
func (c *changes) keys() (sum int) {
	for n := range shards {
		sum += len(c.totals(n))
	}
	return sum
}

func (c *content) write() []byte {
	text := startEntry(c.header)
	eachLine(c.lines, func(l *line) { text = l.append(text) })
	return endEntry(text)
}

func TestALineHasTheLastDays(t *testing.T) {
	l := &line{key: []byte("a")}
	for _, step := range []struct {
		day, hour int
		n         uint64
		want      string
	}{
		{100, 3, 5, "a 0 144180 5"},
		{100, 4, 1, "a 0 144240 6"},
		{103, 0, 2, "a 0 148320 2,,,6"},
		{102, 9, 4, "a 0 148320 2,4,,6"}, // as the clock was ahead
		{102, 9, 0, "a 0 148320 2,4,,6"},
		{104, 0, 0, "a 0 149760 ,2,4,,6"},
		{192, 0, 1, "a 0 276480 1" + strings.Repeat(",", DaysKept-1) + "2"}, // older ones are dropped
		{400, 0, 7, "a 0 576000 7"},
		{200, 0, 8, "a 0 288000 8"}, // as the clock was far ahead
	} {
		l.add(uint32((step.day*24+step.hour)*60), step.n)
		text := string(bytes.TrimSuffix(l.append(nil), []byte("\n")))
		if text != step.want {
			t.Errorf("after %d hits of day %d the line is %q, want %q", step.n, step.day, text, step.want)
		}
		again := new(line)
		if !again.parse([]byte(text+"\n")) || again.days != l.days || again.Count != l.Count {
			t.Errorf("%q is read as %+v", text, again)
		}
	}
}

func TestWhatIsNoLineIsNotRead(t *testing.T) {
	for _, text := range []string{
		"\n", "a\n", "a 1\n", " 1 2\n", "a 1 2", "a x 2\n", "a 1 x\n", "a 1 2 x\n",
		"a 1 2 3 4\n", "a 1 2 3,-4\n",
		"a 1 16777215\n", "a 1 2 " + strings.Repeat(",", DaysKept) + "\n",
		"a 1 2 99999999999999999999\n",
	} {
		if new(line).parse([]byte(text)) {
			t.Errorf("%q is a line", text)
		}
	}
}

func TestWhatHasChangedIsPutIntoAShardOnce(t *testing.T) {
	c := newChanges(header{Date: 100},
		[]byte("new 1 144000\nold 5 144001\nold 7 144002\nsame 3 100\n"))
	lines := []byte("kept 9 200 4\nold 4 142560 1\nsame 3 100 3\n")
	for range 2 {
		var merged []byte
		for n := range shards {
			mine := []byte(nil)
			eachLine(lines, func(l *line) {
				if shardOf(l.key) == n {
					mine = l.append(mine)
				}
			})
			c.merge(n, mine, anyKey, func(l *line) { merged = l.append(merged) })
		}
		got := map[string]bool{}
		for text := range bytes.Lines(merged) {
			got[string(text)] = true
		}
		want := map[string]bool{"kept 9 200 4\n": true, "old 7 144002 3,1\n": true,
			"same 3 100 3\n": true, "new 1 144000 1\n": true}
		if !maps.Equal(got, want) {
			t.Errorf("the lines are %q", merged)
		}
		lines = merged
	}
}
