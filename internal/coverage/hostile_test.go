package coverage

import (
	"bytes"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"testing"
)

// repeated reads a text again and again.
type repeated struct {
	text string
	at   int
}

func (r *repeated) Read(p []byte) (n int, err error) {
	for n < len(p) {
		copied := copy(p[n:], r.text[r.at:])
		n += copied
		r.at = (r.at + copied) % len(r.text)
	}
	return n, nil
}

// endless returns a reader of a text and so many MB more.
func endless(begin, more string, megabytes int64) io.Reader {
	return io.MultiReader(strings.NewReader(begin),
		io.LimitReader(&repeated{text: strings.Repeat(more, 10_000)}, megabytes<<20))
}

func TestALineOfHundredMegabytesIsPassedOver(t *testing.T) {
	for name, begin := range map[string]string{
		"a list": "/a\n/", "Caddy's log": access("GET", "h", "/a", 0) + `{"a":"`,
		"combined": strings.ReplaceAll(combined, "404", "100") + "x", "a table": "url\n/a\n\"",
	} {
		c := NewCounts(Options{})
		r := io.MultiReader(endless(begin, "x", 100), strings.NewReader("\n"))
		before := memory()
		err := c.Read("file", r)
		if err != nil || c.String() != "1 /a" || c.Unread.Lines != 1 ||
			!strings.HasSuffix(c.Unread.First[0], ": a line of more than 1048576 bytes") {
			t.Errorf("%s: got %v, %s, %+v", name, err, c, c.Unread)
		}
		if grown := memory() - before; grown > 4<<20 {
			t.Errorf("%s: %.0f bytes are held", name, grown)
		}
	}
}

func TestASitemapHoldsNoMoreThanAnElement(t *testing.T) {
	for name, r := range map[string]io.Reader{
		"a long text": endless("<urlset><url><loc>/a</loc></url><url><loc>", "x", 100),
		"a long tag":  endless("<urlset><url><loc>/a</loc></url><url ", "x", 100),
		"attributes":  endless("<urlset><url><loc>/a</loc></url><url ", "x='' ", 100),
		"entities":    endless("<urlset><url><loc>/a</loc></url><url><loc>", "&lt;", 100),
		"a comment":   endless("<urlset><url><loc>/a</loc></url><!--", "x", 100),
	} {
		c := NewCounts(Options{})
		err := c.Read("file", r)
		if err != nil || c.String() != "1 /a" || c.Unread.Lines != 1 ||
			!strings.Contains(c.Unread.First[0], "more than 1048576 bytes") {
			t.Errorf("%s: got %v, %s, %+v", name, err, c, c.Unread)
		}
	}
}

func TestABombOfGzipTakesNoMemory(t *testing.T) {
	bomb := packed(t, "/a\n"+strings.Repeat("/b\n", 5<<20))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(64 << 20))
	before := memory()
	c := read(t, Options{}, bomb)
	if grown := memory() - before; c.String() != "1 /a, 5242880 /b" || grown > 4<<20 {
		t.Errorf("got %s, %.0f bytes", c, grown)
	}
}

func TestOctetsThatAreNoTextAreCounted(t *testing.T) {
	c := read(t, Options{}, "/a\x00b\n/\xff\xfe\n/\x1b[2J\n")
	if got, want := c.String(), "1 /a%00b, 1 /%FF%FE, 1 /%1B[2J"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestMoreURLsThanAreHeldAreCountedTogether(t *testing.T) {
	var lines bytes.Buffer
	for i := range MostURLs + 7 {
		fmt.Fprintf(&lines, "/%d\n", i)
	}
	lines.WriteString("/1\n/2") // known ones are counted on, also without an end of the line
	c := read(t, Options{}, lines.String())
	if c.Len() != MostURLs || c.LeftOut.Overflow != 7 || c.urls[1].requests != 2 ||
		c.urls[2].requests != 2 {
		t.Errorf("got %d URLs, %+v", c.Len(), c.LeftOut)
	}
}

func TestLongURLsTakeALimitedAmountOfMemory(t *testing.T) {
	c := NewCounts(Options{})
	long := strings.Repeat("x", 60_000)
	r, w := io.Pipe()
	go func() {
		for i := range 6000 {
			fmt.Fprintf(w, "/%d%s\n", i, long)
		}
		w.Close()
	}()
	if err := c.Read("file", r); err != nil || c.textSize > mostText ||
		c.LeftOut.Overflow == 0 || c.Len()+int(c.LeftOut.Overflow) != 6000 {
		t.Errorf("got %v, %d URLs, %+v", err, c.Len(), c.LeftOut)
	}
}

func TestHostsBeyondALimitAreNotToldApart(t *testing.T) {
	var lines strings.Builder
	for i := range 2 * mostHosts {
		fmt.Fprintf(&lines, "https://h%d.example/a\n", i)
	}
	o := Options{IsOurs: func(host string) bool { return !strings.HasPrefix(host, "h1") }}
	c := read(t, o, lines.String())
	if len(c.byHost) > mostHosts ||
		c.urls[0].requests+c.LeftOut.Hosts != 2*mostHosts || c.LeftOut.Hosts != 11_111 {
		t.Errorf("got %d hosts, %+v", len(c.byHost), c.LeftOut)
	}
}
