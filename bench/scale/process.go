package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy/freeport"
)

// process is a measured server on one processor, with its child processes.
type process struct {
	addr    string
	cmd     *exec.Cmd
	started time.Time
	ended   chan struct{}
}

// freeAddress returns an unused loopback address.
func freeAddress() (string, error) {
	port, err := freeport.Find()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), err
}

// startProcess starts a command that listens at addr.
func startProcess(processor int, addr string, env []string, command ...string) (*process, error) {
	p := &process{addr: addr, ended: make(chan struct{})}
	p.cmd = exec.Command("taskset", append([]string{"-c", strconv.Itoa(processor)}, command...)...)
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stderr = os.Stderr
	p.started = time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	<-p.ended
}

// await waits until the server answers a path with location. It returns the time since since.
func (p *process) await(path, location string, since time.Time) (time.Duration, error) {
	for deadline := since.Add(10 * time.Minute); time.Now().Before(deadline); {
		c, err := dial(p.addr)
		if err == nil {
			var got string
			got, err = c.ask(path)
			c.close()
			if err == nil && got == location {
				return time.Since(since), nil
			}
		}
		select {
		case <-p.ended:
			return 0, fmt.Errorf("%s has ended", p.cmd)
		case <-time.After(2 * time.Millisecond):
		}
	}
	return 0, fmt.Errorf("%s was never answered with %s", path, location)
}

// settledMemory waits some seconds, and returns the resident memory in MiB.
func (p *process) settledMemory() (float64, error) {
	time.Sleep(5 * time.Second)
	return p.memory("VmRSS")
}

// memory returns a line of /proc/<pid>/status in MiB.
func (p *process) memory(name string) (float64, error) {
	return memory(p.cmd.Process.Pid, "status", name)
}

// memoryOfAll returns the memory of the process and its children in MiB. Shared pages count once;
// resident memory would count them for each process.
func (p *process) memoryOfAll() (total float64, err error) {
	pids, err := p.all()
	for _, pid := range pids {
		one, inOne := memory(pid, "smaps_rollup", "Pss")
		total, err = total+one, errors.Join(err, inOne)
	}
	return total, err
}

// memory returns a line of a file in /proc/<pid> in MiB.
func memory(pid int, file, name string) (float64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kib, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
			return float64(kib) / 1024, err
		}
	}
	return 0, fmt.Errorf("no %s of process %d", name, pid)
}

// all returns the process and its children.
func (p *process) all() ([]int, error) {
	pids := []int{p.cmd.Process.Pid}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pids[0], pids[0]))
	if err != nil {
		return nil, err
	}
	for _, field := range strings.Fields(string(b)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			return nil, err
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// resetPeak resets VmHWM.
func (p *process) resetPeak() error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.cmd.Process.Pid), []byte("5"), 0)
}

// cpu returns the processor time of the process and its children.
func (p *process) cpu() (total time.Duration, err error) {
	pids, err := p.all()
	for _, pid := range pids {
		one, inOne := cpu(pid)
		total, err = total+one, errors.Join(err, inOne)
	}
	return total, err
}

func cpu(pid int) (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	user, inUser := strconv.Atoi(fields[11])
	system, inSystem := strconv.Atoi(fields[12])
	// The times are in ticks of a hundredth of a second.
	return time.Duration(user+system) * 10 * time.Millisecond, errors.Join(inUser, inSystem)
}
