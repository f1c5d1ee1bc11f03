package page_test

import (
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"aead.dev/minisign"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// lacks reports texts that an answer has and should not have.
func lacks(t *testing.T, got testcaddy.Reply, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(got.Body, text) {
			t.Errorf("the answer has %q:\n%s", text, got.Body)
		}
	}
}

func TestALinkThatCannotBeEditedSaysWhereItStandsAndHowItIsWrittenThere(t *testing.T) {
	dir := t.TempDir()
	for name, tt := range map[string]struct{ content, in, line string }{
		"links.csv": {"key,destination\nx,/y\ndocs,\"https://docs.example/a,b\"\n", ":3:1",
			"key,destination\n" + `docs,"https://docs.example/a,b"`},
		"links.json": {"{\"docs\": {\"to\": \"https://docs.example\", \"note\": \"why\"}}", ":1:2",
			`"docs": {"to":"https://docs.example","note":"why"}`},
		"_redirects": {"/docs https://docs.example/x 301\n", ":1:1",
			"/docs https://docs.example/x 301"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(dir, name)
			testcaddy.Write(t, file, tt.content)
			s := testcaddy.Serve(t, testcaddy.PageBlock(file, "write nobody"))
			got := s.Get(t, "/.links/key/docs", testcaddy.AsAnn, testcaddy.AsHTML)
			got.Wants(t, 200, "write nobody", "In <code><bdi>"+file+tt.in+"</bdi></code>",
				"<pre>"+html.EscapeString(tt.line)+"</pre>")
			lacks(t, got, "?edit", "?rename", "?delete")
		})
	}
}

func TestALinkOfASignedFileSaysThatAnEditWouldNeedASignature(t *testing.T) {
	file := filepath.Join(t.TempDir(), "links.json")
	public, private, err := minisign.GenerateKey(nil)
	testcaddy.Must(t, err)
	const content = `{"docs": "https://docs.example"}`
	testcaddy.Write(t, file, content)
	testcaddy.Write(t, file+".minisig", testcaddy.Signature(t, content, private))
	s := testcaddy.Serve(t, strings.Replace(testcaddy.PageBlock(file, ""), "from file "+file,
		fmt.Sprintf("from file %s {\nminisign %s\n}", file, public), 1))
	got := s.Get(t, "/.links/key/docs", testcaddy.AsAnn, testcaddy.AsHTML)
	got.Wants(t, 200, "it is signed", "In <code><bdi>"+file+"</bdi></code>",
		"<pre>"+html.EscapeString(`"docs": "https://docs.example"`)+"</pre>")
	lacks(t, got, "?edit", "?rename", "?delete")
}

func TestAnInlineLinkSaysThatItStandsInCaddysConfiguration(t *testing.T) {
	s := testcaddy.Serve(t, "shortlink {\nrule origin /docs 301 exact\nname go\n}\n"+
		testcaddy.SignIn+"\nshortlink_page")
	got := s.Get(t, "/.links/key/origin", testcaddy.AsAnn, testcaddy.AsHTML)
	got.Wants(t, 200, "inline rules cannot be edited", "Caddy&#39;s configuration, shortlink go",
		"<pre>rule origin /docs 301 exact</pre>")
	lacks(t, got, "?edit", "?rename", "?delete")
	s.Get(t, "/.links/key/origin", testcaddy.AsAnn, testcaddy.AsJSON).Wants(t, 200,
		`"text":"rule origin /docs 301 exact"`, `"why_not":"`)
	s.Get(t, "/.links/key/origin", testcaddy.AsAnn).Wants(t, 200, "not edited here: ",
		"rule origin /docs 301 exact\n")
}

func TestALinkOfALaterSourceCanBeEditedAndNotDeleted(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "a.json"), filepath.Join(dir, "b.csv")
	testcaddy.Write(t, first, "{}")
	testcaddy.Write(t, second, "key,to\ndocs,https://docs.example\n")
	s := testcaddy.Serve(t, fmt.Sprintf("shortlink {\nfrom file %s\nfrom file %s\n}\n%s\nshortlink_page",
		first, second, testcaddy.SignIn))
	got := s.Get(t, "/.links/key/docs", testcaddy.AsAnn, testcaddy.AsHTML)
	got.Wants(t, 200, "?edit", "Where to delete it", "b.csv:2:1",
		"<pre>key,destination\ndocs,https://docs.example</pre>")
	lacks(t, got, "?delete")
}

func TestATemplatesPageHasAnExampleAndTriesValues(t *testing.T) {
	s, _ := servePage(t, `{"gh/{owner}/{+path}": "https://github.com/{owner}?file={path}",
		"gh/caddy/docs": "https://caddy.example"}`, "")
	const key = "/.links/key/gh/%7Bowner%7D/%7B+path%7D"
	s.Get(t, key, testcaddy.AsAnn, testcaddy.AsHTML).Wants(t, 200,
		`name="value.owner" value="owner"`, `name="value.path" value="path"`,
		`href="https://github.com/owner?file=path"`)
	s.Get(t, key, testcaddy.AsAnn, testcaddy.AsJSON).Wants(t, 200,
		`"outcome":{"request":"http://go.example/gh/owner/path","outcome":"redirect"`,
		`"values":[{"name":"owner","value":"owner"},{"name":"path","value":"path"}]`)
	for _, tt := range []struct{ owner, path, leads string }{
		{"x", "a/b", "https://github.com/x?file=a%2Fb"},
		{" x ", "a", "https://github.com/x?file=a"},
		{"x/y?", "ä", "https://github.com/x%2Fy%3F?file=%C3%A4"},
		{"caddy", "docs", "https://caddy.example/"}, // by another key
	} {
		values := url.Values{ // as the form sends it
			"key": {"gh/{owner}/{+path}"}, "value.owner": {tt.owner}, "value.path": {tt.path},
		}
		s.Get(t, "/.links/key/?"+values.Encode(), testcaddy.AsAnn, testcaddy.AsHTML).
			Wants(t, 200, `href="`+tt.leads+`"`)
	}
	s.Get(t, key+"?value.owner=", testcaddy.AsAnn, testcaddy.AsHTML).Wants(t, 200,
		`name="value.owner" value=""`)
}

func TestALongDestinationIsFoldedAndManyParametersAreASummary(t *testing.T) {
	var query []string
	for i := range 80 {
		query = append(query, fmt.Sprintf("parameter%d=value", i))
	}
	long := "https://long.example/?" + strings.Join(query, "&")
	s, _ := servePage(t, `{"long": "`+long+`", "few": "https://few.example/?a=1&b=2", "l": "/long"}`, "")
	whole := "<pre><bdi>" + html.EscapeString(long) + "</bdi></pre>"
	for _, target := range []string{"key/long", "key/l", "try?url=/l"} {
		got := s.Get(t, "/.links/"+target, testcaddy.AsAnn, testcaddy.AsHTML)
		got.Wants(t, 200, `<summary>The whole destination</summary>`+whole,
			"<summary>80 parameters</summary>", `href="`+html.EscapeString(long)+`"`)
		if n := strings.Count(got.Body, "parameter79=value</bdi>"); n != 2 { // and in the table
			t.Errorf("%s: the end of the destination is shown %d times", target, n)
		}
	}
	got := s.Get(t, "/.links/key/few", testcaddy.AsAnn, testcaddy.AsHTML)
	got.Wants(t, 200, "<bdi>b=2</bdi>")
	lacks(t, got, "The whole destination", "2 parameters")
}

func TestAQRCodeIsAFileNamedAfterItsKey(t *testing.T) {
	s, _ := servePage(t, `{"docs": "/a", "gh/issues": "/b", "größe": "/c", "..x y%3F\u202e": "/d",
		"\"q\"": "/e", "%2F": "/f", "c%23": "/g", "`+strings.Repeat("ü", 99)+`": "/h"}`, "")
	for key, name := range map[string]string{
		"docs": "filename=docs.png", "gh/issues": "filename=gh-issues.png",
		"größe": "filename*=utf-8''gr%C3%B6%C3%9Fe.png", `"q"`: "filename=q.png", "%2F": "filename=qr.png",
		"..x y%3F\u202e": "filename=x-y.png", "c%23": "filename=c.png",
		strings.Repeat("ü", 99): "filename*=utf-8''" + strings.Repeat("%C3%BC", 50) + ".png",
	} {
		target := "/.links/key/?qr=png&key=" + url.QueryEscape(key)
		got := s.Get(t, target, testcaddy.AsAnn)
		if is := got.Header.Get("Content-Disposition"); got.Status != 200 || is != "attachment; "+name {
			t.Errorf("%s: %d, %s", key, got.Status, is)
		}
	}
	got := s.Get(t, "/.links/key/docs?qr=svg", testcaddy.AsAnn)
	got.Wants(t, 200, `<svg xmlns="http://www.w3.org/2000/svg"`)
	if got.Header.Get("Content-Type") != "image/svg+xml" ||
		got.Header.Get("Content-Disposition") != "attachment; filename=docs.svg" {
		t.Error("the SVG has", got.Header)
	}
	for elements := xml.NewDecoder(strings.NewReader(got.Body)); ; {
		if _, err := elements.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
