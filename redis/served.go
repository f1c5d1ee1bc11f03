package redis

import "sync"

// served is what the handler has been given, for Watch to compare with.
type served struct {
	mu          sync.Mutex
	fingerprint string
	known       bool // whether there is a fingerprint
	current     bool // whether it is of the hash as it was at the last Read
}

// fingerprint is equal for equal outcomes of reading the hash: the rules' version, or why they are
// rejected.
func fingerprint(version string, err error) string {
	if err != nil {
		return "rejected: " + err.Error()
	}
	return version
}

// set takes down what a Read returned, and whether it came from the server.
func (s *served) set(fingerprint string, current bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fingerprint, s.known, s.current = fingerprint, true, current
}

// begin takes down what an earlier Read, perhaps of another Source, returned.
func (s *served) begin(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.known {
		s.fingerprint, s.known, s.current = version, true, true
	}
}

// fail takes down that a Read found no server. Nothing agrees with that, so that the handler is
// told when the server is back, also where it holds what it held before.
func (s *served) fail() {
	s.set("unreachable", false)
}

// nothing reports whether there is nothing yet.
func (s *served) nothing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.known
}

// isCurrent reports whether the last Read, if any, found the server.
func (s *served) isCurrent() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// agrees reports whether what is served is what the hash holds now, and if so, takes down that it
// is.
func (s *served) agrees(fingerprint string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.known || s.fingerprint != fingerprint {
		return false
	}
	s.current = true
	return true
}
