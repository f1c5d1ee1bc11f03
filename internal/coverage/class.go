package coverage

// Class is what becomes of a URL.
type Class uint8

const (
	// Redirect: a rule redirects it or, as the log says, something else does.
	Redirect Class = iota
	// Gone: a rule says so, or the log does, with 410.
	Gone
	// Page: there is a file, or the log has 2xx or 304. What asks visitors to sign in, to come later
	// or for another method is there as well: 401, 403, 405, 407 and 429.
	Page
	// Error: the rules answer with one, or the log has 5xx.
	Error
	// Missing: none of these. The log has another 4xx, or nothing is known.
	Missing
	// Probe: the same, for a path that scanners ask any site for.
	Probe

	// Classes is how many classes there are.
	Classes = iota
)

// String returns redirect, gone, page, error, missing or probe.
func (c Class) String() string {
	return [...]string{"redirect", "gone", "page", "error", "missing", "probe"}[c]
}

// isTelling reports whether a status says something about a URL: not if there was no response, or
// the client did not wait for it.
func isTelling(status int) bool {
	const requestTimeout, clientClosedRequest = 408, 499
	return status >= 200 && status != requestTimeout && status != clientClosedRequest
}

// classOfStatus returns what a status in the log says about a URL that no rule answers.
func classOfStatus(status uint16) Class {
	switch {
	case status == 304:
		return Page
	case status >= 500:
		return Error
	case status == 410:
		return Gone
	case status == 401, status == 403, status == 405, status == 407, status == 429:
		return Page
	case status >= 400 || status < 200:
		return Missing
	case status >= 300:
		return Redirect
	}
	return Page
}
