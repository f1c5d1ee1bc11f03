package shortlink_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// advertising starts a Caddy whose pages come from a handler behind the rules.
func advertising(t *testing.T, pages http.HandlerFunc, block string) *testcaddy.Server {
	t.Helper()
	upstream := httptest.NewServer(pages)
	t.Cleanup(upstream.Close)
	return testcaddy.Serve(t, "shortlink {\n"+block+"\n}\nreverse_proxy "+upstream.URL)
}

const shortGuide = `<http://go.example/g>; rel="shortlink"`

func TestAPageTellsItsShortURL(t *testing.T) {
	s := advertising(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "page") }, `
		g /docs/guide
		gh /projects
		s/{id} /the/story/{id}
		secret /docs/secret unlisted
		other https://other.example/docs/other
		advertise http://go.example`)
	for target, want := range map[string]string{
		"/docs/guide":      shortGuide,
		"/docs/%67uide":    shortGuide,
		"/projects/x":      `<http://go.example/gh/x>; rel="shortlink"`,
		"/the/story/17":    `<http://go.example/s/17>; rel="shortlink"`,
		"/docs/guide?a=b":  "",
		"/docs/secret":     "",
		"/docs/other":      "",
		"/docs":            "",
		"/docs/guide/more": `<http://go.example/g/more>; rel="shortlink"`,
	} {
		got := s.Get(t, target)
		if got.Status != 200 || got.Body != "page" || got.Header.Get("Link") != want {
			t.Errorf("%s: got %d %q with Link %q, want %q", target, got.Status, got.Body,
				got.Header.Get("Link"), want)
		}
		if got := s.Raw(t, "HEAD",
			"HEAD "+target+" HTTP/1.1\r\nHost: go.example\r\nConnection: close\r\n\r\n").Header.Get(
			"Link"); got != want {
			t.Errorf("HEAD %s: Link %q, want %q", target, got, want)
		}
		if got := s.Raw(t, "POST",
			"POST "+target+" HTTP/1.1\r\nHost: go.example\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").Header.Get("Link"); got != "" {
			t.Errorf("POST %s: Link %q", target, got)
		}
	}
	if got := s.Get(t, "/g"); got.Location() != "302 http://go.example/docs/guide" ||
		got.Header["Link"] != nil {
		t.Errorf("the short URL is answered with %s and %q", got.Location(), got.Header["Link"])
	}
}

func TestOnlySuccessesTellTheShortURL(t *testing.T) {
	for status, want := range map[int]string{200: shortGuide, 203: shortGuide, 204: shortGuide,
		206: shortGuide, 300: "", 301: "", 304: "", 404: "", 410: "", 500: "", 503: ""} {
		s := advertising(t, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
		}, "g /docs/guide\nadvertise http://go.example")
		if got := s.Get(t, "/docs/guide"); got.Status != status || got.Header.Get("Link") != want {
			t.Errorf("%d: got %d with Link %q, want %q", status, got.Status, got.Header.Get("Link"), want)
		}
		caddy.Stop()
	}
}

func TestLinksOfThePageStayAndAShortlinkAmongThemIsTheOne(t *testing.T) {
	for _, test := range []struct {
		name  string
		links []string
		own   bool
	}{
		{"another relation", []string{"</style.css>; rel=preload"}, false},
		{"several lines", []string{"</a>; rel=preload", "</b>; rel=next"}, false},
		{"a shortlink", []string{"<https://s.example/1>; rel=shortlink"}, true},
		{"in quotation marks", []string{`<https://s.example/1>; rel="shortlink"`}, true},
		{"in capitals", []string{`<https://s.example/1>; REL=ShortLink`}, true},
		{"among other relations", []string{`<https://s.example/1>; title="a,b;c"; rel="next shortlink"`},
			true},
		{"as a second link", []string{`</a,b;c>; rel=next, <https://s.example/1>; rel=shortlink`}, true},
		{"on a second line", []string{"</a>; rel=next", "<https://s.example/1>; rel=shortlink"}, true},
		{"as a URI", []string{`<https://s.example/1>; rel="http://purl.org/net/shortlink"`}, true},
		{"behind a title", []string{`</a>; title="a < b"; rel=shortlink`}, true},
		{"in a URL", []string{`</a?rel=shortlink>; rel=next`}, false},
		{"in a URL behind another", []string{`</a>; rel=next, </shortlink>; rel=prev`}, false},
		{"in a title, which is left alone, too", []string{`</a>; title="our shortlink"`}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := advertising(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header()["Link"] = test.links
			}, "g /docs/guide\nadvertise http://go.example")
			want := test.links
			if !test.own {
				want = append(slices.Clone(want), shortGuide)
			}
			if got := s.Get(t, "/docs/guide").Header["Link"]; !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// files starts a Caddy with a file server behind the rules.
func files(t *testing.T, more string) *testcaddy.Server {
	t.Helper()
	dir := t.TempDir()
	testcaddy.Must(t, os.MkdirAll(filepath.Join(dir, "docs"), 0o755))
	testcaddy.Write(t, filepath.Join(dir, "docs", "guide"), strings.Repeat("guide ", 1000))
	return testcaddy.Serve(t,
		"shortlink {\n g /docs/guide\n advertise http://go.example\n}\n"+more+"\nroot "+dir+"\nfile_server\nhandle_errors {\n respond oops\n}")
}

func TestFilesTellTheirShortURLAndAnUnchangedOneDoesNot(t *testing.T) {
	s := files(t, "encode gzip")
	got := s.Get(t, "/docs/guide")
	if got.Status != 200 || len(got.Body) != 6000 || got.Header.Get("Link") != shortGuide {
		t.Errorf("got %d, %d bytes, Link %q", got.Status, len(got.Body), got.Header.Get("Link"))
	}
	unchanged := s.Get(t, "/docs/guide", "If-None-Match: "+got.Header.Get("ETag"))
	if unchanged.Status != 304 || unchanged.Header["Link"] != nil {
		t.Errorf("got %d with Link %q", unchanged.Status, unchanged.Header["Link"])
	}
	if part := s.Get(t, "/docs/guide", "Range: bytes=0-4"); part.Status != 206 ||
		part.Body != "guide" || part.Header.Get("Link") != shortGuide {
		t.Errorf("got %d %q with Link %q", part.Status, part.Body, part.Header.Get("Link"))
	}
	if missing := s.Get(t, "/docs/guide/missing"); missing.Body != "oops" ||
		missing.Header["Link"] != nil {
		t.Errorf("got %d %q with Link %q", missing.Status, missing.Body, missing.Header["Link"])
	}
	if packed := s.Get(t, "/docs/guide", "Accept-Encoding: gzip"); packed.Header.Get("Content-Encoding") != "gzip" || packed.Header.Get("Link") != shortGuide {
		t.Errorf("got %v", packed.Header)
	}
}

func TestAStreamedResponseIsSentAsItComes(t *testing.T) {
	more := make(chan bool)
	s := advertising(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusEarlyHints)
		io.WriteString(w, "first\n")
		http.NewResponseController(w).Flush()
		<-more
		io.WriteString(w, "second\n")
	}, "g /docs/guide\nadvertise http://go.example")
	response, err := http.DefaultClient.Do(request(t, s, "/docs/guide"))
	testcaddy.Must(t, err)
	defer response.Body.Close()
	body := bufio.NewReader(response.Body)
	first, err := body.ReadString('\n')
	testcaddy.Must(t, err)
	more <- true // only now that the first line has arrived
	second, err := body.ReadString('\n')
	if first != "first\n" || second != "second\n" || err != nil ||
		response.Header.Get("Link") != shortGuide {
		t.Errorf("got %q and %q, %v, with Link %q", first, second, err, response.Header.Get("Link"))
	}
}

func request(t *testing.T, s *testcaddy.Server, target string) *http.Request {
	t.Helper()
	r, err := http.NewRequest("GET", "http://"+s.Addr+target, nil)
	testcaddy.Must(t, err)
	r.Host = "go.example"
	return r
}

func TestAWebSocketPassesThrough(t *testing.T) {
	s := advertising(t, func(w http.ResponseWriter, r *http.Request) {
		conn, both, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: "+
			"Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n")
		line, _ := both.ReadString('\n')
		io.WriteString(conn, "you said "+line)
	}, "g /docs/guide\nadvertise http://go.example")
	conn, err := net.Dial("tcp", s.Addr)
	testcaddy.Must(t, err)
	defer conn.Close()
	fmt.Fprint(conn, "GET /docs/guide HTTP/1.1\r\nHost: go.example\r\nUpgrade: "+
		"websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: "+
		"dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
	reader := bufio.NewReader(conn)
	response, err := http.ReadResponse(reader, nil)
	testcaddy.Must(t, err)
	fmt.Fprint(conn, "hello\n")
	echo, err := reader.ReadString('\n')
	if response.StatusCode != 101 || response.Header["Link"] != nil || echo != "you said hello\n" ||
		err != nil {
		t.Errorf("got %d with Link %q, then %q, %v", response.StatusCode, response.Header["Link"], echo,
			err)
	}
}

func TestHTTP2CarriesTheHeader(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "page")
	}))
	defer upstream.Close()
	s := testcaddy.ServeWith(t, "servers {\n protocols h1 h2c\n}",
		"shortlink {\n g /docs/guide\n advertise http://go.example\n}\nreverse_proxy "+upstream.URL)
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Do(request(t, s, "/docs/guide"))
	testcaddy.Must(t, err)
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); response.Proto != "HTTP/2.0" ||
		string(body) != "page" || err != nil || response.Header.Get("Link") != shortGuide {
		t.Errorf("got %s, %q, %v, with Link %q", response.Proto, body, err, response.Header.Get("Link"))
	}
}

// site loads a configuration whose first line names sites, with PORT instead of a port.
func site(t *testing.T, config string) (*testcaddy.Server, error) {
	t.Helper()
	s := &testcaddy.Server{Addr: testcaddy.FreeAddress(t)}
	_, port, _ := net.SplitHostPort(s.Addr)
	options := "{\n\tadmin off\n\tpersist_config off\n\tstorage file_system " + testcaddy.StorageDir(t) +
		"\n\tdefault_bind 127.0.0.1\n\tlog default {\n\t\toutput discard\n\t}\n\tservers " +
		"{\n\t\ttrusted_proxies static 127.0.0.1\n\t}\n}\n"
	adapted, err := testcaddy.Adapt(options + strings.ReplaceAll(config, "PORT", port))
	testcaddy.Must(t, err)
	t.Cleanup(func() { caddy.Stop() })
	return s, caddy.Load(adapted, true)
}

func TestTheOriginOfShortURLsIsNeverWhatAClientChooses(t *testing.T) {
	const rules = "shortlink {\n g /docs/guide\n advertise\n}\nrespond page"
	for _, test := range []struct {
		name, config string
		refused      bool
	}{
		{"any host", "http://:PORT {\n" + rules + "\n}", true},
		{"any host by a star", "http://*:PORT {\n" + rules + "\n}", true},
		{"a host", "http://go.example:PORT {\n" + rules + "\n}", false},
		{"a host in a matcher", "http://:PORT {\n @go host go.example\n handle @go {\n" + rules +
			"\n}\n}", false},
		{"any host of a domain that is nobody's", "http://*.com:PORT {\n" + rules + "\n}", true},
		{"any host of a domain that is nobody's, with a dot",
			"http://:PORT {\n @go host *.com.\n handle @go {\n" + rules + "\n}\n}", true},
		{"any domain", "http://:PORT {\n @go host go.*\n handle @go {\n" + rules + "\n}\n}", true},
		{"any host of a domain", "http://*.go.example:PORT {\n" + rules + "\n}", false},
		{"a host in two spellings",
			"http://bücher.example:PORT {\n @b host BÜCHER.example bücher.example.\n redir @b /b\n" + rules +
				"\n}", false},
		{"a host beside any", "http://go.example:PORT, http://:PORT {\n" + rules + "\n}", true},
		{"a host in front of an error route", "http://go.example:PORT {\n handle_errors {\n" + rules +
			"\n}\n}", false},
		{"a host in a named route",
			"&(links) {\n" + rules + "\n}\nhttp://go.example:PORT {\n invoke links\n}", false},
		{"any host in a named route", "&(links) {\n" + rules + "\n}\nhttp://:PORT {\n invoke links\n}",
			true},
		{"an origin", "http://:PORT {\n shortlink {\n g /docs/guide\n origin https://go.example\n " +
			"advertise\n}\nrespond page\n}", false},
		{"a base URL", "http://:PORT {\n shortlink {\n g /docs/guide\n advertise " +
			"https://go.example\n}\nrespond page\n}", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := site(t, test.config)
			if refused := err != nil; refused != test.refused {
				t.Errorf("got %v", err)
			} else if refused && !strings.Contains(err.Error(), "advertise needs an origin") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestWithoutAnotherOriginShortURLsHaveThatOfThePage(t *testing.T) {
	s, err := site(t, "http://go.example:PORT {\n shortlink {\n g /docs/guide\n "+
		"advertise\n}\nrespond page\n}\nhttp://:PORT {\n shortlink {\n g /docs/guide\n "+
		"advertise\n}\nrespond page\n}")
	testcaddy.Must(t, err)
	_, port, _ := net.SplitHostPort(s.Addr)
	link := func(header ...string) string {
		return s.Raw(t, "GET",
			"GET /docs/guide HTTP/1.1\r\nHost: go.example:"+port+"\r\n"+testcaddy.HeaderLines(
				header)+"Connection: close\r\n\r\n").Header.Get("Link")
	}
	if got := link(); got != `<http://go.example:`+port+`/g>; rel="shortlink"` {
		t.Errorf("got %q", got)
	}
	if got := link(
		"X-Forwarded-Proto: https"); got != `<https://go.example:`+port+`/g>; rel="shortlink"` {
		t.Errorf("behind a proxy: got %q", got)
	}
	for _, host := range []string{"evil.example", "evil.example:" + port, "go.example:1",
		"go.example:0", "x.go.example:" + port, "go.example:"} {
		got := s.Raw(t, "GET",
			"GET /docs/guide HTTP/1.1\r\nHost: "+host+"\r\nConnection: close\r\n\r\n").Header.Get("Link")
		if got != "" {
			t.Errorf("for the host %s: got %q", host, got)
		}
	}
	if got := link("X-Forwarded-Host: evil.example"); got != "" {
		t.Errorf("a host that no matcher has checked: got %q", got)
	}
}

func TestAResponseWithoutABodyTellsTheShortURL(t *testing.T) {
	s := testcaddy.Serve(t, "shortlink {\n g /docs/guide\n advertise http://go.example\n}\nheader X y")
	if got := s.Get(t, "/docs/guide"); got.Status != 200 || got.Header.Get("X") != "y" ||
		got.Header.Get("Link") != shortGuide {
		t.Errorf("got %d %v", got.Status, got.Header)
	}
}

func TestARewrittenPathIsNoPage(t *testing.T) {
	s := testcaddy.Serve(t, "route {\n uri strip_prefix /v1\n shortlink {\n g /docs/guide\n advertise "+
		"http://go.example\n }\n respond page\n}")
	if got := s.Get(t, "/v1/docs/guide"); got.Body != "page" || got.Header["Link"] != nil {
		t.Errorf("got %q with Link %q", got.Body, got.Header["Link"])
	}
	if got := s.Get(t, "/docs/guide"); got.Header.Get("Link") != shortGuide {
		t.Errorf("got %q with Link %q", got.Body, got.Header["Link"])
	}
}

func TestASwapChangesWhatIsAdvertised(t *testing.T) {
	path := filepath.Join(t.TempDir(), "links.json")
	testcaddy.Write(t, path, `{"g": "/docs/guide"}`)
	s := testcaddy.Administer(t, "",
		"shortlink {\n from file "+path+"\n name links\n advertise http://go.example\n}\nrespond page")
	if got := s.Get(t, "/docs/guide").Header.Get("Link"); got != shortGuide {
		t.Errorf("got %q", got)
	}
	if got := s.Put(t, "guide", `"/docs/guide"`); got.Status != 201 {
		t.Fatalf("got %d %s", got.Status, got.Body)
	}
	s.Ask(t, "DELETE", "links/rules/g", "")
	if got := s.Get(t, "/docs/guide").Header.Get("Link"); got != `<http://go.example/guide>; rel="shortlink"` {
		t.Errorf("after the edits: got %q", got)
	}
}

func TestAHostIsMatchedAsItStandsInURLs(t *testing.T) {
	s, err := site(t, `http://*.wild.example:PORT {
		shortlink {
			g /docs/guide
			advertise
		}
		respond page
	}`)
	testcaddy.Must(t, err)
	_, port, _ := net.SplitHostPort(s.Addr)
	for host, want := range map[string]string{
		"a.wild.example":     "<http://a.wild.example:" + port + `/g>; rel="shortlink"`,
		"A.Wild.example":     "<http://a.wild.example:" + port + `/g>; rel="shortlink"`,
		"%61.wild.example":   "<http://a.wild.example:" + port + `/g>; rel="shortlink"`,
		"a%2eb.wild.example": "",
		"a%2Eb.wild.example": "",
		"a%.wild.example":    "",
	} {
		headers := "Host: " + host + ":" + port + "\r\nConnection: close\r\n\r\n"
		got := s.Raw(t, "GET", "GET /docs/guide HTTP/1.1\r\n"+headers)
		if link := got.Header.Get("Link"); got.Body != "page" || link != want {
			t.Errorf("%s: got %q with Link %q, want %q", host, got.Body, link, want)
		}
	}
}

// heldBack is a response of which somebody in front sends nothing before its end.
type heldBack struct{ *httptest.ResponseRecorder }

func (heldBack) Flush() {}

func TestAResponseThatBecomesAnErrorTellsNoShortURL(t *testing.T) {
	h, err := testcaddy.Provision(t,
		`{"rules": {"g": "/docs/guide"}, "advertise": {"base_url": "http://go.example"}}`)
	testcaddy.Must(t, err)
	for want, fails := range map[string]error{shortGuide: nil, "": errors.New("no page after all")} {
		w := heldBack{httptest.NewRecorder()}
		w.Header().Add("Link", "</a>; rel=next")
		err := h.ServeHTTP(w, prepare("/docs/guide", w),
			caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
				testcaddy.Must(t, http.NewResponseController(w).Flush())
				return fails
			}))
		links := append(w.Header()["Link"], "")
		if err != fails || links[0] != "</a>; rel=next" || links[1] != want {
			t.Errorf("got %v with Link %q", err, links)
		}
	}
}
