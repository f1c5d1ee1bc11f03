package coverage

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// Limits of memory.
const (
	// MostURLs is how many different URLs are counted. Requests for others are counted together.
	MostURLs = 1_000_000
	// mostText is the largest length of all paths together.
	mostText = 256 << 20
	// longestURL is the largest length of a URL: no key is longer.
	longestURL = 1<<16 - 1
	// longestHost is the largest length of a host that is parsed: no real one is longer.
	longestHost = 1 << 10
	// mostHosts is how many different hosts are distinguished.
	mostHosts = 10_000
)

// Options say which requests are counted.
type Options struct {
	// IsOurs reports whether a host, as HostOf returns it, is one of the site; nil for any host.
	IsOurs func(host string) bool
	// Skip are prefixes of paths that are left out.
	Skip []string
	// Period is when requests count. A request without a date is outside every period.
	Period Period
	// Step, if not nil, is called often while files are read, with the number of lines so far.
	Step func(lines int)
}

// LeftOut are the numbers of requests that are not counted.
type LeftOut struct {
	Hosts    uint64 // for other hosts
	Methods  uint64 // other than GET and HEAD, or none
	Skipped  uint64 // by Options.Skip
	Times    uint64 // outside of Options.Period
	Undated  uint64 // without a date, if there is a period
	Entries  uint64 // log entries that are not about requests
	Overflow uint64 // for URLs beyond MostURLs
}

// Counts are requests by URL. A URL is its path in canonical form. The query does not count,
// because keys ignore it.
type Counts struct {
	Options
	LeftOut LeftOut
	Unread  Unread
	// Notes are about whole files.
	Notes []string

	urls     []*counted // in the order of their first requests
	byPath   map[string]*counted
	textSize int // of all paths
	byHost   map[string]host

	limits    limits
	lineCount int
	scratch   []byte
}

// counted is a URL and its requests.
type counted struct {
	path     string
	host     string // of the last request that was read
	requests uint64
	time     uint32 // of status; 0 if unknown
	status   uint16 // of the newest request that has one in a log; 0 if unknown
}

// host is a host of requests. Those beyond mostHosts have no name.
type host struct {
	name   string
	isOurs bool
}

// NewCounts returns empty counts.
func NewCounts(o Options) *Counts {
	return &Counts{Options: o, byPath: map[string]*counted{}, byHost: map[string]host{},
		limits: newLimits(o.Period)}
}

// Len returns the number of URLs.
func (c *Counts) Len() int { return len(c.urls) }

// request is the request in a line, or several. Its texts are valid until the next line is read.
type request struct {
	target []byte // a path or a URL, perhaps with a query
	host   []byte // empty if it is unknown, or in the target
	status int    // 0 if unknown
	time   uint32 // in seconds since 1970; 0 if unknown
	n      uint64
}

// countURL counts requests. The error says what is wrong with the target.
func (c *Counts) countURL(r request) error {
	if c.limits.isSet && !c.isInPeriod(&r) {
		return nil
	}
	path, name, ok := splitTarget(r.target)
	if !ok {
		return errors.New("neither a URL nor a path that begins with /: " + excerpt(r.target))
	}
	if len(path) > longestURL {
		return errLongPath
	}
	if name == nil {
		name = r.host
	} else if !c.isHost(name) {
		return errors.New("the host is not valid: " + excerpt(r.target))
	}
	host := c.hostOf(name)
	if !host.isOurs {
		c.LeftOut.Hosts += r.n
		return nil
	}
	if c.isSkipped(path) {
		c.LeftOut.Skipped += r.n
		return nil
	}
	u, err := c.find(path)
	if err == errNoRoom {
		c.LeftOut.Overflow += r.n
		return nil
	}
	if err != nil {
		return err
	}
	u.requests += r.n
	u.host = host.name
	if isTelling(r.status) && (r.time >= u.time || r.time == 0) {
		u.status, u.time = uint16(r.status), r.time
	}
	return nil
}

func (c *Counts) isSkipped(path []byte) bool {
	for _, prefix := range c.Skip {
		if len(path) >= len(prefix) && string(path[:len(prefix)]) == prefix {
			return true
		}
	}
	return false
}

// splitTarget cuts a target into host and path. The host is nil if there is none.
func splitTarget(target []byte) (path, host []byte, ok bool) {
	if len(target) > 0 && target[0] != '/' {
		rest, isURL := cutScheme(target)
		if !isURL {
			return nil, nil, false
		}
		end := bytes.IndexAny(rest, "/?#\\")
		if end < 0 {
			end = len(rest)
		}
		host, target = rest[:end], rest[end:]
		host = host[bytes.LastIndexByte(host, '@')+1:]
		if len(host) == 0 {
			return nil, nil, false
		}
		if len(target) == 0 || target[0] != '/' {
			return []byte("/"), host, true
		}
	}
	if i := bytes.IndexByte(target, '?'); i >= 0 {
		target = target[:i]
	}
	if i := bytes.IndexByte(target, '#'); i >= 0 {
		target = target[:i]
	}
	return target, host, len(target) > 0
}

// cutScheme returns the text after http:// or https://.
func cutScheme(url []byte) (rest []byte, ok bool) {
	for _, scheme := range []string{"https://", "http://"} {
		if len(url) >= len(scheme) && strings.EqualFold(string(url[:len(scheme)]), scheme) {
			return url[len(scheme):], true
		}
	}
	return nil, false
}

// isHost reports whether a URL can have a host, perhaps with a port.
func (c *Counts) isHost(host []byte) bool {
	if _, known := c.byHost[string(host)]; known {
		return true
	}
	_, err := weburl.Parse("https://" + string(host[:min(len(host), longestHost)]) + "/")
	return err == nil && len(host) <= longestHost
}

// hostOf returns the host of a request by its name, which may be empty.
func (c *Counts) hostOf(name []byte) host {
	if len(name) == 0 {
		return host{isOurs: true}
	}
	h, known := c.byHost[string(name)]
	if known {
		return h
	}
	h.isOurs = c.IsOurs == nil || c.IsOurs(HostOf(string(name)))
	if len(c.byHost) < mostHosts {
		h.name = string(name)
		c.byHost[h.name] = h
	}
	return h
}

// HostOf returns the host of an address as in URLs: in lower case and ASCII, without a port or a
// final dot.
func HostOf(address string) string {
	host := address
	if end := strings.LastIndexByte(host, ':'); end >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:end]
	}
	if len(host) <= longestHost {
		if parsed, err := weburl.ParseHost(host); err == nil {
			host = parsed
		}
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

var (
	errLongPath = fmt.Errorf("a path of more than %d bytes", longestURL)
	errNoRoom   = errors.New("there is no room for another URL")
)

// find returns the URL of a path. The error is errNoRoom if there are too many.
func (c *Counts) find(path []byte) (*counted, error) {
	if u := c.byPath[string(path)]; u != nil {
		return u, nil
	}
	target, ok := weburl.SplitTarget(escapeBytes(path))
	if !ok {
		return nil, errors.New("not the path of a URL: " + excerpt(path))
	}
	c.scratch = weburl.AppendCanonicalPath(c.scratch[:0], target.Pathname)
	if len(c.scratch) > longestURL {
		return nil, errLongPath
	}
	if u := c.byPath[string(c.scratch)]; u != nil {
		return u, nil
	}
	if len(c.urls) >= MostURLs || c.textSize+len(c.scratch) > mostText {
		return nil, errNoRoom
	}
	u := &counted{path: string(c.scratch)}
	c.urls, c.byPath[u.path] = append(c.urls, u), u
	c.textSize += len(u.path)
	return u, nil
}

// escapeBytes escapes the bytes that are not UTF-8, as clients do, because URLs have no such bytes.
func escapeBytes(path []byte) string {
	if utf8.Valid(path) {
		return string(path)
	}
	var escaped strings.Builder
	for len(path) > 0 {
		r, size := utf8.DecodeRune(path)
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&escaped, "%%%02X", path[0])
		} else {
			escaped.Write(path[:size])
		}
		path = path[size:]
	}
	return escaped.String()
}
