// Command scale measures a whole Caddy over a socket with many rules. It measures startup time,
// memory, latency while rules are swapped, and requests per second. It builds ../cmd/caddy, and
// pins server and load to a processor each. It uses only the loopback, and prints Markdown. It
// needs Linux, Go and taskset (util-linux).
//
//	go run -C bench ./scale -scenario startup -rules 1000000
//	go run -C bench ./scale -scenario swap -rules 1000000
//	go run -C bench ./scale -scenario throughput -rounds 5
//	go run -C bench ./scale -scenario redis -rules 1000000
//	go run -C bench ./scale -scenario edit -rules 1000000
//	go run -C bench ./scale -scenario edits -rules 100000
//	go run -C bench ./scale -scenario peers -rules 1000000 -rounds 3
//
// The scenarios redis and edits also need redis-server. Without it, edit skips Redis. peers skips
// nginx and HAProxy if they are not installed.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

func main() {
	var o options
	flag.StringVar(&o.scenario, "scenario", "startup", scenarios)
	flag.IntVar(&o.rules, "rules", 1_000_000, "how many rules are loaded; for edit the most")
	flag.IntVar(&o.rounds, "rounds", 5, "how often each is measured")
	flag.DurationVar(&o.length, "length", 0,
		"how long a load lasts (default 5s), and edits (default 1m)")
	flag.IntVar(&o.swaps, "swaps", 10, "how many swaps there are")
	flag.IntVar(&o.edits, "edits", 1000, "how many edits there are in a second")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

const scenarios = "startup, swap, throughput, redis, edit, edits or peers"

// options are the values of the flags.
type options struct {
	scenario                    string
	rules, rounds, swaps, edits int
	length                      time.Duration
}

func run(o options) error {
	if err := pinLoad(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "scale")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{dir: dir, caddy: filepath.Join(dir, "caddy")}
	build := exec.Command("go", "build", "-C", "..", "-o", b.caddy, "./cmd/caddy")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %v\n%s", err, out)
	}
	load := cmp.Or(o.length, 5*time.Second)
	switch o.scenario {
	case "startup":
		return b.startup(o.rules, o.rounds, load)
	case "swap":
		return b.swap(o.rules, o.swaps)
	case "throughput":
		return b.throughput(o.rounds, load)
	case "redis":
		return b.redis(o.rules, o.rounds)
	case "edit":
		return b.edit(o.rules, o.rounds)
	case "edits":
		return b.edits(o.rules, o.edits, cmp.Or(o.length, time.Minute))
	case "peers":
		return b.peers(o.rules, o.rounds, load)
	}
	return fmt.Errorf("there is no scenario %q: write %s", o.scenario, scenarios)
}

// pinLoad pins this process to the second processor. The servers get the first.
func pinLoad() error {
	runtime.GOMAXPROCS(1)
	out, err := exec.Command("taskset", "-a", "-cp", "1", fmt.Sprint(os.Getpid())).CombinedOutput()
	if err != nil {
		return fmt.Errorf("taskset: %v: %s", err, out)
	}
	return nil
}
