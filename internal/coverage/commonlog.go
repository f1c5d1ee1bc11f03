package coverage

import (
	"bytes"
	"errors"
	"net/netip"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// commonLog reads a log in the common or combined format of Apache and nginx. A line may begin with
// a host:
//
//	[host[:port]] address identity user [time] "GET /path HTTP/1.1" status size ...
type commonLog struct {
	counts  *Counts
	scratch []byte
}

// commonLine is a line of the log.
type commonLine struct {
	host, request []byte
	status        int
	time          uint32
}

// read counts the request of a line.
func (c *commonLog) read(line []byte) error {
	l, ok := parseCommon(line)
	if !ok {
		return errors.New("not a line of a log in the common or combined format: " +
			excerpt(line))
	}
	method, target, _ := bytes.Cut(l.request, []byte(" "))
	if !isCounted(method) {
		c.counts.LeftOut.Methods++
		return nil
	}
	if i := bytes.LastIndex(target, []byte(" HTTP/")); i >= 0 {
		target = target[:i]
	}
	if bytes.IndexByte(target, '\\') >= 0 {
		c.scratch = appendUnescaped(c.scratch[:0], target)
		target = c.scratch
	}
	return c.counts.countURL(
		request{target: target, host: l.host, status: l.status, time: l.time, n: 1})
}

// isCounted reports whether requests with a method count.
func isCounted(method []byte) bool { return string(method) == "GET" || string(method) == "HEAD" }

// parseCommon parses a line.
func parseCommon(line []byte) (l commonLine, ok bool) {
	end := bytes.Index(line, []byte(`] "`))
	if end < 0 {
		return l, false
	}
	start := bytes.LastIndexByte(line[:end], '[')
	if start < 0 || !isTime(line[start+1:end]) || bytes.Count(line[:start], []byte(" ")) < 3 {
		return l, false
	}
	l.host, l.time = hostInFront(line[:start]), parseTime(line[start+1:end])
	rest := line[end+len(`] "`):]
	closing := 0
	for ; closing < len(rest) && rest[closing] != '"'; closing++ {
		if rest[closing] == '\\' {
			closing++
		}
	}
	if len(rest) < closing+len(`" 200`) || rest[closing+1] != ' ' {
		return l, false
	}
	l.request = rest[:closing]
	for _, digit := range rest[closing+2 : closing+5] {
		if digit < '0' || digit > '9' {
			return l, false
		}
		l.status = 10*l.status + int(digit-'0')
	}
	return l, true
}

// isTime reports whether a text has the form of 22/Nov/2026:16:31:45 +0000.
func isTime(text []byte) bool {
	return len(text) >= 20 && text[2] == '/' && text[6] == '/' && text[11] == ':' && text[14] == ':'
}

// hostInFront returns the host in front of an address, without its port, if there is one.
func hostInFront(words []byte) []byte {
	first, rest, _ := bytes.Cut(words, []byte(" "))
	second, _, _ := bytes.Cut(rest, []byte(" "))
	if len(second) < 2 { // it is the identity, always "-"
		return nil
	}
	if _, err := netip.ParseAddr(string(second)); err != nil {
		return nil
	}
	return first
}

// appendUnescaped appends a text of a log without its escapes: \" and \\, and octets such as \x1b.
func appendUnescaped(dst, text []byte) []byte {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			dst = append(dst, text[i])
			continue
		}
		i++
		octet := text[i]
		if octet == 'x' && i+2 < len(text) {
			high, isHigh := weburl.HexDigit(text[i+1])
			low, isLow := weburl.HexDigit(text[i+2])
			if isHigh && isLow {
				octet, i = high<<4|low, i+2
			}
		}
		dst = append(dst, octet)
	}
	return dst
}
