package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// bench is where things are measured.
type bench struct {
	dir, caddy string
}

// key and url are those of the i-th rule: 12 bytes and 60.
func key(i int) string { return fmt.Sprintf("k%05x%06x", uint32(i)*2654435761>>12, i) }

func url(i, generation int) string {
	return fmt.Sprintf("https://www.example.com/articles/%d/%025d", generation%10, i)
}

func (b *bench) socket() string { return filepath.Join(b.dir, "admin.socket") }

func (b *bench) links() string { return filepath.Join(b.dir, "links.json") }

// writeRules writes n rules to the file that servers follow, the first changed ones of another
// generation, in the place of the old file at once.
func (b *bench) writeRules(n, changed, generation int) error {
	path := b.links()
	file, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(file, 1<<20)
	for i := range n {
		separator, g := ",", 0
		if i == 0 {
			separator = "{"
		}
		if i < changed {
			g = generation
		}
		fmt.Fprintf(w, "%s\n\t%q: %q", separator, key(i), url(i, g))
	}
	fmt.Fprint(w, "\n}\n")
	if err := w.Flush(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// server is a Caddy on the first processor.
type server struct {
	addr    string
	head    string // of its Caddyfile
	admin   *http.Client
	process *exec.Cmd
	started time.Time
}

// start starts a Caddy with what a site's block holds.
func (b *bench) start(block string, env ...string) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{addr: l.Addr().String()}
	l.Close()
	_, port, _ := net.SplitHostPort(s.addr)
	config := filepath.Join(b.dir, "Caddyfile")
	s.head = fmt.Sprintf("{\n admin unix/%s\n persist_config off\n default_bind 127.0.0.1\n storage "+
		"file_system %s\n log {\n output discard\n }\n}\nhttp://:%s", b.socket(), b.dir, port)
	if err := os.WriteFile(config, []byte(s.with(block)), 0o600); err != nil {
		return nil, err
	}
	s.admin = &http.Client{Transport: &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			return net.Dial("unix", b.socket())
		},
	}}
	s.process = exec.Command("taskset", "-c", "0", b.caddy, "run", "--config", config)
	s.process.Env = append(append(os.Environ(), "GOMAXPROCS=1"), env...)
	s.process.Stderr = os.Stderr
	s.started = time.Now()
	return s, s.process.Start()
}

// with returns a Caddyfile with what a site's block holds.
func (s *server) with(block string) string { return s.head + " {\n" + block + "\n}\n" }

// reload gives the server what a site's block holds from now on.
func (s *server) reload(block string) error {
	answer, err := s.admin.Post("http://caddy/load", "text/caddyfile",
		strings.NewReader(s.with(block)))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the configuration is answered with %s", answer.Status)
	}
	return nil
}

func (s *server) stop() {
	s.admin.CloseIdleConnections()
	_ = s.process.Process.Signal(syscall.SIGTERM)
	_ = s.process.Wait()
}

// await waits until a path is answered with a location, and returns how long that took from since.
func (s *server) await(path, location string, since time.Time) (time.Duration, error) {
	for deadline := since.Add(10 * time.Minute); time.Now().Before(deadline); time.Sleep(
		2 * time.Millisecond) {
		c, err := dial(s.addr)
		if err != nil {
			continue
		}
		got, err := c.ask(path)
		c.close()
		if err == nil && got == location {
			return time.Since(since), nil
		}
	}
	return 0, fmt.Errorf("%s was never answered with %s", path, location)
}

// settledMemory returns the resident memory in MiB, some seconds after what has been done last.
func (s *server) settledMemory() (float64, error) {
	time.Sleep(5 * time.Second)
	return s.memory("VmRSS")
}

// memory returns a line of /proc/<pid>/status in MiB.
func (s *server) memory(name string) (float64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kib, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
			return float64(kib) / 1024, err
		}
	}
	return 0, fmt.Errorf("no %s of process %d", name, s.process.Process.Pid)
}

// resetPeak lets VmHWM begin anew.
func (s *server) resetPeak() error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.process.Process.Pid), []byte("5"), 0)
}

// cpu returns the processor time that the server has used.
func (s *server) cpu() (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.process.Process.Pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	user, inUser := strconv.Atoi(fields[11])
	system, inSystem := strconv.Atoi(fields[12])
	// in ticks of a hundredth of a second
	return time.Duration(user+system) * 10 * time.Millisecond, errors.Join(inUser, inSystem)
}
