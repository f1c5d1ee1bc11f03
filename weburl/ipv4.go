package weburl

import (
	"net/netip"
	"strings"
)

const ipv4Invalid = reason("the host ends in a number and is not a valid IPv4 address")

// endsInNumber is the standard's "ends in a number" checker. Such a domain is an IPv4 address or
// invalid.
func endsInNumber(domain string) bool {
	domain = strings.TrimSuffix(domain, ".")
	last := domain[strings.LastIndexByte(domain, '.')+1:]
	if last == "" {
		return false
	}
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	_, ok := parseIPv4Number(last)
	return ok
}

// parseIPv4 is the standard's IPv4 parser. It reads one to four numbers; the last one fills all
// remaining bytes.
func parseIPv4(domain string) (string, error) {
	parts := strings.SplitN(strings.TrimSuffix(domain, "."), ".", 5)
	if len(parts) > 4 {
		return "", ipv4Invalid
	}
	var address uint64
	for i, part := range parts {
		limit, shift := uint64(1)<<8, 8*(3-i)
		if i == len(parts)-1 {
			limit, shift = 1<<(8*(4-i)), 0
		}
		number, ok := parseIPv4Number(part)
		if !ok || number >= limit {
			return "", ipv4Invalid
		}
		address |= number << shift
	}
	bytes := [4]byte{byte(address >> 24), byte(address >> 16), byte(address >> 8), byte(address)}
	return netip.AddrFrom4(bytes).String(), nil
}

// parseIPv4Number reads a number: decimal, octal after a "0" or hexadecimal after a "0x". Alone,
// "0x" is zero. A number of more than 32 bits stays at 1<<32.
func parseIPv4Number(s string) (number uint64, ok bool) {
	if s == "" {
		return 0, false
	}
	base := uint64(10)
	switch {
	case len(s) >= 2 && s[0] == '0' && s[1]|0x20 == 'x':
		s, base = s[2:], 16
	case len(s) >= 2 && s[0] == '0':
		s, base = s[1:], 8
	}
	for i := range len(s) {
		digit, ok := HexDigit(s[i])
		if !ok || uint64(digit) >= base {
			return 0, false
		}
		number = min(number*base+uint64(digit), 1<<32)
	}
	return number, true
}
