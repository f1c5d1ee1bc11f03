package weburl

import (
	"fmt"
	"strings"
)

// URL is a parsed http or https URL, each part spelled as the standard serialises it.
type URL struct {
	Scheme   string // "http" or "https"
	Username string // percent-encoded
	Password string // percent-encoded
	Host     string // a domain in ASCII, an IPv4 address, or an IPv6 address in brackets
	Port     string // "" when it is the scheme's own
	Path     string // percent-encoded, without dot segments; begins with "/"
	Query    string // percent-encoded, without the "?"
	Fragment string // percent-encoded, without the "#"

	// A URL may end in a bare "?" or "#". These distinguish an empty part from a missing one.
	HasQuery, HasFragment bool
}

// ParseError is the error of an input that is not an http or https URL, or not a host.
type ParseError struct {
	Input  string
	Reason string // a clause such as "the port is above 65535"
}

// Error returns the input, quoted, and the reason.
func (e *ParseError) Error() string { return fmt.Sprintf("%q: %s", e.Input, e.Reason) }

// reason is the reason of a ParseError. Only exported functions know the input.
type reason string

func (r reason) Error() string { return string(r) }

const (
	notHTTP       = reason("it does not begin with http:// or https://")
	notPath       = reason("it does not begin with /")
	hostMissing   = reason("the host is missing")
	portNotNumber = reason("the port is not a number")
	portTooLarge  = reason("the port is above 65535")
)

// Parse parses an absolute http or https URL, as new URL(s) does. Any other scheme, a relative
// reference, and what the standard refuses give a [*ParseError].
func Parse(s string) (URL, error) {
	u, err := parseAbsolute(clean(s))
	if err != nil {
		return URL{}, &ParseError{Input: s, Reason: err.Error()}
	}
	return u, nil
}

// Resolve resolves a reference that begins with "/" or "\" on u, as new URL(ref, u) does. A
// reference with a second "/" or "\", perhaps after a TAB or a line end, has a host of its own. The
// error is a [*ParseError].
func (u URL) Resolve(ref string) (URL, error) {
	resolved, err := u.resolve(clean(ref))
	if err != nil {
		return URL{}, &ParseError{Input: ref, Reason: err.Error()}
	}
	return resolved, nil
}

// parseAbsolute runs the standard's scheme states.
func parseAbsolute(s string) (URL, error) {
	scheme, rest, found := strings.Cut(s, ":")
	scheme = lower(scheme)
	if !found || scheme != "http" && scheme != "https" {
		return URL{}, notHTTP
	}
	return parseAuthority(scheme, rest)
}

// resolve runs the standard's relative and relative slash states.
func (u URL) resolve(s string) (URL, error) {
	if s == "" || !isSlash(s[0]) {
		return URL{}, notPath
	}
	if len(s) > 1 && isSlash(s[1]) {
		return parseAuthority(u.Scheme, s)
	}
	return u.withTail(s), nil
}

// parseAuthority parses the text after the scheme: any number of slashes or none, the authority,
// and the rest.
func parseAuthority(scheme, s string) (URL, error) {
	s = strings.TrimLeft(s, `/\`)
	end := strings.IndexAny(s, `/\?#`)
	if end < 0 {
		end = len(s)
	}
	u := URL{Scheme: scheme}
	hostport := s[:end]
	if at := strings.LastIndexByte(hostport, '@'); at >= 0 {
		u.Username, u.Password = parseUserinfo(hostport[:at])
		hostport = hostport[at+1:]
	}
	host, port := cutPort(hostport)
	var err error
	if u.Host, err = parseHost(host); err != nil {
		return URL{}, err
	}
	if u.Port, err = parsePort(port, scheme); err != nil {
		return URL{}, err
	}
	return u.withTail(s[end:]), nil
}

// parseUserinfo splits at the first ":" and encodes both halves.
func parseUserinfo(s string) (username, password string) {
	username, password, _ = strings.Cut(s, ":")
	return encoded(username, UserinfoSet), encoded(password, UserinfoSet)
}

// withTail returns u with path, query and fragment parsed from the text after the authority.
func (u URL) withTail(s string) URL {
	s, fragment, hasFragment := strings.Cut(s, "#")
	path, query, hasQuery := strings.Cut(s, "?")
	u.Path = string(appendPath(make([]byte, 0, len(path)+1), path))
	u.Query, u.HasQuery = encoded(query, QuerySet), hasQuery
	u.Fragment, u.HasFragment = encoded(fragment, FragmentSet), hasFragment
	return u
}

func encoded(s string, set EncodeSet) string {
	for i := range len(s) {
		if set.has(s[i]) {
			return string(AppendEncoded(make([]byte, 0, len(s)+16), s, set))
		}
	}
	return s
}

// clean prepares a URL as the standard does before parsing. It reads the input as scalar values,
// strips control characters and spaces from both ends, and deletes TAB, LF and CR everywhere. The
// order matters: bytes on both sides of a TAB never form a character together.
func clean(s string) string {
	s = strings.TrimFunc(wellFormed(s), func(r rune) bool { return r <= ' ' })
	if !strings.ContainsAny(s, "\t\n\r") {
		return s
	}
	return strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(s)
}

func isSlash(b byte) bool { return b == '/' || b == '\\' }

// Origin returns scheme, host and port: "https://example.org:8443". User name and password are not
// included.
func (u URL) Origin() string {
	if u.Port == "" {
		return u.Scheme + "://" + u.Host
	}
	return u.Scheme + "://" + u.Host + ":" + u.Port
}

// Search returns the query with its "?", or "" if it is missing or empty.
func (u URL) Search() string { return prefixed("?", u.Query) }

// Hash returns the fragment with its "#", or "" if it is missing or empty.
func (u URL) Hash() string { return prefixed("#", u.Fragment) }

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// Href returns the whole URL. [Parse] reads it back as the same URL.
func (u URL) Href() string {
	var b strings.Builder
	b.Grow(len("https://:@:65535?#") + len(u.Username) + len(u.Password) + len(u.Host) +
		len(u.Path) + len(u.Query) + len(u.Fragment))
	b.WriteString(u.Scheme + "://")
	u.writeUserinfo(&b)
	b.WriteString(u.Host)
	if u.Port != "" {
		b.WriteString(":" + u.Port)
	}
	b.WriteString(u.Path)
	if u.HasQuery {
		b.WriteString("?" + u.Query)
	}
	if u.HasFragment {
		b.WriteString("#" + u.Fragment)
	}
	return b.String()
}

func (u URL) writeUserinfo(b *strings.Builder) {
	if u.Username == "" && u.Password == "" {
		return
	}
	b.WriteString(u.Username)
	if u.Password != "" {
		b.WriteString(":" + u.Password)
	}
	b.WriteByte('@')
}
