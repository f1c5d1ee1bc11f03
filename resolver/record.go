package resolver

import "encoding/binary"

// record is a compiled rule as it is stored in the arena. First comes what an answer needs, and
// then what only explanations and lists read.
//
//	header                           8 bytes, little-endian: flags, hops, statuses with the
//	                                 query mode, and the lengths of key (8 bits), base (16),
//	                                 query and fragment (8)
//	[the four lengths]               uvarints, with longParts, where one is too large for the
//	                                 header; all but the key's are doubled, and odd for a shared
//	                                 part
//	key, base, query, fragment       bytes, or the ref of a shared part as a uvarint
//	[spelling]                       length and bytes, with hasSpelling
//	[value]                          length and bytes, with hasWritten: those of the value or, behind
//	                                 a length of 0, of the note and then of the value, 0 for none
//	source, line, column             uvarints
type record struct {
	// base is the beginning of the destination: origin and path, or only the path if the origin is
	// that of the request.
	key, base, query, fragment string
	// Key and value as they are written, if that differs from the compiled form.
	spelling, value string
	note            string
	// shared are the refs of base, query and fragment that many records share. 0 is a part that the
	// record has itself.
	shared   [3]ref
	position recordPosition
	flags    recordFlags
	hops     uint8
	// status is the status along the chain, ownStatus that of the rule; 0 is the default.
	status, ownStatus int
	// mode is the rule's own query mode.
	mode QueryMode
}

type recordPosition struct{ source, line, column int }

type recordFlags uint8

const (
	// requestOrigin: base lacks an origin.
	requestOrigin recordFlags = 1 << iota
	// joined: base ends in a path that was appended along the chain, so the seam of R6 is already
	// made.
	joined
	// noDestination: instead of a destination, base has gone, pass, or the number of a failure: the
	// chain does not end, or is too long.
	noDestination
	hasSpelling
	hasWritten // a written value, or a note
	exactKey
	unlisted
	longParts
)

func (f recordFlags) has(flag recordFlags) bool { return f&flag != 0 }

// header is the first eight bytes of a record.
type header uint64

func (r *record) header() header {
	h := header(r.flags) | header(r.hops)<<8 |
		header(statusIndex(r.status)|statusIndex(r.ownStatus)<<4)<<16 |
		header(r.mode&1)<<19 | header(r.mode>>1)<<23
	if r.flags.has(longParts) {
		return h
	}
	return h | header(len(r.key))<<24 | header(len(r.base))<<32 |
		header(len(r.query))<<48 | header(len(r.fragment))<<56
}

func (h header) flags() recordFlags { return recordFlags(h) }
func (h header) hops() uint8        { return uint8(h >> 8) }
func (h header) status() int        { return int(statusCodes[h>>16&7]) }
func (h header) ownStatus() int     { return int(statusCodes[h>>20&7]) }
func (h header) mode() QueryMode    { return QueryMode(h>>19&1 | h>>22&2) }

// The lengths of key, base, query and fragment in a header.
func (h header) keyLength() int      { return int(h >> 24 & 0xFF) }
func (h header) baseLength() int     { return int(h >> 32 & 0xFFFF) }
func (h header) queryLength() int    { return int(h >> 48 & 0xFF) }
func (h header) fragmentLength() int { return int(h >> 56) }

// appendRecord appends the encoded form of r.
func appendRecord(dst []byte, r *record) []byte {
	if len(r.key) > 0xFF || len(r.base) > 0xFFFF || len(r.query) > 0xFF || len(r.fragment) > 0xFF ||
		r.shared != [3]ref{} {
		r.flags |= longParts
	}
	dst = binary.LittleEndian.AppendUint64(dst, uint64(r.header()))
	if r.flags.has(longParts) {
		dst = appendLongParts(dst, r)
	} else {
		dst = append(dst, r.key...)
		dst = append(dst, r.base...)
		dst = append(dst, r.query...)
		dst = append(dst, r.fragment...)
	}
	if r.flags.has(hasSpelling) {
		dst = appendCounted(dst, r.spelling)
	}
	if r.flags.has(hasWritten) {
		dst = appendWritten(dst, r)
	}
	dst = binary.AppendUvarint(dst, uint64(r.position.source))
	dst = binary.AppendUvarint(dst, uint64(r.position.line))
	return binary.AppendUvarint(dst, uint64(r.position.column))
}

// appendLongParts appends the lengths of key, base, query and fragment, and then these.
func appendLongParts(dst []byte, r *record) []byte {
	parts := [...]string{r.base, r.query, r.fragment}
	dst = binary.AppendUvarint(dst, uint64(len(r.key)))
	for i, part := range parts {
		length := uint64(len(part)) << 1
		if r.shared[i] != 0 {
			length |= 1
		}
		dst = binary.AppendUvarint(dst, length)
	}
	dst = append(dst, r.key...)
	for i, part := range parts {
		if at := r.shared[i]; at != 0 {
			dst = binary.AppendUvarint(dst, uint64(at))
		} else {
			dst = append(dst, part...)
		}
	}
	return dst
}

// appendWritten appends value and note. The length of a value is never 0.
func appendWritten(dst []byte, r *record) []byte {
	if r.note != "" {
		dst = appendCounted(append(dst, 0), r.note)
	}
	return appendCounted(dst, r.value)
}

func appendCounted(dst []byte, part string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(part)))
	return append(dst, part...)
}

// headerOf returns the header of the record that b begins with.
func headerOf(b []byte) header { return header(binary.LittleEndian.Uint64(b)) }

// decodeAnswer reads what an answer needs, and returns what follows it.
func (r *record) decodeAnswer(a *arena, b []byte) []byte {
	h := header(binary.LittleEndian.Uint64(b))
	r.flags, r.hops, r.status, r.mode = h.flags(), h.hops(), h.status(), h.mode()
	b = b[8:]
	if r.flags.has(longParts) {
		b = r.decodeLongParts(a, b)
	} else {
		r.key, b = cutText(b, h.keyLength())
		r.base, b = cutText(b, h.baseLength())
		r.query, b = cutText(b, h.queryLength())
		r.fragment, b = cutText(b, h.fragmentLength())
	}
	if r.flags.has(hasSpelling) {
		r.spelling, b = counted(b)
	}
	return b
}

// decodeLongParts reads the lengths of key, base, query and fragment, and then these.
func (r *record) decodeLongParts(a *arena, b []byte) []byte {
	var keyLength int
	var lengths [3]int
	keyLength, b = uvarint(b)
	for i := range lengths {
		lengths[i], b = uvarint(b)
	}
	r.key, b = cutText(b, keyLength)
	for i, part := range [...]*string{&r.base, &r.query, &r.fragment} {
		length, shared := lengths[i]>>1, lengths[i]&1 == 1
		if !shared {
			*part, b = cutText(b, length)
			continue
		}
		var at int
		at, b = uvarint(b)
		r.shared[i] = ref(at)
		*part = text(a.bytes(ref(at))[:length])
	}
	return b
}

// decode reads the whole record, and returns what follows it.
func (r *record) decode(a *arena, b []byte) (rest []byte) {
	r.ownStatus = header(binary.LittleEndian.Uint64(b)).ownStatus()
	b = r.decodeAnswer(a, b)
	if r.flags.has(hasWritten) {
		b = r.decodeWritten(b)
	}
	r.position.source, b = uvarint(b)
	r.position.line, b = uvarint(b)
	r.position.column, b = uvarint(b)
	return b
}

// decodeWritten reads value and note.
func (r *record) decodeWritten(b []byte) []byte {
	if r.value, b = counted(b); r.value == "" {
		r.note, b = counted(b)
		r.value, b = counted(b)
	}
	return b
}

// recordKey returns the key of the record that b begins with.
func recordKey(b []byte) string {
	h := header(binary.LittleEndian.Uint64(b))
	b = b[8:]
	if !h.flags().has(longParts) {
		return text(b[:h.keyLength()])
	}
	n, b := uvarint(b)
	for range 3 {
		_, b = uvarint(b)
	}
	return text(b[:n])
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

// recordOverhead estimates the size of a record without its texts, in bytes.
const recordOverhead = 16

// setFailure makes r the record of a rule that answers with the error of a number.
func (r *record) setFailure(n int) {
	r.flags |= noDestination
	r.base = string(binary.AppendUvarint(nil, uint64(n)))
}

// isFailure reports whether the rule answers with an error. A number is not mistaken for an
// outcome: in all its bytes but the last, the highest bit is set.
func (r *record) isFailure() bool { return r.flags.has(noDestination) && !isOutcome(r.base) }

// failure returns the number of that error.
func (r *record) failure() int {
	n, _ := uvarint([]byte(r.base))
	return n
}

// setOutcome makes r the record of a rule with an outcome, gone or pass.
func (r *record) setOutcome(outcome string) {
	r.flags |= noDestination
	r.base = outcome
}

// spelledKey returns the key as it is written.
func (r *record) spelledKey() string {
	if r.flags.has(hasSpelling) {
		return r.spelling
	}
	return r.key
}

// writtenValue returns the value as it is written.
func (r *record) writtenValue() string {
	if r.value != "" {
		return r.value
	}
	if r.query == "" {
		return r.base + r.fragment
	}
	return r.base + "?" + r.query + r.fragment
}

// writtenQuery returns the query of an absolute value as it is written, in the spelling of URLs.
func (r *record) writtenQuery() string {
	if r.value == "" {
		return r.query
	}
	u, _ := parseAbsolute(r.value)
	return u.Query
}

// describe sets what a record says of its rule as it is written.
func (r *record) describe(rule Rule, source int) {
	if r.key != rule.Key {
		r.flags |= hasSpelling
		r.spelling = rule.Key
	}
	if isInternal(rule.Value) || r.writtenValue() != rule.Value {
		r.flags |= hasWritten
		r.value = rule.Value
	}
	if rule.Note != "" {
		r.flags |= hasWritten
		r.note = rule.Note
	}
	if rule.Exact {
		r.flags |= exactKey
	}
	if rule.Unlisted {
		r.flags |= unlisted
	}
	r.position = recordPosition{source, rule.Position.Line, rule.Position.Column}
}

// isOf reports whether a record was made from a rule, wherever the rule stands.
func (r *record) isOf(rule *Rule) bool {
	return r.spelledKey() == rule.Key && r.isValue(rule.Value) && r.ownStatus == rule.Status &&
		r.mode == rule.Query && r.flags.has(exactKey) == rule.Exact &&
		r.flags.has(unlisted) == rule.Unlisted && r.note == rule.Note
}

// isValue reports whether this is the value as it is written.
func (r *record) isValue(value string) bool {
	if r.value != "" || r.query == "" {
		return r.writtenValue() == value
	}
	mark := len(r.base)
	fragment := mark + len("?") + len(r.query)
	return len(value) == fragment+len(r.fragment) && value[:mark] == r.base && value[mark] == '?' &&
		value[mark+1:fragment] == r.query && value[fragment:] == r.fragment
}

// rule returns the rule that the record was made from.
func (r *record) rule(sources []source) Rule {
	return Rule{
		Key:      r.spelledKey(),
		Value:    r.writtenValue(),
		Status:   r.ownStatus,
		Exact:    r.flags.has(exactKey),
		Unlisted: r.flags.has(unlisted),
		Query:    r.mode,
		Note:     r.note,
		Position: Position{
			Source: sources[r.position.source].name,
			Line:   r.position.line,
			Column: r.position.column,
		},
	}
}
