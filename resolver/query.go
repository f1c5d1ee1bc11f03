package resolver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// QueryMode says how query parameters of several sources are combined. A new mode needs a name in
// queryModeNames, and a place in the messages that list all modes. It also needs room in the header
// of a record and in the versions of package redis, which have two bits for it.
type QueryMode uint8

const (
	// QueryDefault is the options' mode for a rule, and QueryMerge for options.
	QueryDefault QueryMode = iota
	// QueryMerge is 3.4.2: URLSearchParams, set and toString (R13).
	QueryMerge
	// QueryPreserve keeps every piece as it is written, in the order destination, embedded,
	// request. A piece goes when a source of higher precedence has one of the same decoded name.
	QueryPreserve
	// QueryIgnore drops the request's query. In options, the chain's own queries are combined as by
	// QueryMerge. In a rule, only the last of them counts, and is left as it is written.
	QueryIgnore
	// queryOwn is QueryIgnore of a rule.
	queryOwn
)

var queryModeNames = [...]string{
	QueryMerge:    "merge",
	QueryPreserve: "preserve",
	QueryIgnore:   "ignore",
}

// QueryModeNames returns the names of the modes that a rule may say.
func QueryModeNames() []string { return slices.Clone(queryModeNames[QueryMerge:]) }

// String returns the name that configuration uses: merge, preserve or ignore, "" for QueryDefault.
func (m QueryMode) String() string {
	if int(m) >= len(queryModeNames) {
		return fmt.Sprintf("QueryMode(%d)", uint8(m))
	}
	return queryModeNames[m]
}

// MarshalText returns that name.
func (m QueryMode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// ParseQueryMode returns the mode that name stands for: merge (also when name is empty), preserve
// or ignore.
func ParseQueryMode(name string) (QueryMode, error) {
	if name == "" {
		return QueryMerge, nil
	}
	if m := slices.Index(queryModeNames[:], name); m > 0 {
		return QueryMode(m), nil
	}
	return QueryMerge, fmt.Errorf("query takes merge, preserve or ignore, not %q", name)
}

func (m QueryMode) isValid() bool { return int(m) < len(queryModeNames) }

const queryMessage = "it is merge, preserve or ignore"

// appendConstantQuery appends the destination's query and the embedded one, combined in a mode.
// Requests do not change the result. No query here begins with "?".
func (m QueryMode) appendConstantQuery(
	dst []byte, merger *weburl.Merger, destination, embedded string,
) []byte {
	switch {
	case m == queryOwn && destination != "":
		return append(dst, destination...)
	case m == queryOwn:
		return weburl.AppendEncoded(dst, embedded, weburl.QuerySet)
	case m == QueryPreserve:
		encoded := weburl.AppendEncoded(nil, embedded, weburl.QuerySet)
		return merger.AppendPreserving(dst, destination, string(encoded), nil)
	}
	return merger.AppendSet(dst, destination, embedded, nil)
}

// appendQuery appends the query of a destination (3.4.2), made of the constant query of the chain
// and the request's, in the mode of the rule. The request's query and the result begin with "?"
// unless they are empty.
func (o *options) appendQuery(
	dst []byte, m *weburl.Merger, own QueryMode, constant, request string,
) []byte {
	if len(request) == 0 && len(constant) == 0 {
		return dst
	}
	request = strings.TrimPrefix(request, "?")
	start := len(dst)
	dst = append(dst, '?')
	switch mode := o.queryOf(own); {
	case mode >= QueryIgnore || request == "":
		dst = append(dst, constant...)
	case mode == QueryPreserve:
		dst = m.AppendPreserving(dst, constant, request, o.protected)
	default:
		dst = m.AppendSet(dst, constant, request, o.protected)
	}
	if len(dst) == start+1 {
		return dst[:start]
	}
	return dst
}
