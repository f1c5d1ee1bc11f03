// Command scale measures a whole Caddy over a socket with many rules: how long it takes to serve,
// what memory it needs, what requests see while rules are swapped, and how many of them it answers
// a second. It builds ./cmd/caddy, pins server and load to a processor each, talks to the loopback
// alone, and prints Markdown. It needs Linux, Go and taskset (util-linux).
//
//	go run ./internal/scale -scenario startup -rules 1000000
//	go run ./internal/scale -scenario swap -rules 1000000
//	go run ./internal/scale -scenario throughput -rounds 5
//	go run ./internal/scale -scenario redis -rules 1000000
//
// The last of them needs redis-server, too.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

func main() {
	scenario := flag.String("scenario", "startup", "startup, swap, throughput or redis")
	rules := flag.Int("rules", 1_000_000, "how many rules are loaded")
	rounds := flag.Int("rounds", 5, "how often each is measured")
	length := flag.Duration("length", 5*time.Second, "how long a load lasts")
	swaps := flag.Int("swaps", 10, "how many swaps there are")
	flag.Parse()
	if err := run(*scenario, *rules, *rounds, *swaps, *length); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func run(scenario string, rules, rounds, swaps int, length time.Duration) error {
	if err := pinLoad(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "scale")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{dir: dir, caddy: filepath.Join(dir, "caddy")}
	build := exec.Command("go", "build", "-o", b.caddy, "./cmd/caddy")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %v\n%s", err, out)
	}
	switch scenario {
	case "startup":
		return b.startup(rules, rounds, length)
	case "swap":
		return b.swap(rules, swaps)
	case "throughput":
		return b.throughput(rounds, length)
	case "redis":
		return b.redis(rules, rounds)
	}
	return fmt.Errorf("there is no scenario %q: write startup, swap, throughput or redis", scenario)
}

// pinLoad gives this process the second processor; the servers get the first.
func pinLoad() error {
	runtime.GOMAXPROCS(1)
	out, err := exec.Command("taskset", "-a", "-cp", "1", fmt.Sprint(os.Getpid())).CombinedOutput()
	if err != nil {
		return fmt.Errorf("taskset: %v: %s", err, out)
	}
	return nil
}
