package report

import (
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
)

// The events that the handler emits, for Caddy's events app.
const (
	eventLoaded   = "shortlink_loaded"
	eventRejected = "shortlink_rejected"
)

// Notice is a report of a load: warnings, a log entry, and an event with the same record.
type Notice struct {
	Warnings []lint.Warning
	level    zapcore.Level
	message  string // of the log entry; empty for none
	record   record
	event    string // its name; empty for none
}

// Loaded returns the notice of the first rules of a handler, and that of its event, which is to be
// told once Caddy has started.
func Loaded(name, digest string, rules int, warnings []lint.Warning) (now, later Notice) {
	now = Notice{
		Warnings: warnings, level: zap.InfoLevel, message: "rules loaded",
		record: record{{"name", name}, {"digest", digest}, {"rules", rules}},
	}
	return now, Notice{record: now.record, event: eventLoaded}
}

// Swap is that other rules serve.
type Swap struct {
	Name, Before, Digest string
	Rules                int // how many serve now
	Difference           *resolver.Difference
	Warnings             []lint.Warning // that are new
}

// notice returns the audit record of a swap.
func (s *Swap) notice(message string) Notice {
	d := s.Difference
	return Notice{
		Warnings: s.Warnings, level: zap.InfoLevel, message: message,
		record: record{
			{"name", s.Name},
			{"old_digest", s.Before},
			{"digest", s.Digest},
			{"rules", s.Rules},
			{"added", d.Added}, {"first_added", d.FirstAdded},
			{"removed", d.Removed}, {"first_removed", d.FirstRemoved},
			{"changed", d.Changed}, {"first_changed", d.FirstChanged},
			{"new_warnings", len(s.Warnings)},
		},
		event: eventLoaded,
	}
}

// OfLoad returns the notice of a swap after a load. After a rejection it also says that the sources
// are good again if nothing has changed.
func (s *Swap) OfLoad() Notice {
	if s.Before == s.Digest {
		return s.notice("the sources of the rules are good again, and nothing has changed")
	}
	return s.notice("rules swapped")
}

// OfEdge returns the notice of a swap at an edge of windows.
func (s *Swap) OfEdge() Notice { return s.notice("rules swapped: a window begins or ends") }

// Unchanged returns the notice that sources were read and hold the same rules, perhaps on other
// lines.
func Unchanged(name string, warnings []lint.Warning) Notice {
	return Notice{
		Warnings: warnings,
		level:    zap.DebugLevel,
		message:  "the sources of the rules have been read, and nothing has changed",
		record:   record{{"name", name}},
	}
}

// Rejected returns the notice of rejected rules, which says that the old ones, of this digest,
// still serve.
func Rejected(name, digest string, failingSince time.Time, err error) Notice {
	return Notice{
		level:   zap.ErrorLevel,
		message: "rules rejected: those from before go on serving",
		record: record{
			{"name", name},
			{"digest", digest},
			{"failing_since", failingSince},
			{"error", err.Error()},
		},
		event: eventRejected,
	}
}

// Failing returns the notice that something fails with the rules of this digest.
func Failing(name, digest, message string, err error) Notice {
	return Notice{level: zap.ErrorLevel, message: message, record: record{
		{"name", name}, {"digest", digest}, {"error", err.Error()},
	}}
}

// NamedKeys is how many keys of each kind the record of a swap names.
const NamedKeys = 10

// record has the fields that the log and an event share.
type record []struct {
	name  string
	value any
}

// fields returns the record as log fields, followed by more.
func (r record) fields(more ...zap.Field) []zap.Field {
	var fields []zap.Field
	for _, member := range r {
		fields = append(fields, zap.Any(member.name, member.value))
	}
	return append(fields, more...)
}

// data returns the record as the data of an event.
func (r record) data() map[string]any {
	data := map[string]any{}
	for _, member := range r {
		data[member.name] = member.value
	}
	return data
}
