package weburl

import (
	"net/netip"
	"strconv"
	"strings"
)

const ipv6Invalid = reason("the host is not a valid IPv6 address in brackets")

// parseIPv6 parses an IPv6 address in brackets. The grammar of netip is the standard's, except for
// zones, which URLs do not have, and plain IPv4.
func parseIPv6(host string) (string, error) {
	inner, closed := strings.CutSuffix(host[1:], "]")
	address, err := netip.ParseAddr(inner)
	if !closed || err != nil || address.Is4() || address.Zone() != "" {
		return "", ipv6Invalid
	}
	return string(appendIPv6(nil, address.As16())), nil
}

// appendIPv6 is the standard's IPv6 serialiser. netip's own writes an IPv4-mapped address with
// dots, which the standard never does.
func appendIPv6(dst []byte, address [16]byte) []byte {
	var pieces [8]uint16
	for i := range pieces {
		pieces[i] = uint16(address[2*i])<<8 | uint16(address[2*i+1])
	}
	start, end := longestZeros(pieces)
	dst = append(dst, '[')
	for i := 0; i < len(pieces); i++ {
		if i == start {
			dst = append(dst, ':', ':')
			i = end - 1
			continue
		}
		if i > 0 && i != end {
			dst = append(dst, ':')
		}
		dst = strconv.AppendUint(dst, uint64(pieces[i]), 16)
	}
	return append(dst, ']')
}

// longestZeros returns the first longest run of at least two zero pieces, or -1 and -1.
func longestZeros(pieces [8]uint16) (start, end int) {
	start, end = -1, -1
	longest := 1
	for i := 0; i < len(pieces); i++ {
		first := i
		for i < len(pieces) && pieces[i] == 0 {
			i++
		}
		if i-first > longest {
			start, end, longest = first, i, i-first
		}
	}
	return start, end
}
