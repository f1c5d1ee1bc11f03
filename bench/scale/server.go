package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// server is a Caddy.
type server struct {
	*process
	head  string // of its Caddyfile
	admin *http.Client
}

// start starts a Caddy with the given content of a site's block, on the first processor.
func (b *bench) start(block string, env ...string) (*server, error) {
	return b.startOn(0, block, env...)
}

// startOn starts a Caddy on a processor. Each processor has its own folder.
func (b *bench) startOn(processor int, block string, env ...string) (*server, error) {
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	dir := b.caddyDir(processor)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	socket, config := filepath.Join(dir, "admin.socket"), filepath.Join(dir, "Caddyfile")
	_, port, _ := net.SplitHostPort(addr)
	s := &server{head: fmt.Sprintf("{\n admin unix/%s\n persist_config off\n "+
		"default_bind 127.0.0.1\n storage file_system %s\n log {\n level ERROR\n }\n}\nhttp://:%s",
		socket, dir, port)}
	if err := os.WriteFile(config, []byte(s.with(block)), 0o600); err != nil {
		return nil, err
	}
	s.admin = &http.Client{Transport: &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			return net.Dial("unix", socket)
		},
	}}
	s.process, err = startProcess(processor, addr, append([]string{"GOMAXPROCS=1"}, env...), b.caddy,
		"run", "--config", config)
	return s, err
}

// startServing starts a Caddy and waits until it serves. took is the duration.
func (b *bench) startServing(processor int, block string,
	rules int) (s *server, took time.Duration, err error) {
	if s, err = b.startOn(processor, block); err != nil {
		return nil, 0, err
	}
	if took, err = s.await("/"+key(rules-1), url(rules-1, 0), s.started); err != nil {
		s.stop()
	}
	return s, took, err
}

// startSettled is startServing with an empty storage. It returns the memory of the server at rest.
func (b *bench) startSettled(block string, rules int) (
	s *server, took time.Duration, settled float64, err error,
) {
	if err := os.RemoveAll(b.caddyDir(0)); err != nil {
		return nil, 0, 0, err
	}
	if s, took, err = b.startServing(0, block, rules); err != nil {
		return nil, 0, 0, err
	}
	if settled, err = s.settledMemory(); err != nil {
		s.stop()
	}
	return s, took, settled, err
}

// caddyDir returns the folder of the Caddy on a processor, and the root of its storage.
func (b *bench) caddyDir(processor int) string {
	return filepath.Join(b.dir, fmt.Sprint("caddy", processor))
}

// with returns a Caddyfile with the given content of a site's block.
func (s *server) with(block string) string { return s.head + " {\n" + block + "\n}\n" }

// reload replaces the content of the site's block.
func (s *server) reload(block string) error {
	return s.tell(http.MethodPost, "load", "text/caddyfile", s.with(block))
}

// reloadRules makes the server read its sources now.
func (s *server) reloadRules() error {
	return s.tell(http.MethodPost, "shortlink/shortlink/reload", "", "")
}

// put edits the rule of a key.
func (s *server) put(key, url string) error {
	return s.tell(http.MethodPut, "shortlink/shortlink/rules/"+key, "application/json",
		fmt.Sprintf("%q", url))
}

// tell sends a request to the admin endpoint.
func (s *server) tell(method, path, contentType, body string) error {
	r, err := http.NewRequest(method, "http://caddy/"+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", contentType)
	answer, err := s.admin.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if answer.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s %s is answered with %s: %s", method, path, answer.Status, text)
	}
	return err
}

func (s *server) stop() {
	s.admin.CloseIdleConnections()
	s.process.stop()
}
