// Package show presents results, as JSON for programs and as text for people: the [Outcome] of a
// URL with its explanation, the [Leads] to one, and a [Change].
//
// The package imports resolver and what lies below that, and source for the origin of the site. The
// admin endpoint, the commands and the page import it.
package show
