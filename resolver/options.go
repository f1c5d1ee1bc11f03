package resolver

import "fmt"

// MaxRedirects is how many internal redirects pass: the 256th is an error (R9).
const MaxRedirects = 255

// DefaultStatus is the status of rules when neither they nor the options name one.
const DefaultStatus = 302

// Options say how a ruleset is checked and how it answers. The zero value is
// the draft's behaviour.
type Options struct {
	// Status is the status of rules that name none: 301, 302, 303, 307 or 308.
	// 0 stands for 302.
	Status int
	// Query says how the queries of destination, embedded redirect and request
	// become one.
	Query QueryMode
	// Protect names query parameters which, where the destination or an embedded
	// query has them, the request's are dropped for (4.6); "*" stands for all
	// that they have.
	Protect []string
	// FoldCase makes keys match without regard to the case of ASCII letters.
	FoldCase bool
	// MaxRedirects lowers the number of internal redirects that pass; nil
	// stands for 255, which cannot be raised (R9).
	MaxRedirects *int
	// AllowHosts, when not empty, are the only hosts that absolute destinations
	// may name: each a host name or an IP address, or a pattern like *.example.com, in
	// which each "*" stands for exactly one label.
	AllowHosts []string
	// Origin is the scheme and host of internal destinations, such as
	// "https://go.example"; empty for the request's own.
	Origin string
}

// QueryMode says how query parameters of several sources are combined.
type QueryMode uint8

const (
	// QueryMerge is 3.4.2: URLSearchParams, set and toString (R13).
	QueryMerge QueryMode = iota
	// QueryPreserve keeps every piece as it is written, in the order destination,
	// embedded, request; a piece goes when a source of higher precedence has
	// one of the same decoded name.
	QueryPreserve
	// QueryIgnore is QueryMerge with an empty request query.
	QueryIgnore
)

var queryModeNames = [...]string{QueryMerge: "merge", QueryPreserve: "preserve", QueryIgnore: "ignore"}

// String returns the name that configuration uses: merge, preserve or ignore.
func (m QueryMode) String() string { return queryModeNames[m] }

// ParseQueryMode returns the mode that name stands for: merge (also when name is
// empty), preserve or ignore.
func ParseQueryMode(name string) (QueryMode, error) {
	if name == "" {
		return QueryMerge, nil
	}
	for m, n := range queryModeNames {
		if n == name {
			return QueryMode(m), nil
		}
	}
	return QueryMerge, fmt.Errorf("query takes merge, preserve or ignore, not %q", name)
}

// ValidStatus reports whether a rule may redirect with code.
func ValidStatus(code int) bool {
	switch code {
	case 301, 302, 303, 307, 308:
		return true
	}
	return false
}
