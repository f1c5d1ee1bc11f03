package source

import "fmt"

const startTakes = "takes refuse or without"

// StartOption is the option start of a source's block; written receives its word.
func StartOption(written *string) BlockOption {
	return parsedOption("start", startTakes, written, ParseStart)
}

// ParseStart parses the option start of a source: whether Caddy may start without its rules.
func ParseStart(written string) (without bool, err error) {
	switch written {
	case "", "refuse", "without":
		return written == "without", nil
	}
	return false, fmt.Errorf("start %s, not %q", startTakes, written)
}
