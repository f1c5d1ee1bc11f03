//go:build linux

package fleet

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	// redisVariable names the redis-server to test with.
	redisVariable = "SHORTLINK_REDIS_SERVER"
	// labVariable holds the folder of the lab, inside the lab.
	labVariable = "SHORTLINK_FLEET_LAB"
)

// TestMain runs the tests in a network and a tree of mounts of their own, which end with them.
func TestMain(m *testing.M) {
	if os.Getenv(labVariable) != "" || !isWanted() {
		os.Exit(m.Run())
	}
	if err := runInLab(); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

// isWanted reports whether somebody has asked for the slow tests.
func isWanted() bool {
	return os.Getenv("SHORTLINK_SLOW") != "" && os.Getenv(redisVariable) != ""
}

// runInLab builds Caddy, and runs the tests with it in a lab.
func runInLab() error {
	dir, err := os.MkdirTemp("", "fleet")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	build := exec.Command("go", "build", "-C", "../..", "-o", filepath.Join(dir, "caddy"),
		"./cmd/caddy")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	tests := exec.Command("/proc/self/exe", os.Args[1:]...)
	tests.Env = append(os.Environ(), labVariable+"="+dir)
	tests.Stdout, tests.Stderr = os.Stdout, os.Stderr
	tests.SysProcAttr = &syscall.SysProcAttr{
		Unshareflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL,
	}
	return tests.Run()
}

// skipOutsideLab skips a test that nobody has asked for.
func skipOutsideLab(t *testing.T) {
	if !isWanted() { // asked here, too, so that a stored result of go test is not taken for another
		t.Skip("set SHORTLINK_SLOW=1 and " + redisVariable + "=redis-server; it needs root, " +
			"redis-server and iproute2")
	}
}

// lab is a network of hosts. Clients reach servers over one bridge, and servers reach what they
// depend on over another, so that a server can be cut off from the latter alone.
//
//	tests 10.77.1.254 --- front --- 10.77.1.n  server n  10.77.2.n --- back --- 10.77.2.254 tests
//	                                                                    |
//	                                                                    '--- 10.77.2.m  Redis m
type lab struct {
	dir   string
	hosts int
}

// bridge is one of the two networks.
type bridge string

const (
	front bridge = "front"
	back  bridge = "back"
)

// address returns a host's address in the network; the tests themselves are host 254.
func (b bridge) address(host int) string {
	if b == front {
		return fmt.Sprint("10.77.1.", host)
	}
	return fmt.Sprint("10.77.2.", host)
}

// newLab makes the two bridges.
func newLab(t *testing.T) *lab {
	t.Helper()
	skipOutsideLab(t)
	dir, err := os.MkdirTemp(os.Getenv(labVariable), "lab")
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{dir: dir}
	script(t, `mkdir -p /run/netns
		mountpoint -q /run/netns || mount -t tmpfs none /run/netns
		ip link set lo up`)
	for i, b := range []bridge{front, back} {
		// A bridge takes the lowest address of its ports, if it has none of its own: hosts would go on
		// sending to the old one for half a minute.
		script(t, fmt.Sprintf(`ip link add %s address 02:00:00:00:77:0%d type bridge
			ip addr add %s/24 dev %[1]s
			ip link set %[1]s up`, b, i+1, b.address(254)))
	}
	t.Cleanup(func() {
		script(t, `ip link del front; ip link del back; ip -all netns del`)
	})
	return l
}

// newDisk returns a folder on a small disk of its own.
func (l *lab) newDisk(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(l.dir, "disk")
	if err != nil {
		t.Fatal(err)
	}
	script(t, "mount -t tmpfs -o size=4m none "+dir)
	t.Cleanup(func() { script(t, "umount -l "+dir) })
	return dir
}

// fillDisk fills a disk up, and returns a function that frees it.
func fillDisk(t *testing.T, dir string) (free func()) {
	t.Helper()
	name := filepath.Join(dir, "rubbish")
	if err := os.WriteFile(name, make([]byte, 8<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk of 4 MiB is not full: %v", err)
	}
	return func() {
		if err := os.Remove(name); err != nil {
			t.Error(err)
		}
	}
}

// script runs a shell script, which has to succeed.
func script(t *testing.T, text string) {
	t.Helper()
	out, err := exec.Command("sh", "-ec", text).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", text, err, out)
	}
}

// host is a computer of the lab.
type host struct {
	number int
	dir    string
}

// newHost adds a host to networks.
func (l *lab) newHost(t *testing.T, networks ...bridge) *host {
	t.Helper()
	l.hosts++
	h := &host{l.hosts, filepath.Join(l.dir, fmt.Sprint("host", l.hosts))}
	if err := os.Mkdir(h.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	script(t, fmt.Sprintf("ip netns add %s; ip -n %[1]s link set lo up", h))
	for _, b := range networks {
		script(t, fmt.Sprintf(`ip link add %s type veth peer name %s netns %s
			ip -n %[3]s addr add %s/24 dev %[2]s
			ip -n %[3]s link set %[2]s up
			ip link set %[1]s master %[2]s up`, h.port(b), b, h, b.address(h.number)))
	}
	return h
}

// String returns the name of the host's namespace.
func (h *host) String() string { return fmt.Sprint("host", h.number) }

// port names the host's port of a bridge.
func (h *host) port(b bridge) string { return fmt.Sprint(b, h.number) }

// cutOff takes the host off the network behind the servers: packets are lost in silence.
func (h *host) cutOff(t *testing.T) {
	t.Helper()
	script(t, fmt.Sprintf("ip link set %s nomaster", h.port(back)))
}

// rejoin undoes cutOff.
func (h *host) rejoin(t *testing.T) {
	t.Helper()
	script(t, fmt.Sprintf("ip link set %s master %s", h.port(back), back))
}

// process is a program on a host, which can be killed and started again.
type process struct {
	host *host
	argv []string
	env  []string

	cmd   *exec.Cmd
	ended chan struct{}
}

// start starts the program. What it says goes into a file of the host.
func (p *process) start(t *testing.T) {
	t.Helper()
	log, err := os.OpenFile(p.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	p.cmd = exec.Command("ip", append([]string{"netns", "exec", p.host.String()}, p.argv...)...)
	p.cmd.Env = append(os.Environ(), p.env...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = p.host.dir, log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended, cmd := make(chan struct{}), p.cmd
	p.ended = ended
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
}

// log names the file with what the program says.
func (p *process) log() string { return filepath.Join(p.host.dir, "log") }

// kill ends the program as kill -9 does.
func (p *process) kill() {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// tail returns the end of what the program said.
func (p *process) tail() string {
	b, _ := os.ReadFile(p.log())
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}

// longest is how long a test waits at most for what should have happened long ago, so that it can
// say how long that takes.
const longest = 30 * time.Second

// await waits until a condition holds, and returns how long that took.
func await(t *testing.T, what string, within time.Duration, holds func() error) time.Duration {
	t.Helper()
	var last error
	for begun := time.Now(); ; {
		err := holds()
		took := time.Since(begun)
		switch {
		case err == nil && took > within:
			t.Errorf("%s: after %v, and not within %v: %v", what, took, within, last)
			return took
		case err == nil:
			return took
		case took > max(longest, within):
			t.Errorf("%s: not within %v: %v", what, took, err)
			return took
		}
		last = err
		time.Sleep(20 * time.Millisecond) // other processes tell nobody when they are done
	}
}
