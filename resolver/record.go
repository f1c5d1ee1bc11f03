package resolver

import (
	"encoding/binary"
	"unsafe"
)

// record is a compiled rule as it lies in the arena: everything that an answer needs, and behind it
// what only explanations and listings read.
//
//	header                           8 bytes, little-endian: flags, hops, statuses and the
//	                                 lengths of key (8 bits), base (16), query and fragment (8)
//	[the four lengths]               uvarints, with longParts, where one is too large for the header
//	key, base, query, fragment       bytes
//	[spelling]                       length and bytes, with hasSpelling
//	[value]                          length and bytes, with hasValue
//	source, line, column             uvarints
type record struct {
	// base is what the destination begins with: origin and path, or the path alone where the origin
	// is the request's.
	key, base, query, fragment string
	// The written forms of key and value, where they are not the compiled ones.
	spelling, value string
	position        recordPosition
	flags           recordFlags
	hops            uint8
	// status is the redirect's along the chain, ownStatus the rule's, 0 for the default.
	status, ownStatus int
}

type recordPosition struct{ source, line, column int }

type recordFlags uint8

const (
	// requestOrigin: base lacks an origin.
	requestOrigin recordFlags = 1 << iota
	// joined: base ends in a path appended along the chain, so that the one seam of R6 has been
	// made.
	joined
	// failed: the chain does not end or is too long; base holds the number of a failure instead.
	failed
	hasSpelling
	hasValue
	exactKey
	unlisted
	longParts
)

func (f recordFlags) has(flag recordFlags) bool { return f&flag != 0 }

var statusCodes = [8]uint16{0, 301, 302, 303, 307, 308}

func statusIndex(code int) byte {
	for i, c := range statusCodes {
		if int(c) == code {
			return byte(i)
		}
	}
	return 0
}

// header is the first eight bytes of a record.
type header uint64

func (r *record) header() header {
	h := header(r.flags) | header(r.hops)<<8 | header(statusIndex(r.status)|statusIndex(r.ownStatus)<<4)<<16
	if r.flags.has(longParts) {
		return h
	}
	return h | header(len(r.key))<<24 | header(len(r.base))<<32 | header(len(r.query))<<48 | header(len(r.fragment))<<56
}

func (h header) flags() recordFlags { return recordFlags(h) }
func (h header) hops() uint8        { return uint8(h >> 8) }
func (h header) status() int        { return int(statusCodes[h>>16&7]) }
func (h header) ownStatus() int     { return int(statusCodes[h>>20&7]) }

// partLengths are the lengths of key, base, query and fragment.
type partLengths struct{ key, base, query, fragment int }

// lengths returns the lengths of the parts, and what follows them. b follows the header.
func (h header) lengths(b []byte) (partLengths, []byte) {
	if h.flags().has(longParts) {
		return longLengths(b)
	}
	return partLengths{int(h >> 24 & 0xFF), int(h >> 32 & 0xFFFF), int(h >> 48 & 0xFF), int(h >> 56)}, b
}

func longLengths(b []byte) (n partLengths, rest []byte) {
	n.key, b = uvarint(b)
	n.base, b = uvarint(b)
	n.query, b = uvarint(b)
	n.fragment, b = uvarint(b)
	return n, b
}

// appendRecord appends the encoded form of r.
func appendRecord(dst []byte, r *record) []byte {
	parts := [...]string{r.key, r.base, r.query, r.fragment}
	if len(r.key) > 0xFF || len(r.base) > 0xFFFF || len(r.query) > 0xFF || len(r.fragment) > 0xFF {
		r.flags |= longParts
	}
	dst = binary.LittleEndian.AppendUint64(dst, uint64(r.header()))
	if r.flags.has(longParts) {
		for _, part := range parts {
			dst = binary.AppendUvarint(dst, uint64(len(part)))
		}
	}
	for _, part := range parts {
		dst = append(dst, part...)
	}
	if r.flags.has(hasSpelling) {
		dst = appendCounted(dst, r.spelling)
	}
	if r.flags.has(hasValue) {
		dst = appendCounted(dst, r.value)
	}
	dst = binary.AppendUvarint(dst, uint64(r.position.source))
	dst = binary.AppendUvarint(dst, uint64(r.position.line))
	return binary.AppendUvarint(dst, uint64(r.position.column))
}

func appendCounted(dst []byte, part string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(part)))
	return append(dst, part...)
}

// decodeAnswer reads what an answer needs, and returns what follows it.
func (r *record) decodeAnswer(b []byte) []byte {
	h := header(binary.LittleEndian.Uint64(b))
	r.flags, r.hops, r.status = h.flags(), h.hops(), h.status()
	n, b := h.lengths(b[8:])
	r.key, b = cutText(b, n.key)
	r.base, b = cutText(b, n.base)
	r.query, b = cutText(b, n.query)
	r.fragment, b = cutText(b, n.fragment)
	if r.flags.has(hasSpelling) {
		r.spelling, b = counted(b)
	}
	return b
}

// decode reads the whole record.
func (r *record) decode(b []byte) {
	r.ownStatus = header(binary.LittleEndian.Uint64(b)).ownStatus()
	b = r.decodeAnswer(b)
	if r.flags.has(hasValue) {
		r.value, b = counted(b)
	}
	r.position.source, b = uvarint(b)
	r.position.line, b = uvarint(b)
	r.position.column, _ = uvarint(b)
}

// recordKey returns the key of the record that b begins with.
func recordKey(b []byte) string {
	h := header(binary.LittleEndian.Uint64(b))
	n, b := h.lengths(b[8:])
	return text(b[:n.key])
}

func counted(b []byte) (part string, rest []byte) {
	n, b := uvarint(b)
	return cutText(b, n)
}

// cutText cuts the first n bytes off b.
func cutText(b []byte, n int) (part string, rest []byte) {
	return text(b[:n]), b[n:]
}

// uvarint reads a length; nearly all of them take one byte.
func uvarint(b []byte) (int, []byte) {
	if b[0] < 0x80 {
		return int(b[0]), b[1:]
	}
	n, size := binary.Uvarint(b)
	return int(n), b[size:]
}

// setFailure makes r the record of a rule whose requests are answered with the error of that
// number.
func (r *record) setFailure(n int) {
	r.flags |= failed
	r.base = string(binary.AppendUvarint(nil, uint64(n)))
}

// failure returns the number of the error that requests are answered with.
func (r *record) failure() int {
	n, _ := uvarint([]byte(r.base))
	return n
}

// spelledKey returns the key as the rule has it.
func (r *record) spelledKey() string {
	if r.flags.has(hasSpelling) {
		return r.spelling
	}
	return r.key
}

// writtenValue returns the value as the rule has it.
func (r *record) writtenValue() string {
	if r.flags.has(hasValue) {
		return r.value
	}
	if r.query == "" {
		return r.base + r.fragment
	}
	return r.base + "?" + r.query + r.fragment
}

// describe fills in what a record says of its rule as it is written.
func (r *record) describe(rule Rule, source int) {
	if r.key != rule.Key {
		r.flags |= hasSpelling
		r.spelling = rule.Key
	}
	if isInternal(rule.Value) || r.writtenValue() != rule.Value {
		r.flags |= hasValue
		r.value = rule.Value
	}
	if rule.Exact {
		r.flags |= exactKey
	}
	if rule.Unlisted {
		r.flags |= unlisted
	}
	r.position = recordPosition{source, rule.Position.Line, rule.Position.Column}
}

// rule returns the rule that a record was made of.
func (r *record) rule(sources []source) Rule {
	return Rule{
		Key:      r.spelledKey(),
		Value:    r.writtenValue(),
		Status:   r.ownStatus,
		Exact:    r.flags.has(exactKey),
		Unlisted: r.flags.has(unlisted),
		Position: Position{
			Source: sources[r.position.source].name,
			Line:   r.position.line,
			Column: r.position.column,
		},
	}
}

// text returns b, which lies in the arena and is never written again, as a string.
func text(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b))
}
