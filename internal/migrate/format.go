package migrate

import (
	"io"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// Format is a way to write rules down that they can be converted from.
type Format struct {
	Name rulefile.Format
	// Read reads the rules of a file; see [LinesOf].
	Read func(in Input, add func(resolver.Rule)) (Found, error)
	// HasHosts tells that entries can be for one host; SaysStatus and SaysExact that each says which
	// status it has, and what it takes.
	HasHosts, SaysStatus, SaysExact bool
	// HasLines tells that it has lines that are no JSON.
	HasLines bool
	// HasSeveral tells that entries count each for itself that stand on one line.
	HasSeveral bool
	// IsOfNetlify tells that entries mean what lines of _redirects mean.
	IsOfNetlify bool
}

// Input is what is read.
type Input struct {
	io.Reader
	Source  string // the name of the file, for positions
	Reading rulefile.Reading
}

// Found is what the reading of a file tells beside its rules.
type Found struct {
	Warnings []resolver.Warning
	// Entries is how many entries the file has, where some make no rule; else it may be 0.
	Entries int
}

// LinesOf reads with a [Reader].
func LinesOf(read Reader) func(Input, func(resolver.Rule)) (Found, error) {
	return func(in Input, add func(resolver.Rule)) (Found, error) { return readTable(read, in, add) }
}
