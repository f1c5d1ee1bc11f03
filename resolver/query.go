package resolver

import (
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// appendConstantQuery appends what destination and embedded query combine to in a mode, which no
// request changes; neither begins with "?".
func (m QueryMode) appendConstantQuery(
	dst []byte, merger *weburl.Merger, destination, embedded string,
) []byte {
	switch {
	case m == queryOwn && destination != "":
		return append(dst, destination...)
	case m == queryOwn:
		return weburl.AppendEncoded(dst, embedded, weburl.QuerySet)
	case m == QueryPreserve:
		encoded := weburl.AppendEncoded(nil, embedded, weburl.QuerySet)
		return merger.AppendPreserving(dst, destination, string(encoded), nil)
	}
	return merger.AppendSet(dst, destination, embedded, nil)
}

// appendQuery appends the query of a destination. It takes the mode that its rule says, what is
// constant, and the request's, which begins with "?" unless it is empty. It begins with "?" unless
// it is empty, too (3.4.2).
func (o *options) appendQuery(
	dst []byte, m *weburl.Merger, own QueryMode, constant, request string,
) []byte {
	if len(request) == 0 && len(constant) == 0 {
		return dst
	}
	request = strings.TrimPrefix(request, "?")
	start := len(dst)
	dst = append(dst, '?')
	switch mode := o.queryOf(own); {
	case mode >= QueryIgnore || request == "":
		dst = append(dst, constant...)
	case mode == QueryPreserve:
		dst = m.AppendPreserving(dst, constant, request, o.protected)
	default:
		dst = m.AppendSet(dst, constant, request, o.protected)
	}
	if len(dst) == start+1 {
		return dst[:start]
	}
	return dst
}
