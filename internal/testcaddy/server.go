package testcaddy

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strconv"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"

	"github.com/caddy-shortlink/shortlink"
	"github.com/caddy-shortlink/shortlink/internal/testcaddy/freeport"
)

// Server is a Caddy that serves on a port of its own while a test runs. There is one
// at a time in a process.
type Server struct {
	Addr    string // host:port
	Admin   string // host:port of the admin endpoint, empty for none
	Options string // global options
	Storage string // folder of Caddy's storage, empty for one of its own
}

// Serve starts Caddy with a site that answers for every host; block is what the site's block holds.
func Serve(t testing.TB, block string) *Server {
	return ServeWith(t, "", block)
}

// ServeWith is Serve with global options.
func ServeWith(t testing.TB, options, block string) *Server {
	t.Helper()
	s := &Server{Options: options}
	t.Cleanup(func() {
		if err := caddy.Stop(); err != nil {
			t.Error(err)
		}
	})
	s.Load(t, block)
	return s
}

// Load serves another block instead of the former one, at another address: on its way out a
// Caddy drops connections that it has not read from, and a test that asks at once may be on one.
func (s *Server) Load(t testing.TB, block string) {
	t.Helper()
	s.Addr = FreeAddress(t)
	s.Reload(t, block)
}

// Reload serves another block at the same address, for tests that send no request right after it,
// or retry. The admin endpoint has another one each time, for the reason given at Load.
func (s *Server) Reload(t testing.TB, block string) {
	t.Helper()
	if err := s.TryToLoad(t, block); err != nil {
		t.Fatal(err)
	}
}

// TryToLoad is Reload for a block that Caddy may refuse.
func (s *Server) TryToLoad(t testing.TB, block string) error {
	t.Helper()
	_, port, _ := net.SplitHostPort(s.Addr)
	admin := "off"
	if s.Admin != "" {
		admin = FreeAddress(t)
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
`, admin, s.storageDir(t), s.Options, port, block)
	adapted, err := Adapt(config)
	if err != nil {
		return err
	}
	err = caddy.Load(adapted, true)
	if err == nil && s.Admin != "" {
		s.Admin = admin
	}
	return err
}

// storageDir returns the folder of Caddy's storage.
func (s *Server) storageDir(t testing.TB) string {
	if s.Storage != "" {
		return s.Storage
	}
	return StorageDir(t)
}

// StorageDir returns a folder for Caddy's storage. Caddy tidies it up beside everything else and
// may still write to it when a test is over, so that it may not be gone then.
func StorageDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "shortlink")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// FreeAddress returns an address at which nobody listens, another one each time: Caddy would listen
// twice at one that is its admin endpoint's and a site's.
func FreeAddress(t testing.TB) string {
	t.Helper()
	port, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

// Provision takes a handler's JSON through the life cycle that Caddy gives it.
func Provision(t testing.TB, config string) (*shortlink.Handler, error) {
	t.Helper()
	storage, err := json.Marshal(map[string]string{"module": "file_system", "root": StorageDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := caddy.ProvisionContext(
		&caddy.Config{Admin: &caddy.AdminConfig{Disabled: true}, StorageRaw: storage})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := caddy.NewContext(whole)
	t.Cleanup(cancel)
	module, err := ctx.LoadModuleByID("http.handlers.shortlink", json.RawMessage(config))
	if err != nil {
		return nil, err
	}
	return module.(*shortlink.Handler), nil
}

// Adapt turns a Caddyfile into JSON.
func Adapt(caddyfile string) ([]byte, error) {
	adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(caddyfile),
		map[string]any{"filename": "Caddyfile"})
	return adapted, err
}
