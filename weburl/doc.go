// Package weburl is the WHATWG URL Standard as far as http and https URLs need it:
// parsing and resolving ([Parse], [URL.Resolve]), hosts ([ParseHost]), percent-encoding
// ([AppendEncoded]) and URLSearchParams ([Params]). It implements reading R1: results are
// those of today's standard, byte for byte, and so those of Node.js 24.
//
// Configuration is read with [Parse], which is written to be followed. A request is read
// with [SplitTarget], [AppendOrigin] and [AppendForm], which give the same answers in one
// pass and, for ordinary requests, without allocating.
//
// # Text
//
// The standard's input is a sequence of Unicode scalar values, a Go string is bytes. Bytes
// that are no UTF-8 are read as the standard's decoder reads them: each maximal subpart of
// an ill-formed sequence is one U+FFFD.
//
// # Deviations
//
// Host names beyond ASCII go through golang.org/x/net/idna, which has the Unicode tables of
// the Go release: 15 up to Go 1.26. Characters that Unicode assigned later, and U+1806, are
// refused. Such a host name may be 16 KiB of UTF-8 at most, as in Node.js, and 1 KiB in
// [AppendOrigin]; the standard sets no limit.
package weburl
