package weburl

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// ParseHost parses a host without a port, and returns it as the standard serialises it: a domain in
// ASCII, an IPv4 address, or an IPv6 address in brackets. The error is a [*ParseError].
func ParseHost(host string) (string, error) {
	parsed, err := parseHost(wellFormed(host))
	if err != nil {
		return "", &ParseError{Input: host, Reason: err.Error()}
	}
	return parsed, nil
}

// parseHost is the standard's host parser for special schemes.
func parseHost(host string) (string, error) {
	if host == "" {
		return "", hostMissing
	}
	if host[0] == '[' {
		return parseIPv6(host)
	}
	domain, err := domainToASCII(percentDecoded(host))
	if err != nil {
		return "", err
	}
	if endsInNumber(domain) {
		return parseIPv4(domain)
	}
	return domain, nil
}

// maxUnicodeDomain bounds the work on a domain beyond ASCII. The time to convert a label to
// Punycode grows with the square of its length.
const maxUnicodeDomain = 16 << 10

const (
	domainTooLong = reason("the host has characters beyond ASCII and is too long")
	domainInvalid = reason("the host is not a valid internationalised domain name")
)

// domains maps as the standard's "domain to ASCII" calls Unicode's ToASCII. A Profile is immutable.
var domains = idna.New(
	idna.MapForLookup(),
	idna.BidiRule(),
	idna.CheckJoiners(true),
	idna.CheckHyphens(false),
	idna.StrictDomainName(false),
	idna.Transitional(false),
	idna.VerifyDNSLength(false),
)

// domainToASCII is "domain to ASCII" with beStrict false. An ASCII domain is only lower-cased; its
// xn-- labels are not decoded.
func domainToASCII(domain string) (string, error) {
	domain, err := mapDomain(domain)
	if err != nil {
		return "", err
	}
	if domain == "" {
		return "", hostMissing
	}
	for i := range len(domain) {
		if classes[domain[i]].has(refusedInDomain) {
			return "", refusedInHost(domain[i])
		}
	}
	return domain, nil
}

// refusedInHost is the error of a host with a character that none may have.
func refusedInHost(c byte) error {
	if c == ' ' {
		return reason("the host contains a space")
	}
	return reason("the host contains " + strconv.Quote(string(rune(c))))
}

// mapDomain is Unicode's ToASCII, without its case for ASCII.
func mapDomain(domain string) (string, error) {
	if isASCII(domain) {
		return lower(domain), nil
	}
	if len(domain) > maxUnicodeDomain {
		return "", domainTooLong
	}
	// In unmapped text idna overlooks that a character maps to one written from right to left, and
	// that an xn-- label is not Punycode.
	domain = mapRunes(domain)
	if hasHollowPunycode(domain) {
		return "", domainInvalid
	}
	domain, err := domains.ToASCII(domain)
	if err != nil {
		return "", domainInvalid
	}
	return domain, nil
}

// mapRunes maps each character by itself. Characters that are not allowed, alone or at all, stay;
// ToASCII refuses them.
func mapRunes(domain string) string {
	var b strings.Builder
	for _, r := range domain {
		mapped, ok := remap(r)
		if !ok {
			mapped, _ = domains.ToUnicode(string(r))
		}
		b.WriteString(mapped)
	}
	return b.String()
}

// hasHollowPunycode reports whether an xn-- label of a mapped domain cannot be Punycode. Then it
// has nothing after its prefix, or a character beyond ASCII (UTS 46, processing step 4).
func hasHollowPunycode(domain string) bool {
	for label := range strings.SplitSeq(domain, ".") {
		punycode, found := strings.CutPrefix(label, "xn--")
		if found && (punycode == "" || !isASCII(punycode)) {
			return true
		}
	}
	return false
}

// percentDecoded decodes every %XX of s and returns well-formed UTF-8.
func percentDecoded(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	decoded := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if b, ok := Triplet(s, i); ok {
			decoded = append(decoded, b)
			i += 3
		} else {
			decoded = append(decoded, s[i])
			i++
		}
	}
	return wellFormed(string(decoded))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// lower lower-cases ASCII letters only: strings.ToLower would turn U+212A into a k.
func lower(s string) string {
	for i := range len(s) {
		if 'A' <= s[i] && s[i] <= 'Z' {
			return string(appendLower(make([]byte, 0, len(s)), s))
		}
	}
	return s
}

func appendLower(dst []byte, s string) []byte {
	for i := range len(s) {
		b := s[i]
		if 'A' <= b && b <= 'Z' {
			b |= 0x20
		}
		dst = append(dst, b)
	}
	return dst
}
