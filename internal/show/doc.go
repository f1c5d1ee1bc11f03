// Package show is what results look like, as JSON for programs and as text for people: an [Outcome]
// of a URL with its explanation, the [Leads] to one, and a [Change].
//
// The package imports resolver and what lies below that, and source for the origin of the site. The
// admin endpoint, the commands and the page import it.
package show
