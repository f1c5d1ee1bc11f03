package coverage

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// caddyEntry is an entry as Caddy writes it for a browser's request over HTTP/2.
const caddyEntry = `{"level":"info","ts":1763829105.1234567,"logger":"http.log.access.log0",` +
	`"msg":"handled request","request":{"remote_ip":"203.0.113.9","remote_port":"51234",` +
	`"client_ip":"203.0.113.9","proto":"HTTP/2.0","method":"GET","host":"www.example.com",` +
	`"uri":"/docs/section-%d/page-%d?utm_source=x","headers":{"User-Agent":["Mozilla/5.0 (X11; ` +
	`Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"],"Accept":["text/html,application/` +
	`xhtml+xml,application/xml;q=0.9,*/*;q=0.8"],"Accept-Language":["en-US,en;q=0.5"],` +
	`"Accept-Encoding":["gzip, deflate, br, zstd"],"Sec-Ch-Ua":["\"Not;A=Brand\";v=\"24\""]},` +
	`"tls":{"resumed":false,"version":772,"cipher_suite":4865,"proto":"h2",` +
	`"server_name":"www.example.com"}},"bytes_read":0,"user_id":"","duration":0.000412,` +
	`"size":1234,"status":404,"resp_headers":{"Server":["Caddy"],"Content-Type":["text/html"]}}`

// inputs are lines of each kind of file, for the numbers of a section and of a page.
var inputs = map[string]struct{ header, line, footer string }{
	"caddy": {line: caddyEntry + "\n"},
	"combined": {line: `203.0.113.9 - - [22/Nov/2026:16:31:45 +0000] "GET /docs/section-%d/page-%d?x=1 ` +
		`HTTP/1.1" 404 1234 "https://www.example.com/" "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) ` +
		`Gecko/20100101 Firefox/128.0"` + "\n"},
	"sitemap": {header: `<?xml version="1.0"?><urlset xmlns="` + sitemapSpace + `">`,
		line: "<url><loc>https://www.example.com/docs/section-%d/page-%d</loc>" +
			"<lastmod>2026-11-22</lastmod></url>\n", footer: "</urlset>"},
	"table": {header: "Top pages,Clicks,Impressions,CTR,Position\n",
		line: "https://www.example.com/docs/section-%d/page-%d,12,345,3.48%%,7.2\n"},
	"jsonl": {line: `{"url":"https://www.example.com/docs/section-%d/page-%d","count":3}` + "\n"},
	"list":  {line: "https://www.example.com/docs/section-%d/page-%d\n"},
}

// inputOf returns a file with some URLs in some lines.
func inputOf(kind string, urls, lines int) []byte {
	in := inputs[kind]
	b := bytes.NewBufferString(in.header)
	for i := range lines {
		n := i * 7919 % urls
		fmt.Fprintf(b, in.line, n/1000, n)
	}
	b.WriteString(in.footer)
	return b.Bytes()
}

// BenchmarkRead is of files with 50,000 different URLs.
func BenchmarkRead(b *testing.B) {
	for kind := range inputs {
		content := inputOf(kind, 50_000, 100_000)
		b.Run(kind, func(b *testing.B) { benchRead(b, content, len(content)) })
	}
	content := inputOf("caddy", 50_000, 100_000)
	var packed bytes.Buffer
	gz := gzip.NewWriter(&packed)
	gz.Write(content) //nolint:errcheck // into memory
	gz.Close()        //nolint:errcheck // too
	b.Run("caddy.gz", func(b *testing.B) { benchRead(b, packed.Bytes(), len(content)) })
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		b.Fatal(err)
	}
	zst := encoder.EncodeAll(content, nil)
	b.Run("caddy.zst", func(b *testing.B) { benchRead(b, zst, len(content)) })
}

// benchRead reads a file of which so many bytes are left when it is unpacked.
func benchRead(b *testing.B, content []byte, size int) {
	b.ReportAllocs()
	b.SetBytes(int64(size))
	for b.Loop() {
		c := NewCounts(Options{})
		if err := c.Read("log", bytes.NewReader(content)); err != nil || c.Len() != 50_000 {
			b.Fatal(c.Len(), err, c.Unread)
		}
	}
}

// BenchmarkMemory is of a million URLs, of which each has a path of some 30 bytes.
func BenchmarkMemory(b *testing.B) {
	content := inputOf("list", MostURLs, MostURLs)
	for b.Loop() {
		before := memory()
		c := NewCounts(Options{})
		if err := c.Read("list", bytes.NewReader(content)); err != nil || c.Len() != MostURLs {
			b.Fatal(c.Len(), err)
		}
		b.ReportMetric((memory()-before)/MostURLs, "bytes/URL")
		runtime.KeepAlive(c)
	}
}

// memory returns how many bytes are in use.
func memory() float64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}
