// Package reverse finds the keys that lead to a page.
//
// An [Index] is of the ruleset that serves, and follows it from one to the next. It has the one
// short URL of a page that is best to advertise. [LeadsTo] finds all ways to a URL, and needs no
// index. Both resolve what they have found: whatever they return leads to the page.
//
// The package imports resolver; internal/live has an Index, and internal/show tells of leads.
package reverse
