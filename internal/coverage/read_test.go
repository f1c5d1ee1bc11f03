package coverage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// read counts the requests of a file.
func read(t testing.TB, o Options, content string) *Counts {
	t.Helper()
	c := NewCounts(o)
	if err := c.Read("file", strings.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	return c
}

// String lists the URLs as they came: requests, path, and the status if it is known.
func (c *Counts) String() string {
	var all []string
	for _, u := range c.urls {
		text := fmt.Sprintf("%d %s", u.requests, u.path)
		if u.status != 0 {
			text += fmt.Sprint(" ", u.status)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// access returns an entry of Caddy's access log.
func access(method, host, uri string, status int) string {
	return fmt.Sprintf(`{"level":"info","ts":1.5,"logger":"http.log.access","msg":"handled request",`+
		`"request":{"method":%q,"host":%q,"uri":%q,"headers":{"A":["{\"}"]}},"status":%d}`+"\n",
		method, host, uri, status)
}

const combined = `1.2.3.4 - - [22/Nov/2026:16:31:45 +0000] "GET /a HTTP/1.1" 404 12 "-" "x"` + "\n"

func TestEachFileIsToldByItsContent(t *testing.T) {
	for name, tt := range map[string]struct{ content, want string }{
		"nothing":     {"", ""},
		"blank lines": {"\n \n", ""},
		"Caddy's log": {access("GET", "h", "/a?x", 404) + access("HEAD", "h", "/a", 200), "2 /a 200"},
		"Caddy's log with other entries": {
			`{"level":"info","logger":"admin.api","msg":"x","method":"GET","uri":"/load"}` + "\n" +
				`{"level":"error","logger":"http.log.error","msg":"x","request":{"uri":"/a"},"status":500}` +
				"\n" + access("GET", "h", "/b", 404), "1 /b 404"},
		"Caddy's log with escapes": {
			`{"request":{"method":"G\u0045T","uri":"\/a\u0026b\"c"},"status":404}`, "1 /a&b%22c 404"},
		"Caddy's log after a filter": {`{"request":{"uri":"/a"}}`, "1 /a"},
		"Caddy's log in the console form": {
			"2026/11/22 16:31:45.123\tINFO\thttp.log.access\thandled request\t" +
				`{"request":{"method":"GET","uri":"/a"},"status":404}` + "\n" +
				"2026/11/22 16:31:45.123\tERROR\thttp.log.error\tx\t" +
				`{"request":{"method":"GET","uri":"/b"},"status":500}` + "\n", "1 /a 404"},
		"common":   {`1.2.3.4 - bob [22/Nov/2026:16:31:45 +0000] "GET /a HTTP/1.0" 200 -`, "1 /a 200"},
		"combined": {combined + combined, "2 /a 404"},
		"combined with hosts": {"www.example:443 " + combined + "www.example " + combined,
			"2 /a 404"},
		"combined with escapes": {strings.ReplaceAll(combined, "/a", `/\"\x22b`),
			"1 /%22%22b 404"},
		"combined with URLs": {strings.ReplaceAll(combined, "/a", "http://h/b?c"),
			"1 /b 404"},
		"a log that begins within a line": {`/x HTTP/1.1" 404 12` + "\n" + combined, "1 /a 404"},
		"sitemap": {`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<urlset xmlns="` + sitemapSpace +
			`" xmlns:image="i"><url><loc> https://h/a&amp;b </loc><image:image><image:loc>/x` +
			`</image:loc></image:image></url><url><loc><![CDATA[https://h/c]]></loc></url></urlset>`,
			"1 /a&b, 1 /c"},
		"sitemap without a namespace": {"<urlset><url><loc>/a</loc></url></urlset>", "1 /a"},
		"Search Console": {"Top pages,Clicks,Impressions,CTR,Position\n" +
			"https://h/a,12,345,3.48%,7.2\nhttps://h/b,0,1,0%,70\n", "12 /a, 0 /b"},
		"Search Console in German": {"Die häufigsten Seiten,Klicks,Impressionen,CTR,Position\n" +
			"https://h/a,12,345,\"3,48 %\",7.2\n", "12 /a"},
		"Google Analytics": {"# ----\n# Pages\n# 20260701-20260930\n# ----\n\n" +
			"Page path and screen class,Views,Active users\n,99,9\n/a,\"1,234\",5\n/b?c,3,2\n",
			"1234 /a, 3 /b"},
		"a table with tabs": {"id\tURL\thits\n1\thttps://h/a\t7\n2\t/b\t1\n",
			"7 /a, 1 /b"},
		"a table with semicolons":                   {"url;status\n/a,b;404\n", "1 /a,b"},
		"a table whose first column has no name":    {"\turl\thits\n\n1\t/a\t7\n", "7 /a"},
		"a table with a header in another language": {"Adresse,Anzahl\r\n\r\n# x\r\n/a,7\r\n", "7 /a"},
		"a table with one column":                   {"URL\n/a\n/a\n", "2 /a"},
		"a table without a header":                  {"/a;5\n/b;6\n", "5 /a, 6 /b"},
		"a table without a header, with quotes":     {"\"/a,b\",5\n\"/c\",6\n", "5 /a,b, 6 /c"},
		"a list that begins with numbers":           {"/map/52,13\n/plain\n", "1 /map/52,13, 1 /plain"},
		"a list of coordinates": {"/map/52,13\n/map/48,11\n",
			"1 /map/52,13, 1 /map/48,11"},
		"a list with one semicolon": {"/map;52\n/b\n", "1 /map;52, 1 /b"},
		"a table with quotes":       {"url,count\n\"/a,b\",2\n", "2 /a,b"},
		"lines of JSON": {`{"url":"https://h/a"}` + "\n" +
			`{"path":"/b","count":3}` + "\n" + `{"uri":"/c","hits":"1,234"}`, "1 /a, 3 /b, 1234 /c"},
		"lines of JSON with other members of these names": {
			`{"request":"GET /x HTTP/1.1","url":7,"uri":"/a","status":"404","ts":[]}`, "1 /a"},
		"a list": {"/a\nhttps://h/b?c#d\n# more\nHTTP://h\n",
			"1 /a, 1 /b, 1 /"},
		"a list with commas":         {"/a,b\n/c;d\n", "1 /a,b, 1 /c;d"},
		"a byte order mark and CRLF": {"\uFEFF/a\r\n/a\r\n", "2 /a"},
		"spellings of one path": {"/%7Ea/%c3%a4\n/~a/ä\n/x/../~a/%C3%A4\n",
			"3 /~a/%C3%A4"},
	} {
		t.Run(name, func(t *testing.T) {
			c := read(t, Options{}, tt.content)
			wrong := slices.DeleteFunc(c.Unread.First, func(s string) bool {
				return strings.HasPrefix(s, "file:1: not a line of a log")
			})
			if got := c.String(); got != tt.want || len(wrong) > 0 {
				t.Errorf("got %s, %q, want %s", got, wrong, tt.want)
			}
		})
	}
}

func TestWhatIsNoneOfTheseIsAnError(t *testing.T) {
	for name, tt := range map[string]struct{ content, want string }{
		"text":       {"Hello, world!\nmore\n", `it begins with "Hello, world!"`},
		"binary":     {"\x7fELF\x00\x01", `it begins with "\x7fELF\x00\x01"`},
		"an array":   {"[\n{\"url\":\"/a\"}]", "not one object per line"},
		"an object":  {"{\n\"url\":\"/a\"\n}", "not one object per line"},
		"HTML":       {"<html><body></body></html>", `its root is "html"`},
		"bad XML":    {"<<", "it begins like XML"},
		"no element": {"<?xml version=\"1.0\"?>", "it is XML without a root element"},
		"Latin 1": {"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><urlset/>",
			"only UTF-8 is supported; save it as UTF-8"},
		"deep XML":   {"<urlset>" + strings.Repeat("<a>", 100), "nest more than 64 deep"},
		"a zip":      {"PK\x03\x04", "zip archives are not supported; unpack it"},
		"an xz":      {"\xfd7zXZ\x00", "unpack it"},
		"UTF-16":     {"\xff\xfe/\x00a\x00", "save it as UTF-8"},
		"a bad gzip": {"\x1f\x8b\x00", "it cannot be unpacked: unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			err := NewCounts(Options{}).Read("file", strings.NewReader(tt.content))
			if err == nil || !strings.HasPrefix(err.Error(), "file: ") ||
				!strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestLinesThatCannotBeReadAreTold(t *testing.T) {
	for name, tt := range map[string]struct{ content, want string }{
		"in a list": {"/a\nb c\n", `file:2: neither a URL nor a path that begins with /: "b c"`},
		"in Caddy's": {access("GET", "h", "/a", 200) + `{"request":`,
			"file:2: not a JSON object: unexpected end of JSON input"},
		"without uri": {`{"request":{"method":"GET"}}`,
			"file:1: the entry of the access log has no request.uri; a filter may have removed it"},
		"hidden uri": {`{"request":{"uri":"REDACTED"}}`,
			`file:1: neither a URL nor a path that begins with /: "REDACTED"`},
		"other JSON": {`{"a":1}`, "file:1: it has no string url, uri or path, and no request"},
		"bad method": {access("GET", "h", "/a", 200) + `{"request":{"method":"GE\q","uri":"/a"}}`,
			"file:2: not a JSON object: invalid character 'q' in string escape code"},
		"without a request": {`{"logger":"http.log.access","msg":"handled request","request":{}}`,
			"file:1: the entry of the access log has no request.uri; a filter may have removed it"},
		"in combined": {combined + "\x00\x1b\n",
			`file:2: not a line of a log in the common or combined format: "\x00\x1b"`},
		"no number": {"url,count\n/a,many\n", `file:2: the count is not a number: "many"`},
		"short row": {"id,url\n1\n", "file:2: the row has no column 2, where its URL should be"},
		"other value": {"url\n(not set)\n",
			`file:2: neither a URL nor a path that begins with /: "(not set)"`},
		"bad sitemap": {"<urlset><url><loc>/a</loc></url>\n<url",
			"file:2: the sitemap cannot be read from here on: XML syntax error on line 2: unexpected EOF"},
		"bad host":  {"/a\nhttp://[bad\n", `file:2: the host is not valid: "http://[bad"`},
		"bad port":  {"/a\nhttp://h:99999/x\n", `file:2: the host is not valid: "http://h:99999/x"`},
		"long path": {"/a\n/" + strings.Repeat("b", 1<<16), "file:2: a path of more than 65535 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			c := NewCounts(Options{})
			err := c.Read("file", strings.NewReader(tt.content))
			if c.Len() == 0 && (err == nil ||
				err.Error() != tt.want+"; nothing in the file could be read") {
				t.Errorf("nothing is read, and the error is %v", err)
			}
			if got := c.Unread; c.Len() > 0 && err != nil || got.Lines != 1 ||
				!slices.Equal(got.First, []string{tt.want}) {
				t.Errorf("got %+v, want %s", got, tt.want)
			}
		})
	}
	c := read(t, Options{}, "/a\n"+strings.Repeat("x\n", 50))
	if c.Unread.Lines != 50 || len(c.Unread.First) != mostUnread || c.Len() != 1 {
		t.Errorf("got %+v", c.Unread)
	}
}

// packed returns a text in gzip.
func packed(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestCompressedFilesAreUnpacked(t *testing.T) {
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	zst := func(text string) string { return string(encoder.EncodeAll([]byte(text), nil)) }
	for name, content := range map[string]string{
		"gzip":                 packed(t, "/a\n/b\n/a\n"),
		"several gzip members": packed(t, "/a\n/") + packed(t, "b\n/a\n"),
		"zstd":                 zst("/a\n/b\n/a\n"),
		"several zstd frames":  zst("/a\n/b") + zst("\n/a\n"),
	} {
		if c := read(t, Options{}, content); c.String() != "2 /a, 1 /b" || c.Notes != nil {
			t.Errorf("%s: got %s, %q", name, c, c.Notes)
		}
	}
}

func TestOfATruncatedFileTheBeginningCounts(t *testing.T) {
	var lines strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&lines, "/%d-%x\n", i, i*i*i)
	}
	content := packed(t, lines.String())
	c := read(t, Options{}, content[:len(content)/2])
	if c.Len() < 3000 || c.Unread.Lines > 0 || len(c.Notes) != 1 ||
		!strings.Contains(c.Notes[0], "its compressed content breaks off in line ") {
		t.Errorf("got %d URLs, %+v, %q", c.Len(), c.Unread, c.Notes)
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	zst := string(encoder.EncodeAll([]byte("/a\n"+strings.Repeat("/b\n", 1<<17)), nil))
	for name, content := range map[string]string{
		"short gzip": packed(t, "/a\n"+strings.Repeat("/b", 100))[:18], "zstd": zst[:len(zst)-3],
	} {
		c := read(t, Options{}, content)
		if c.Unread.Lines > 0 || len(c.Notes) != 1 {
			t.Errorf("%s: got %s, %+v, %q", name, c, c.Unread, c.Notes)
		}
	}
	damaged := content[:len(content)/2] + "xxxxxxxx" + content[len(content)/2+8:]
	if c := read(t, Options{}, damaged); c.Len() < 3000 || len(c.Notes) != 1 {
		t.Errorf("damaged: got %d URLs, %q", c.Len(), c.Notes)
	}
}

func TestAFileOfWhichNothingCouldBeReadIsAnError(t *testing.T) {
	for name, tt := range map[string]struct{ content, want string }{
		"gzip that is cut off at once": {packed(t, combined)[:12], "damaged or cut off at the beginning"},
		"gzip cut off in a log's line": {packed(t, combined)[:60], "damaged or cut off at the beginning"},
		"gzip cut off in a sitemap": {packed(t, "<?xml version='1.0'?>")[:20],
			"cut off at the beginning"},
		"zstd garbage": {"\x28\xb5\x2f\xfd" + strings.Repeat("x", 99),
			"damaged or cut off"},
		"an unclosed sitemap":     {"<urlset><url><loc>https://x/unclosed", "nothing in the file"},
		"a table of other things": {"url\n(not set)\n(other)\n", "nothing in the file"},
	} {
		err := NewCounts(Options{}).Read("file", strings.NewReader(tt.content))
		if err == nil || !strings.HasPrefix(err.Error(), "file:") ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestAnErrorOfTheReaderIsReturned(t *testing.T) {
	broken := errors.New("broken")
	r := io.MultiReader(strings.NewReader("/a\n"), iotest.ErrReader(broken))
	if err := NewCounts(Options{}).Read("file", r); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestTheSitemapsOfAnIndexAreTold(t *testing.T) {
	c := read(t, Options{},
		`<sitemapindex xmlns="`+sitemapSpace+`"><sitemap><loc>https://h/s.xml</loc>`+
			`</sitemap><sitemap><loc>https://h/index.xml</loc></sitemap></sitemapindex>`)
	want := "file: it is an index of 2 sitemaps, which are not fetched; give their files, too"
	if c.Len() != 0 || !slices.Equal(c.Notes, []string{want}) {
		t.Errorf("got %s, %q", c, c.Notes)
	}
}

func TestOnlyGetAndHeadOfTheSiteCount(t *testing.T) {
	o := Options{IsOurs: func(host string) bool { return host == "h" }, Skip: []string{"/assets/"}}
	c := read(t, o, access("GET", "H:8443", "/a", 404)+access("POST", "h", "/a", 404)+
		access("GET", "other", "/a", 404)+access("GET", "h.", "/assets/x", 404)+
		access("GET", "", "/b", 404)+access("GET", "h", "https://other/c", 404))
	want := LeftOut{Hosts: 2, Methods: 1, Skipped: 1}
	if c.String() != "1 /a 404, 1 /b 404" || c.LeftOut != want {
		t.Errorf("got %s, %+v", c, c.LeftOut)
	}
}

func TestAStatusThatSaysNothingDoesNotCount(t *testing.T) {
	for _, status := range []int{0, 100, 408, 499} {
		c := read(t, Options{}, access("GET", "h", "/a", 404)+access("GET", "h", "/a", status))
		if c.String() != "2 /a 404" {
			t.Errorf("%d: got %s", status, c)
		}
	}
}

func TestTheNewestStatusCounts(t *testing.T) {
	caddy := func(time string, status int) string {
		return strings.ReplaceAll(access("GET", "h", "/a", status), `"ts":1.5`, `"ts":`+time)
	}
	common := func(time string, status int) string {
		line := strings.ReplaceAll(combined, "22/Nov/2026:16:31:45 +0000", time)
		return strings.ReplaceAll(line, "404", fmt.Sprint(status))
	}
	console := func(time string, status int) string {
		_, object, _ := strings.Cut(caddy("1", status), "{")
		return time + "\tINFO\thttp.log.access\thandled request\t{" + object
	}
	for newer, older := range map[string]string{
		caddy("1795365105.5", 200):                   caddy("1795365104.9", 404),
		caddy("1795365105123.4", 200):                caddy("1795278705123.4", 404),
		caddy("1795365105123456789", 200):            caddy("1795278705123456789", 404),
		caddy(`"2026-11-22T16:31:45.1Z"`, 200):       caddy(`"2026-11-22T17:31:44+01:00"`, 404),
		caddy(`"2026-11-22T16:31:45.123-0700"`, 200): caddy(`"2026/11/22 23:31:44.999"`, 404),
		caddy(`"22/Nov/2026:16:31:45 +0000"`, 200):   caddy("1795278705.1", 404),
		common("22/Nov/2026:16:31:45 +0000", 200):    common("21/Nov/2026:23:59:59 +0000", 404),
		common("22/Nov/2026:00:31:45 -0500", 200):    common("22/Nov/2026:06:31:44 +0200", 404),
		console("2026/11/22 16:31:45.123", 200):      console("2026/11/21 16:31:45.123", 404),
	} {
		for _, files := range [][]string{{newer, older}, {older, newer}} {
			c := read(t, Options{}, files[0])
			if err := c.Read("other", strings.NewReader(files[1])); err != nil || c.String() != "2 /a 200" {
				t.Errorf("of %s got %v, %s", files, err, c)
			}
		}
	}
	c := read(t, Options{}, caddy("1795365105.5", 404)+caddy(`"yesterday"`, 200))
	if c.String() != "2 /a 200" {
		t.Errorf("without a time, the last one does not count: %s", c)
	}
}
