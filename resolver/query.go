package resolver

import (
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// appendConstantQuery appends what destination and embedded query combine to, which no request
// changes; neither begins with "?".
func (o *options) appendConstantQuery(
	dst []byte, m *weburl.Merger, destination, embedded string,
) []byte {
	if o.query == QueryPreserve {
		encoded := weburl.AppendEncoded(nil, embedded, weburl.QuerySet)
		return m.AppendPreserving(dst, destination, string(encoded), nil)
	}
	return m.AppendSet(dst, destination, embedded, nil)
}

// appendQuery appends the query of a destination. It takes what is constant, and the request's,
// which begins with "?" unless it is empty. It begins with "?" unless it is empty, too (3.4.2).
func (o *options) appendQuery(dst []byte, m *weburl.Merger, constant, request string) []byte {
	if len(request) == 0 && len(constant) == 0 {
		return dst
	}
	request = strings.TrimPrefix(request, "?")
	start := len(dst)
	dst = append(dst, '?')
	switch {
	case o.query == QueryIgnore || request == "":
		dst = append(dst, constant...)
	case o.query == QueryPreserve:
		dst = m.AppendPreserving(dst, constant, request, o.protected)
	default:
		dst = m.AppendSet(dst, constant, request, o.protected)
	}
	if len(dst) == start+1 {
		return dst[:start]
	}
	return dst
}
