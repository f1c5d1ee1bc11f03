// Package reverse finds the keys that lead to a page.
//
// An [Index] belongs to the ruleset that serves, and follows it from one to the next. It finds the
// one short URL of a page that is best to advertise. [LeadsTo] finds all ways to a URL, and needs
// no index. Both resolve what they find, so all that they return leads to the page.
//
// The package imports resolver, resolver/pattern and weburl. internal/live has an Index, and
// internal/show prints what LeadsTo finds.
package reverse
