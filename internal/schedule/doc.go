// Package schedule knows rules that are there for a time only: the windows of a key, which of them
// is active at an instant, and at which edges keys change. A rule as it is written has all windows
// of its key ([resolver.Rule.Windows]); what is compiled is the active one, without them. So
// at any instant the resolver sees a ruleset without windows.
//
// It knows neither Caddy nor files, and has no clock: callers say what time it is.
package schedule
