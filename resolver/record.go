package resolver

import (
	"encoding/binary"
	"unsafe"
)

// record is a compiled rule as it lies in the arena: everything that an answer
// needs, and behind it what only explanations and listings read.
//
//	flags, hops, statuses                        one byte each
//	lengths of key, base, query, fragment        uvarints
//	key, base, query, fragment                   bytes
//	[spelling]                                   length and bytes, with hasSpelling
//	[value]                                      length and bytes, with hasValue
//	source, line, column                         uvarints
type record struct {
	// base is what the destination begins with: origin and path, or the path alone
	// where the origin is the request's.
	key, base, query, fragment []byte
	// The written forms of key and value, where they are not the compiled ones.
	spelling, value []byte
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
	// joined: base ends in a path appended along the chain, so that the seam of R6 lies behind.
	joined
	// failed: the chain does not end; base holds the uvarint of a failure instead.
	failed
	hasSpelling
	hasValue
	exactKey
	unlisted
)

func (f recordFlags) has(flag recordFlags) bool { return f&flag != 0 }

var statusCodes = [...]int{0, 301, 302, 303, 307, 308}

func statusIndex(code int) byte {
	for i, c := range statusCodes {
		if c == code {
			return byte(i)
		}
	}
	return 0
}

// appendRecord appends the encoded form of r.
func appendRecord(dst []byte, r *record) []byte {
	dst = append(dst, byte(r.flags), r.hops, statusIndex(r.status)|statusIndex(r.ownStatus)<<4)
	for _, part := range [...][]byte{r.key, r.base, r.query, r.fragment} {
		dst = binary.AppendUvarint(dst, uint64(len(part)))
	}
	for _, part := range [...][]byte{r.key, r.base, r.query, r.fragment} {
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

func appendCounted(dst, part []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(part)))
	return append(dst, part...)
}

// decodeAnswer reads what an answer needs, and returns what follows it.
func (r *record) decodeAnswer(b []byte) []byte {
	r.flags, r.hops = recordFlags(b[0]), b[1]
	r.status, r.ownStatus = statusCodes[b[2]&15], statusCodes[b[2]>>4]
	keyLen, b := uvarint(b[3:])
	baseLen, b := uvarint(b)
	queryLen, b := uvarint(b)
	fragmentLen, b := uvarint(b)
	r.key, b = b[:keyLen], b[keyLen:]
	r.base, b = b[:baseLen], b[baseLen:]
	r.query, b = b[:queryLen], b[queryLen:]
	r.fragment, b = b[:fragmentLen], b[fragmentLen:]
	if r.flags.has(hasSpelling) {
		r.spelling, b = counted(b)
	}
	return b
}

// decode reads the whole record, and returns what follows it.
func (r *record) decode(b []byte) []byte {
	b = r.decodeAnswer(b)
	if r.flags.has(hasValue) {
		r.value, b = counted(b)
	}
	r.position.source, b = uvarint(b)
	r.position.line, b = uvarint(b)
	r.position.column, b = uvarint(b)
	return b
}

// recordKey returns the key of the record that b begins with.
func recordKey(b []byte) []byte {
	keyLen, b := uvarint(b[3:])
	for range 3 {
		_, b = uvarint(b)
	}
	return b[:keyLen]
}

func counted(b []byte) (part, rest []byte) {
	n, b := uvarint(b)
	return b[:n], b[n:]
}

// uvarint reads a length; nearly all of them take one byte.
func uvarint(b []byte) (int, []byte) {
	if b[0] < 0x80 {
		return int(b[0]), b[1:]
	}
	n, size := binary.Uvarint(b)
	return int(n), b[size:]
}

// spelledKey returns the key as the rule has it.
func (r *record) spelledKey() string {
	if r.flags.has(hasSpelling) {
		return text(r.spelling)
	}
	return text(r.key)
}

// writtenValue returns the value as the rule has it.
func (r *record) writtenValue() string {
	if r.flags.has(hasValue) {
		return text(r.value)
	}
	value := text(r.base)
	if len(r.query) > 0 {
		value += "?" + text(r.query)
	}
	return value + text(r.fragment)
}

// text returns b, which lies in the arena and is never written again, as a string.
func text(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b))
}
