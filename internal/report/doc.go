// Package report tells of loads of rules, in the log and by Caddy's events.
//
// A [Notice] is what there is to tell: warnings, an entry of the log, and an event with the same
// record. The [Reporter] of a handler tells it, with the places of rules. The package imports
// source, internal/place and resolver/lint; internal/live reports with it.
package report
