// Package page is the links page: find, understand, make and mend links in a browser.
//
// A [Page] is a separate Caddy handler for the ruleset of a shortlink handler. It locates a request
// below its path, looks up the user, and makes a view from the ruleset. A view is written as HTML,
// JSON or plain text, as the client asks. Like the admin endpoint, it makes edits through
// internal/live.
//
// Only builds that import this package have the page; nothing else of this module imports it.
package page
