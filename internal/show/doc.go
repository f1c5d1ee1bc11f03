// Package show presents results, as JSON for programs and as text for people: the [Outcome] of a
// URL with its explanation, the [Leads] to one, a [Change], a [Finding], and the [Status] of a
// handler.
//
// The package imports internal/live for what serves, source for the origin of the site, and what
// lies below them. The admin endpoint, the commands and the page import it.
package show
