// Package lint finds what is valid in rules and probably not meant.
//
// A [List] has the warnings of a ruleset. It examines each rule when it is compiled, and then the
// finished ruleset. When a ruleset is derived from another one, its list is derived, too. [Check]
// finds what takes longer to find, and is not worth a warning at each start.
//
// The package imports resolver, resolver/pattern, uritemplate, weburl, internal/near and
// internal/printable. It knows neither Caddy nor files.
package lint
