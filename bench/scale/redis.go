package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// redisForm is the form of rules in Redis.
type redisForm string

const (
	redisHash redisForm = "Redis hash"
	redisKeys redisForm = "Redis keys"
)

// redisServer is a redis-server on the processor of the load.
type redisServer struct {
	process *exec.Cmd
	socket  string
	client  *goredis.Client
}

func (b *bench) startRedis() (*redisServer, error) {
	r := &redisServer{socket: filepath.Join(b.dir, "redis.socket")}
	r.process = exec.Command("redis-server", "--port", "0", "--unixsocket", r.socket, "--dir", b.dir,
		"--save", "")
	r.client = goredis.NewClient(&goredis.Options{Network: "unix", Addr: r.socket})
	if err := r.process.Start(); err != nil {
		return nil, err
	}
	var err error
	for range 1000 {
		if err = r.client.Ping(context.Background()).Err(); err == nil {
			return r, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	r.stop()
	return nil, err
}

func (r *redisServer) stop() {
	_ = r.client.Close()
	_ = r.process.Process.Kill()
	_ = r.process.Wait()
}

// source returns the source of rules of a form, for a Caddyfile.
func (r *redisServer) source(form redisForm) string {
	name := "links"
	if form == redisKeys {
		name = "links:*"
	}
	return "redis " + name + " {\n url unix://" + r.socket + "\n }"
}

// fill replaces all rules with n rules of a form.
func (r *redisServer) fill(form redisForm, n int) error {
	if err := r.client.FlushAll(context.Background()).Err(); err != nil {
		return err
	}
	const page = 10_000
	for first := 0; first < n; first += page {
		var rules []string
		for i := first; i < min(first+page, n); i++ {
			rules = append(rules, key(i), url(i, 0))
		}
		if err := r.set(form, rules...); err != nil {
			return err
		}
	}
	return nil
}

// set sets rules, given as pairs of a key and a URL.
func (r *redisServer) set(form redisForm, rules ...string) error {
	if form == redisHash {
		return r.client.HSet(context.Background(), "links", rules).Err()
	}
	for i := 0; i < len(rules); i += 2 {
		rules[i] = "links:" + rules[i]
	}
	return r.client.MSet(context.Background(), rules).Err()
}

// redis measures rules from a hash and from keys. It measures the time until the first answer, and
// the time until a change in Redis is served.
func (b *bench) redis(rules, rounds int) error {
	r, err := b.startRedis()
	if err != nil {
		return err
	}
	defer r.stop()
	fmt.Print("| source | rules | serving after, s | change visible after, s | settled, MiB " +
		"| peak, MiB |\n|---|--:|--:|--:|--:|--:|\n")
	for _, form := range []redisForm{redisHash, redisKeys} {
		if err := b.redisOf(r, form, rules, rounds); err != nil {
			return fmt.Errorf("%s: %w", form, err)
		}
	}
	return nil
}

// redisOf measures one form, and prints its row.
func (b *bench) redisOf(r *redisServer, form redisForm, rules, rounds int) error {
	if err := r.fill(form, rules); err != nil {
		return err
	}
	s, start, settled, err := b.startSettled(from(r.source(form)), rules)
	if err != nil {
		return err
	}
	defer s.stop()
	if err := s.resetPeak(); err != nil {
		return err
	}
	var visible series
	for generation := 1; generation <= rounds; generation++ {
		begun := time.Now()
		if err := r.set(form, key(0), url(0, generation)); err != nil {
			return err
		}
		took, err := s.await("/"+key(0), url(0, generation), begun)
		if err != nil {
			return err
		}
		visible = append(visible, took.Seconds())
		time.Sleep(2 * time.Second)
	}
	peak, err := s.memory("VmHWM")
	if err != nil {
		return err
	}
	fmt.Printf("| %s | %d | %.3g | %v | %.0f | %.0f |\n", form, rules, start.Seconds(), visible,
		settled, peak)
	return nil
}
