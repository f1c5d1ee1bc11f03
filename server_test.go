package shortlink_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-shortlink/shortlink/internal/freeport"
)

// server is a Caddy that serves on a port of its own while a test runs. There is one
// at a time in a process.
type server struct {
	addr    string // host:port
	admin   string // host:port of the admin endpoint, empty for none
	options string // global options
	storage string // folder of Caddy's storage, empty for one of its own
}

// serve starts Caddy with a site that answers for every host; block is what the site's block holds.
func serve(t testing.TB, block string) *server {
	return serveWith(t, "", block)
}

// serveWith is serve with global options.
func serveWith(t testing.TB, options, block string) *server {
	t.Helper()
	s := &server{options: options}
	t.Cleanup(func() {
		if err := caddy.Stop(); err != nil {
			t.Error(err)
		}
	})
	s.load(t, block)
	return s
}

// load serves another block in the place of the former one, at another address: on its way out a
// Caddy drops connections that it has not read from, and a test that asks at once may be on one.
func (s *server) load(t testing.TB, block string) {
	t.Helper()
	s.addr = freeAddress(t)
	s.reload(t, block)
}

// reload serves another block at the same address, for tests that send no request right after it,
// or retry. The admin endpoint has another one each time, for the reason given at load.
func (s *server) reload(t testing.TB, block string) {
	t.Helper()
	if err := s.tryToLoad(t, block); err != nil {
		t.Fatal(err)
	}
}

func (s *server) tryToLoad(t testing.TB, block string) error {
	t.Helper()
	_, port, _ := net.SplitHostPort(s.addr)
	admin := "off"
	if s.admin != "" {
		admin = freeAddress(t)
	}
	config := fmt.Sprintf(`{
	admin %s
	persist_config off
	grace_period 5s
	storage file_system %q
	default_bind 127.0.0.1
	log default {
		output discard
	}
	%s
}
http://:%s {
	%s
}
`, admin, s.storageDir(t), s.options, port, block)
	adapted, err := adapt(config)
	if err != nil {
		return err
	}
	err = caddy.Load(adapted, true)
	if err == nil && s.admin != "" {
		s.admin = admin
	}
	return err
}

// storageDir returns the folder of Caddy's storage.
func (s *server) storageDir(t testing.TB) string {
	if s.storage != "" {
		return s.storage
	}
	return storageDir(t)
}

// storageDir returns a folder for Caddy's storage. Caddy tidies it up beside everything else and
// may still write to it when a test is over, so that it may not be gone then.
func storageDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "shortlink")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// freeAddress returns an address at which nobody listens, another one each time: Caddy would listen
// twice at one that is its admin endpoint's and a site's.
func freeAddress(t testing.TB) string {
	t.Helper()
	port, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

// reply is what a client sees.
type reply struct {
	status int
	header http.Header
	body   string
}

// location returns status and Location in one string, for tables.
func (r reply) location() string {
	return strings.TrimSpace(fmt.Sprint(r.status, " ", r.header.Get("Location")))
}

// get asks for target, which is sent as it is, from host go.example.
func (s *server) get(t testing.TB, target string, header ...string) reply {
	t.Helper()
	return s.raw(t, "GET",
		"GET "+target+" HTTP/1.1\r\nHost: go.example\r\n"+lines(header)+"Connection: close\r\n\r\n")
}

func lines(header []string) string {
	if len(header) == 0 {
		return ""
	}
	return strings.Join(header, "\r\n") + "\r\n"
}

// raw sends a request, byte for byte, and reads the answer to it.
func (s *server) raw(t testing.TB, method, request string) reply {
	t.Helper()
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	return read(t, response)
}

// read reads a response to its end.
func read(t testing.TB, response *http.Response) reply {
	t.Helper()
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{response.StatusCode, response.Header, string(body)}
}

// echo is a handler that answers with the request as it got it.
type echo struct{}

func init() {
	caddy.RegisterModule(echo{})
	httpcaddyfile.RegisterHandlerDirective("test_echo",
		func(httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
			return echo{}, nil
		})
	httpcaddyfile.RegisterDirectiveOrder("test_echo", httpcaddyfile.After, "respond")
}

func (echo) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.test_echo", New: func() caddy.Module {
		return new(echo)
	}}
}

func (echo) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s %s %s %q", r.Method, r.RequestURI, r.URL, body)
	return err
}

// count is a handler that counts the requests that come in, and those of them that are answered.
type count struct{}

var counted struct{ reached, answered atomic.Int64 }

func init() {
	caddy.RegisterModule(count{})
	httpcaddyfile.RegisterHandlerDirective("test_count",
		func(httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
			return count{}, nil
		})
}

func (count) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.test_count", New: func() caddy.Module {
		return new(count)
	}}
}

func (count) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	counted.reached.Add(1)
	err := next.ServeHTTP(w, r)
	if err == nil {
		counted.answered.Add(1)
	}
	return err
}
