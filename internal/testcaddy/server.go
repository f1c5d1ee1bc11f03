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

// Server is a Caddy that serves on its own port while a test runs. A process has only one at a
// time.
type Server struct {
	Addr    string // host:port
	Admin   string // host:port of the admin endpoint, empty for none
	Options string // global options
	Storage string // folder of Caddy's storage, empty for a new one
}

// Serve starts Caddy with a site for every host. block is the content of the site's block.
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

// Load serves another block instead, at a new address. A Caddy that stops drops connections with
// unread requests. A test that sends a request at once may use such a connection.
func (s *Server) Load(t testing.TB, block string) {
	t.Helper()
	s.Addr = FreeAddress(t)
	s.Reload(t, block)
}

// Reload serves another block at the same address. It is for tests that retry, or send no request
// right afterwards. The admin endpoint gets a new address each time, for the reason given at Load.
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

// StorageDir returns a folder for Caddy's storage. Caddy cleans it in the background, and may write
// to it after the test. So removing the folder may fail.
func StorageDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "shortlink")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// FreeAddress returns an unused address, a new one each time. With one address for admin endpoint
// and site, Caddy would listen there twice.
func FreeAddress(t testing.TB) string {
	t.Helper()
	port, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

// Provision provisions a handler from JSON through Caddy's life cycle.
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

// Adapt converts a Caddyfile to JSON.
func Adapt(caddyfile string) ([]byte, error) {
	adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(caddyfile),
		map[string]any{"filename": "Caddyfile"})
	return adapted, err
}
