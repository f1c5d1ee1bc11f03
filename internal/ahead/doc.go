// Package ahead finds out beforehand what fails when windows begin and end.
//
// A [Look] goes through the edges to come, and says which expectations fail then, and which keys
// are answered with an error. [HasHeld] looks back. [Findings] also tell which rules are over or
// have not begun. The package imports internal/schedule and resolver/lint; internal/live follows
// the clock with it.
package ahead
