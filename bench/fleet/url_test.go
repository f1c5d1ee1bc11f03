//go:build linux

package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// published is an HTTPS server, in the tests' own host, from which all servers fetch their rules.
type published struct {
	*fleet
	tls   *authority
	trust string

	mu    sync.Mutex
	rules map[string]string
	fail  http.HandlerFunc // answers instead of the rules, if it is not nil
}

// startPublished starts everything, with requests and writes.
func startPublished(t *testing.T) *published {
	l := newLab(t)
	p := &published{tls: newAuthority(t), trust: filepath.Join(l.dir, "trusted.pem")}
	writeFile(t, p.trust, p.tls.pem())
	p.rules = make(map[string]string)
	for i := range all {
		p.rules[key(i)] = destination(i, 0)
	}
	certFile, keyFile := p.tls.issue(t, back.address(254), l.dir, "published")
	listener, err := net.Listen("tcp", back.address(254)+":443")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: p}
	go server.ServeTLS(listener, certFile, keyFile)
	t.Cleanup(func() { _ = server.Close() })
	p.fleet = l.newFleet(t, [3]string{}, func() []site {
		return []site{{"url", "from url https://" + back.address(254) + "/links.json {\n" +
			"\t\t\tpoll 500ms\n\t\t\ttimeout 2s\n\t\t}"}}
	}, "SSL_CERT_FILE="+p.trust)
	p.write = func(_ context.Context, key, to string) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.rules[key] = to
		return nil
	}
	p.stored = func(context.Context) ([]map[string]string, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		rules := make(map[string]string)
		for key, to := range p.rules {
			rules[key] = to
		}
		return []map[string]string{rules}, nil
	}
	p.run(t)
	return p
}

// ServeHTTP answers with the rules, or not at all if they are known.
func (p *published) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	content, err := json.Marshal(p.rules)
	fail := p.fail
	p.mu.Unlock()
	switch tag := fmt.Sprintf("\"%x\"", sha256.Sum256(content)); {
	case fail != nil:
		fail(w, r)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case r.Header.Get("If-None-Match") == tag:
		w.WriteHeader(http.StatusNotModified)
	default:
		w.Header().Set("ETag", tag)
		_, _ = w.Write(content)
	}
}

// failing lets all requests fail for a while.
func (p *published) failing(t *testing.T, length time.Duration, how http.HandlerFunc) {
	p.set(how)
	pause(t.Context(), length)
	p.set(nil)
}

func (p *published) set(how http.HandlerFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fail = how
}

func TestServersStayRightWhileTheURLOfTheirRulesBreaks(t *testing.T) {
	p := startPublished(t)
	p.sufferAll(t, []fault{
		{
			name: "each server is killed", happen: p.restartServers,
			expected: "its clients are refused until it is started again; it fetches the rules",
		},
		{
			name: "the URL answers with 500", expected: "the last rules serve",
			happen: func(t *testing.T) {
				p.failing(t, 3*time.Second, func(w http.ResponseWriter, _ *http.Request) {
					http.Error(w, "out of order", http.StatusInternalServerError)
				})
			},
		},
		{
			name: "the URL answers with a page, and cuts off", expected: "the last rules serve",
			happen: func(t *testing.T) {
				p.failing(t, 2*time.Second, func(w http.ResponseWriter, _ *http.Request) {
					fmt.Fprint(w, "<html>")
				})
				p.failing(t, 2*time.Second, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Length", "1000")
					fmt.Fprint(w, "{")
				})
			},
		},
		{
			name:     "the URL hangs, and each server is killed",
			expected: "the last rules serve, and the stored copies after a restart",
			happen: func(t *testing.T) {
				p.set(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
				p.restartServers(t)
				p.set(nil)
			},
		},
		{
			name: "a server is cut off from the URL", expected: "it serves the last rules",
			happen: func(t *testing.T) { cutOff(t, 4*time.Second, p.servers[1].host) },
		},
	})
}
