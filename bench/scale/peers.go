package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// peer is a server with the same rules as the others, in its own format.
type peer struct {
	*process
	// edit changes the destination of one rule.
	edit func(i, generation int) error
	// replace prepares a new set of rules, and returns a function that activates it.
	replace func(g generations) (give func() error, err error)
}

// peerKind is a program to compare.
type peerKind struct {
	name, program string
	start         func(rules int) (*peer, error)
}

// peers measures servers with the same rules and requests, in turn in every round.
func (b *bench) peers(rules, rounds int, length time.Duration) error {
	kinds := installedOf([]peerKind{
		{"shortlink, file", b.caddy, b.startShortlink},
		{"nginx, `map`", "nginx", b.startNginx},
		{"HAProxy, `map`", "haproxy", b.startHAProxy},
	})
	results := make([]peerResults, len(kinds))
	for range rounds {
		for i, kind := range kinds {
			if err := measurePeer(kind, rules, length, &results[i]); err != nil {
				return fmt.Errorf("%s: %w", kind.name, err)
			}
		}
	}
	fmt.Print("| what | rules | serving after, s | settled, MiB | requests a second | p99, ms | " +
		"CPU a request, µs | one edit served after, ms | all replaced, served after, s " +
		"| p99 meanwhile, ms | max meanwhile, ms |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for i, kind := range kinds {
		r := results[i]
		fmt.Printf("| %s | %d | %v | %v | %v | %v | %v | %v | %v | %v | %v |\n", kind.name, rules,
			r.start, r.settled, r.perSecond, r.p99, r.cpu, r.edit, r.replace, r.p99Meanwhile, r.maxMeanwhile)
	}
	return nil
}

// installedOf returns the kinds whose program is installed, and names the others.
func installedOf(all []peerKind) (kinds []peerKind) {
	for _, kind := range all {
		if installed(kind.program) {
			kinds = append(kinds, kind)
			continue
		}
		fmt.Printf("%s is left out: %s is not installed\n\n", kind.name, kind.program)
	}
	return kinds
}

func installed(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// peerResults are the results of a kind.
type peerResults struct {
	loadResults
	start, settled, edit, replace, p99Meanwhile, maxMeanwhile series
}

func measurePeer(kind peerKind, rules int, length time.Duration, r *peerResults) error {
	p, err := kind.start(rules)
	if err != nil {
		return err
	}
	defer p.stop()
	start, err := p.await("/"+key(rules-1), url(rules-1, 0), p.started)
	if err != nil {
		return err
	}
	time.Sleep(5 * time.Second)
	settled, err := p.memoryOfAll()
	if err != nil {
		return err
	}
	if err := p.loadOnce(rules, length, &r.loadResults); err != nil {
		return err
	}
	edit, err := p.editOne(rules)
	if err != nil {
		return err
	}
	if err := p.replaceAll(rules, r); err != nil {
		return err
	}
	r.start, r.settled = append(r.start, start.Seconds()), append(r.settled, settled)
	r.edit = append(r.edit, milliseconds(edit))
	return nil
}

// editOne edits the rule in the middle, because some servers search rules from the first on.
func (p *peer) editOne(rules int) (time.Duration, error) {
	begun, middle := time.Now(), rules/2
	if err := p.edit(middle, 1); err != nil {
		return 0, err
	}
	return p.await("/"+key(middle), url(middle, 1), begun)
}

// replaceAll replaces all rules with a set in which a thousand have changed. Requests come at a
// fixed rate, beginning a second before. Failed requests do not count, because nginx closes idle
// connections at a reload, and clients are expected to reconnect.
func (p *peer) replaceAll(rules int, r *peerResults) error {
	const rate = 2000
	give, err := p.replace(firstOf(min(rules, 1000), 2))
	if err != nil {
		return err
	}
	stop, done := make(chan struct{}), make(chan *load)
	go func() { done <- p.at(rate, anyOf(rules), stop) }()
	time.Sleep(time.Second) // until all connections are open
	var took time.Duration
	begun := time.Now()
	if err = give(); err == nil {
		took, err = p.await("/"+key(0), url(0, 2), begun)
	}
	close(stop)
	seen := <-done
	r.replace = append(r.replace, took.Seconds())
	r.p99Meanwhile = append(r.p99Meanwhile, milliseconds(seen.percentile(0.99)))
	r.maxMeanwhile = append(r.maxMeanwhile, milliseconds(seen.percentile(1)))
	return err
}

func (b *bench) startShortlink(rules int) (*peer, error) {
	if err := b.writeRules(rules, 0, 0); err != nil {
		return nil, err
	}
	s, err := b.start(b.fromFile())
	if err != nil {
		return nil, err
	}
	return &peer{
		process: s.process,
		edit:    func(i, generation int) error { return s.put(key(i), url(i, generation)) },
		replace: func(g generations) (func() error, error) {
			next := b.links() + ".next"
			return func() error {
				return errors.Join(os.Rename(next, b.links()), s.reloadRules())
			}, inJSON.write(next, rules, g)
		},
	}, nil
}

// startNginx starts an nginx, which reloads its files after a change.
func (b *bench) startNginx(rules int) (*peer, error) {
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	inMap := format{"", "/%s %s;", "\n", "\n"}
	path := filepath.Join(b.dir, "nginx.map")
	config, log := filepath.Join(b.dir, "nginx.conf"), filepath.Join(b.dir, "nginx.log")
	block := fmt.Sprintf(nginxConfig, b.dir, addr, 2*rules+2048)
	if err := errors.Join(inMap.write(path, rules, firstOf(0, 0)),
		os.WriteFile(config, []byte(block), 0o600)); err != nil {
		return nil, err
	}
	p, err := startProcess(0, addr, nil, "nginx", "-c", config, "-e", log)
	if err != nil {
		return nil, err
	}
	reload := func() error { return p.cmd.Process.Signal(syscall.SIGHUP) }
	return &peer{
		process: p,
		edit: func(i, generation int) error {
			return errors.Join(inMap.write(path, rules, only(i, generation)), reload())
		},
		replace: func(g generations) (func() error, error) {
			next := path + ".next"
			return func() error { return errors.Join(os.Rename(next, path), reload()) },
				inMap.write(next, rules, g)
		},
	}, nil
}

// nginxConfig has a hash with twice as many buckets as rules. Few buckets are full then, so nginx
// finds its size at once.
const nginxConfig = `daemon off;
worker_processes 1;
pid %[1]s/nginx.pid;
events { }
http {
	access_log off;
	keepalive_requests 1000000000;
	client_body_temp_path %[1]s/nginx-1;
	proxy_temp_path %[1]s/nginx-2;
	fastcgi_temp_path %[1]s/nginx-3;
	uwsgi_temp_path %[1]s/nginx-4;
	scgi_temp_path %[1]s/nginx-5;
	map_hash_max_size %[3]d;
	map_hash_bucket_size 512;
	map $uri $to {
		include %[1]s/nginx.map;
	}
	server {
		listen %[2]s;
		location / {
			if ($to) {
				return 302 $to;
			}
			return 404;
		}
	}
}
`

// startHAProxy starts a HAProxy. Its rules are changed over its socket.
func (b *bench) startHAProxy(rules int) (*peer, error) {
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	h := haproxy{filepath.Join(b.dir, "haproxy.socket"), filepath.Join(b.dir, "haproxy.map")}
	inMap, config := format{"", "/%s %s", "\n", "\n"}, filepath.Join(b.dir, "haproxy.cfg")
	block := fmt.Sprintf(haproxyConfig, h.socket, addr, h.file)
	if err := errors.Join(inMap.write(h.file, rules, firstOf(0, 0)),
		os.WriteFile(config, []byte(block), 0o600)); err != nil {
		return nil, err
	}
	p, err := startProcess(0, addr, nil, "haproxy", "-db", "-f", config)
	if err != nil {
		return nil, err
	}
	return &peer{
		process: p,
		edit: func(i, generation int) error {
			return h.do(fmt.Sprintf("set map %s /%s %s", h.file, key(i), url(i, generation)))
		},
		replace: func(g generations) (func() error, error) {
			batches := h.batches(rules, g)
			return func() error { return h.replace(batches) }, nil
		},
	}, nil
}

const haproxyConfig = `global
	nbthread 1
	stats socket %s level admin
defaults
	mode http
	timeout client 1m
	timeout server 1m
	timeout connect 1m
frontend links
	bind %s
	http-request set-var(txn.to) path,map_str(%s)
	http-request redirect code 302 location %%[var(txn.to)] if { var(txn.to) -m found }
	http-request return status 404
`

// haproxy is the socket of a running HAProxy, and the name of its map.
type haproxy struct{ socket, file string }

// ask sends a command, and returns the answer.
func (h haproxy) ask(command string) (string, error) {
	conn, err := net.Dial("unix", h.socket)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, command+"\n"); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(conn)
	return strings.TrimSpace(string(answer)), err
}

// do sends a command and expects an empty answer.
func (h haproxy) do(command string) error {
	answer, err := h.ask(command)
	if err == nil && answer != "" {
		return fmt.Errorf("HAProxy answers: %s", answer)
	}
	return err
}

// batches returns all rules in pieces that fit into the buffer of a command.
func (h haproxy) batches(rules int, g generations) []string {
	const size = 150
	var all []string
	for first := 0; first < rules; first += size {
		var batch strings.Builder
		for i := first; i < min(rules, first+size); i++ {
			fmt.Fprintf(&batch, "/%s %s\n", key(i), url(i, g(i)))
		}
		all = append(all, batch.String())
	}
	return all
}

// replace prepares a new version of the map beside the active one, and swaps it in.
func (h haproxy) replace(batches []string) error {
	answer, err := h.ask("prepare map " + h.file)
	if err != nil {
		return err
	}
	version, ok := strings.CutPrefix(answer, "New version created: ")
	if !ok {
		return fmt.Errorf("HAProxy answers: %s", answer)
	}
	for _, batch := range batches {
		if err := h.do("add map @" + version + " " + h.file + " <<\n" + batch); err != nil {
			return err
		}
	}
	return h.do("commit map @" + version + " " + h.file)
}
