package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// connection is a client that sends one request after another.
type connection struct {
	net.Conn
	r *bufio.Reader
}

func dial(addr string) (*connection, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &connection{conn, bufio.NewReader(conn)}, nil
}

func (c *connection) close() { _ = c.Conn.Close() }

// ask requests a path, and returns the Location.
func (c *connection) ask(path string) (location string, err error) {
	if _, err := c.Write([]byte("GET " + path + " HTTP/1.1\r\nHost: go.example\r\n\r\n")); err != nil {
		return "", err
	}
	status, err := c.r.ReadString('\n')
	if err != nil {
		return "", err
	}
	if !strings.HasPrefix(status, "HTTP/1.1 302 ") && !strings.HasPrefix(status, "HTTP/1.1 404 ") {
		return "", fmt.Errorf("the answer is %s", strings.TrimSpace(status))
	}
	body := 0
	for {
		line, err := c.r.ReadSlice('\n')
		if err != nil {
			return "", err
		}
		if len(line) <= 2 {
			break
		}
		if value, ok := cutName(line, "location"); ok {
			location = string(value)
		}
		if value, ok := cutName(line, "content-length"); ok {
			if body, err = strconv.Atoi(string(value)); err != nil {
				return "", err
			}
		}
	}
	_, err = c.r.Discard(body)
	return location, err
}

// cutName returns the value of a header line with the given name.
func cutName(line []byte, name string) (value []byte, ok bool) {
	if len(line) <= len(name) || line[len(name)] != ':' ||
		!strings.EqualFold(string(line[:len(name)]), name) {
		return nil, false
	}
	return bytes.TrimSpace(line[len(name)+1:]), true
}

// load holds the results of a load.
type load struct {
	mu        sync.Mutex
	latencies []time.Duration
	failed    []error
}

func (l *load) saw(latency time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.failed = append(l.failed, err)
		return
	}
	l.latencies = append(l.latencies, latency)
}

// percentile returns the latency that a share p of all requests did not exceed.
func (l *load) percentile(p float64) time.Duration {
	if len(l.latencies) == 0 {
		return 0
	}
	slices.Sort(l.latencies)
	return l.latencies[min(len(l.latencies)-1, int(p*float64(len(l.latencies))))]
}

// below counts the requests that took at most limit.
func (l *load) below(limit time.Duration) (n int) {
	for _, latency := range l.latencies {
		if latency <= limit {
			n++
		}
	}
	return n
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// at sends requests at a fixed rate until stop is closed. It does not wait for earlier responses. A
// latency counts from the scheduled time of the request.
func (p *process) at(rate int, pick func(*rand.Rand) string, stop <-chan struct{}) *load {
	result := &load{}
	type job struct{ due time.Time }
	jobs := make(chan job, 1<<16)
	var workers sync.WaitGroup
	for range 64 {
		workers.Go(func() {
			random := rand.New(rand.NewPCG(rand.Uint64(), 1))
			c, err := dial(p.addr)
			for j := range jobs {
				if err == nil {
					_, err = c.ask(pick(random))
				}
				result.saw(time.Since(j.due), err)
				if err != nil {
					if c != nil {
						c.close()
					}
					c, err = dial(p.addr)
				}
			}
			if err == nil {
				c.close()
			}
		})
	}
	begin := time.Now()
	for sent := 0; ; {
		select {
		case <-stop:
			close(jobs)
			workers.Wait()
			return result
		default:
		}
		for due := int(time.Since(begin).Seconds() * float64(rate)); sent < due; sent++ {
			jobs <- job{begin.Add(time.Duration(sent) * time.Second / time.Duration(rate))}
		}
		time.Sleep(500 * time.Microsecond)
	}
}

// asMany sends as many requests as the server can answer on a few connections.
func (p *process) asMany(pick func(*rand.Rand) string, length time.Duration) (*load, float64) {
	result := &load{}
	var workers sync.WaitGroup
	begin := time.Now()
	for n := range uint64(16) {
		workers.Go(func() {
			random := rand.New(rand.NewPCG(n, 1))
			c, err := dial(p.addr)
			if err != nil {
				result.saw(0, err)
				return
			}
			defer c.close()
			for time.Since(begin) < length {
				sent := time.Now()
				_, err := c.ask(pick(random))
				result.saw(time.Since(sent), err)
				if err != nil {
					return
				}
			}
		})
	}
	workers.Wait()
	return result, float64(len(result.latencies)) / time.Since(begin).Seconds()
}

// loadResults are the results of servers under maximum load.
type loadResults struct{ perSecond, p99, cpu series }

func (p *process) loadOnce(rules int, length time.Duration, r *loadResults) error {
	p.asMany(anyOf(rules), time.Second)
	before, err := p.cpu()
	if err != nil {
		return err
	}
	seen, perSecond := p.asMany(anyOf(rules), length)
	after, err := p.cpu()
	if err := errors.Join(append(seen.failed, err)...); err != nil {
		return err
	}
	r.perSecond = append(r.perSecond, perSecond)
	r.p99 = append(r.p99, milliseconds(seen.percentile(0.99)))
	r.cpu = append(r.cpu, float64((after-before).Microseconds())/float64(len(seen.latencies)))
	return nil
}
