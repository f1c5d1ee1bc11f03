package weburl

import "strings"

// cutPort cuts an authority without userinfo at the ":" before the port. The colons of an IPv6
// address, inside brackets, are not that one.
func cutPort(hostport string) (host, port string) {
	bracketed := false
	for i := range len(hostport) {
		switch hostport[i] {
		case '[':
			bracketed = true
		case ']':
			bracketed = false
		case ':':
			if !bracketed {
				return hostport[:i], hostport[i+1:]
			}
		}
	}
	return hostport, ""
}

// parsePort returns the port without leading zeros; "" if it is empty or the scheme's own. The
// result aliases port.
func parsePort(port, scheme string) (string, error) {
	number := 0
	for i := range len(port) {
		if !isDigit(port[i]) {
			return "", portNotNumber
		}
		number = min(number*10+int(port[i]-'0'), 1<<16) // enough to know that it is too large
	}
	switch {
	case number > 65535:
		return "", portTooLarge
	case port == "", scheme == "http" && number == 80, scheme == "https" && number == 443:
		return "", nil
	case number == 0:
		return "0", nil
	}
	return strings.TrimLeft(port, "0"), nil
}
