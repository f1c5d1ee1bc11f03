package coverage

// Class says how a URL is answered.
type Class uint8

const (
	// Redirect: a rule redirects it or, according to the log, something else does.
	Redirect Class = iota
	// Gone: a rule says so, or the log has 410.
	Gone
	// Page: there is a file, or the log has 2xx or 304. A page that asks visitors to sign in, to
	// come later or for another method exists as well: 401, 403, 405, 407 and 429.
	Page
	// Error: the rules answer with an error, or the log has 5xx.
	Error
	// Missing: none of these. The log has another 4xx, or nothing is known.
	Missing
	// Probe: the same, for a path that scanners request from every site.
	Probe

	// Classes is the number of classes.
	Classes = iota
)

// String returns redirect, gone, page, error, missing or probe.
func (c Class) String() string {
	return [...]string{"redirect", "gone", "page", "error", "missing", "probe"}[c]
}

// isTelling reports whether a status says anything about a URL. It does not if there was no
// response, or the client did not wait for it.
func isTelling(status int) bool {
	const requestTimeout, clientClosedRequest = 408, 499
	return status >= 200 && status != requestTimeout && status != clientClosedRequest
}

// classOfStatus returns the class of a URL that no rule answers, by its status in the log.
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
