// Package place finds where rules stand.
//
// What serves knows the sources of its rules, not their lines. The [Places] of some rules are
// looked up in sources that can say them, as long as these still hold the version that was read.
// The package imports source, resolver and resolver/lint; internal/live and internal/report ask it.
package place
