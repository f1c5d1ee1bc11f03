package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	goredis "github.com/redis/go-redis/v9"
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

// fill writes n rules to the hash links.
func (r *redisServer) fill(n int) error {
	const page = 10_000
	for from := 0; from < n; from += page {
		var fields []any
		for i := from; i < min(from+page, n); i++ {
			fields = append(fields, key(i), url(i, 0))
		}
		if err := r.client.HSet(context.Background(), "links", fields...).Err(); err != nil {
			return err
		}
	}
	return nil
}

// redis measures the time until the first answer, and until an HSET is served, with rules from a
// Redis hash.
func (b *bench) redis(rules, rounds int) error {
	r, err := b.startRedis()
	if err != nil {
		return err
	}
	defer r.stop()
	if err := r.fill(rules); err != nil {
		return err
	}
	s, err := b.start("shortlink {\n from redis links {\n url unix://" + r.socket +
		"\n }\n }\n respond 404")
	if err != nil {
		return err
	}
	defer s.stop()
	start, err := s.await("/"+key(rules-1), url(rules-1, 0), s.started)
	if err != nil {
		return err
	}
	settled, err := s.settledMemory()
	if err != nil {
		return err
	}
	if err := s.resetPeak(); err != nil {
		return err
	}
	var visible series
	for generation := 1; generation <= rounds; generation++ {
		begun := time.Now()
		set := r.client.HSet(context.Background(), "links", key(0), url(0, generation))
		if err := set.Err(); err != nil {
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
	fmt.Printf("| rules | serving after, s | HSET visible after, s | settled, MiB | peak, MiB " +
		"|\n|--:|--:|--:|--:|--:|\n")
	fmt.Printf("| %d | %.3g | %v | %.0f | %.0f |\n", rules, start.Seconds(), visible, settled, peak)
	return nil
}
