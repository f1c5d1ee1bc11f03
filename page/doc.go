// Package page is the links page: find, understand, make and mend links in a browser.
//
// A [Page] is a Caddy handler of its own, over the ruleset of a shortlink handler that runs beside
// it. A request for the page is located, its user is looked up, and a view is made of what the
// ruleset knows; a view is written as HTML, JSON or plain text, as the client asks. Edits go the
// way of the admin endpoint, through internal/live.
//
// Only builds that import this package have the page; nothing else of this module imports it.
package page
