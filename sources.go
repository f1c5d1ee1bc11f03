package shortlink

import (
	"time"

	"github.com/caddy-shortlink/shortlink/source"
)

// Aliases of package source, for sources outside of this project that use these names. See there
// for what they mean.
type (
	// Source is [source.Source].
	Source = source.Source
	// Writable is [source.Writable].
	Writable = source.Writable
	// Observed is [source.Observed].
	Observed = source.Observed
	// Outage is [source.Outage].
	Outage = source.Outage
	// Reachability is [source.Reachability].
	Reachability = source.Reachability
	// Expectations are [source.Expectations].
	Expectations = source.Expectations
	// FileSource is [source.File].
	FileSource = source.File
	// StorageSource is [source.Storage].
	StorageSource = source.Storage
)

// Errors of sources; see package source.
var (
	ErrChanged     = source.ErrChanged
	ErrNotWritable = source.ErrNotWritable
	ErrUnavailable = source.ErrUnavailable
)

// ParsePoll is [source.ParsePoll].
func ParsePoll(written string, byDefault time.Duration) (time.Duration, error) {
	return source.ParsePoll(written, byDefault)
}
