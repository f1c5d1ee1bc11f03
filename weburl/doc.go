// Package weburl is the WHATWG URL Standard as far as http and https URLs need it. It implements
// reading R1: results are those of today's standard, byte for byte, and so those of Node.js 24.
//
// Configuration is read with functions that follow the text of the standard: [Parse], [ParseHost],
// and [Params], the list of a URLSearchParams object.
//
// A request is read with functions that give the same answers in one pass. They do not allocate for
// ordinary requests. [SplitTarget] and [AppendOrigin] read its parts; [NextPiece] and [AppendForm]
// are URLSearchParams as a stream. [Merger] uses the stream to combine two queries, either as set
// and toString do or with their spelling unchanged. Names can be protected ([Names]).
//
// Percent-encoding is for both: [AppendEncoded], [Triplet], [AppendTriplet] and [IsDotSegment].
//
// [URL.Resolve] and [Params.Set] complete the API for other programs; shortlink itself does not
// need them.
//
// # Text
//
// The standard's input is a sequence of Unicode scalar values, a Go string is bytes. Bytes that are
// not UTF-8 are read as the standard's decoder reads them: each maximal subpart of an ill-formed
// sequence is one U+FFFD.
//
// # Deviations
//
// Host names beyond ASCII go through golang.org/x/net/idna, which has the Unicode tables of the Go
// release: 15 up to Go 1.26. Characters that Unicode assigned later, and U+1806, are refused. Such
// a host name may be 16 KiB of UTF-8 at most, as in Node.js, and 1 KiB in [AppendOrigin]; the
// standard sets no limit.
package weburl
