package weburl

import "net/netip"

// AppendOrigin appends the origin of a request to dst, made of scheme and the value of a Host
// header. The scheme is "http" or "https"; its default port is omitted. ok is false, and dst
// unchanged, if the host is missing or the standard refuses it. The same holds if hostport contains
// userinfo, a path, white space or a control character (reading R2). An ordinary host allocates
// nothing. Any other host longer than 1 KiB is refused, too. No DNS resolver knows it, and clients
// must not decide how long the conversion to Punycode lasts.
func AppendOrigin(dst []byte, scheme, hostport string) (origin []byte, ok bool) {
	if scheme != "http" && scheme != "https" {
		return dst, false
	}
	host, port := cutPort(hostport)
	port, err := parsePort(port, scheme)
	if err != nil {
		return dst, false
	}
	origin = append(append(dst, scheme...), "://"...)
	if origin, ok = appendHost(origin, host); !ok {
		return dst, false
	}
	if port != "" {
		origin = append(append(origin, ':'), port...)
	}
	return origin, true
}

const maxParsedHost = 1 << 10

// appendHost appends the serialised host of a request.
func appendHost(dst []byte, host string) ([]byte, bool) {
	if isOrdinaryHost(host) {
		return appendLower(dst, host), true
	}
	if isPlainIPv4(host) {
		return append(dst, host...), true
	}
	if len(host) > maxParsedHost {
		return dst, false
	}
	parsed, err := parseHost(wellFormed(host))
	if err != nil {
		return dst, false
	}
	return append(dst, parsed...), true
}

// isOrdinaryHost reports whether host is a domain that only has to be lower-cased. Its last label
// does not begin with a digit, so it is not an IPv4 address.
func isOrdinaryHost(host string) bool {
	labelStart := true
	startsWithDigit := false
	for i := range len(host) {
		b := host[i]
		if !classes[b].has(ordinaryInHost) {
			return false
		}
		if b == '.' {
			labelStart = true
			continue
		}
		if labelStart {
			startsWithDigit = isDigit(b)
			labelStart = false
		}
	}
	return host != "" && !startsWithDigit
}

// isPlainIPv4 reports whether host is an IPv4 address as the standard serialises it.
func isPlainIPv4(host string) bool {
	if host == "" || !isDigit(host[0]) {
		return false
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Is4()
}
