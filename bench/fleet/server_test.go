//go:build linux

package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// server is a Caddy of the fleet. Each of its sites has a handler of its own.
type server struct {
	process
	sites   []site
	storage string
	admin   *http.Client
	client  *http.Client // of the load

	isDown  atomic.Bool  // requests may fail: the test has killed it
	outages atomic.Int64 // how often it was killed
}

// site is one handler of a server, at a port and with a name of its own.
type site struct {
	name   string
	source string // what its block has: from ...
}

// port returns the port of the site with an index.
func (s *server) port(i int) int { return 8000 + i }

// newServer returns a Caddy that is not started yet. Its storage is a folder of its own, if storage
// is empty.
func newServer(h *host, storage string, sites ...site) *server {
	if storage == "" {
		storage = filepath.Join(h.dir, "storage")
	}
	s := &server{sites: sites, storage: storage}
	s.process = process{host: h, argv: []string{
		filepath.Join(os.Getenv(labVariable), "caddy"), "run", "--config",
		filepath.Join(h.dir, "Caddyfile"),
	}}
	dial := func(context.Context, string, string) (net.Conn, error) {
		return net.Dial("unix", filepath.Join(h.dir, "admin"))
	}
	s.admin = &http.Client{
		Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true},
		Timeout:   10 * time.Second,
	}
	s.client = &http.Client{
		Timeout: 5 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
		Transport: &http.Transport{MaxIdleConnsPerHost: 8},
	}
	return s
}

// config returns the Caddyfile.
func (s *server) config() string {
	var b strings.Builder
	fmt.Fprintf(&b, "{\n\tadmin unix/%s\n\tpersist_config off\n\tstorage file_system %s\n"+
		"\tlog {\n\t\tlevel WARN\n\t}\n}\n",
		filepath.Join(s.host.dir, "admin"), s.storage)
	for i, site := range s.sites {
		fmt.Fprintf(&b, "http://%s:%d {\n\tshortlink {\n\t\tname %s\n\t\t%s\n\t}\n"+
			"\trespond \"no such link\" 404\n}\n",
			front.address(s.host.number), s.port(i), site.name, site.source)
	}
	return b.String()
}

// start writes the Caddyfile, starts the server, and waits until it serves.
func (s *server) start(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(s.argv[3], []byte(s.config()), 0o600); err != nil {
		t.Fatal(err)
	}
	s.process.start(t)
	await(t, s.host.String()+" serves", 30*time.Second, func() error {
		select {
		case <-s.ended:
			t.Fatalf("%s has ended:\n%s", s.host, s.tail())
		default:
		}
		return s.serves()
	})
	s.isDown.Store(false)
}

// serves says why a site does not answer a key.
func (s *server) serves() error {
	for i := range s.sites {
		if _, err := s.locationOf(i, 0); err != nil {
			return err
		}
	}
	return nil
}

// kill ends the server as kill -9 does. Requests to it may fail until it is started again.
func (s *server) kill() {
	s.isDown.Store(true)
	s.outages.Add(1)
	s.process.kill()
}

// locationOf requests a key of a site, and returns where it leads.
func (s *server) locationOf(site, i int) (string, error) {
	response, err := s.client.Get(fmt.Sprintf("http://%s:%d/%s", front.address(s.host.number),
		s.port(site), key(i)))
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return "", err
	}
	if response.StatusCode != http.StatusFound {
		return "", fmt.Errorf("%s is answered with %s", key(i), response.Status)
	}
	return response.Header.Get("Location"), nil
}

// tell sends a request to the admin endpoint, and decodes what it answers.
func (s *server) tell(method, path, contentType, body string, into any) error {
	r, err := http.NewRequest(method, "http://caddy/"+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Cache-Control", "must-revalidate") // as caddy reload --force does
	response, err := s.admin.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s %s is answered with %s: %s", method, path, response.Status,
			bytes.TrimSpace(text))
	}
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// reload makes the server load its configuration, which the test has changed.
func (s *server) reload() error {
	return s.tell(http.MethodPost, "load", "text/caddyfile", s.config(), nil)
}

// edit makes a rule lead to a destination, by the first site's handler.
func (s *server) edit(key, destination string) error {
	return s.tell(http.MethodPut, "shortlink/"+s.sites[0].name+"/rules/"+key, "application/json",
		fmt.Sprintf("%q", destination), nil)
}

// state is what a handler serves.
type state struct {
	digest string
	rules  map[string]string
}

// stateOf returns what the handler of a site serves.
func (s *server) stateOf(site int) (st state, err error) {
	path := "shortlink/" + s.sites[site].name
	var status struct {
		Digest string `json:"digest"`
	}
	err = errors.Join(
		s.tell(http.MethodGet, path, "", "", &status),
		s.tell(http.MethodGet, path+"/rules", "", "", &st.rules))
	st.digest = status.Digest
	return st, err
}
