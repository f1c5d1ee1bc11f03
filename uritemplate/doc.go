// Package uritemplate is URI Template (RFC 6570), level 4: expansion, and matching over the same
// parsed form.
//
// The resolver uses a part of it: [Parse], the parts of a [Template], and the methods of
// [Operator]. The keys and values of rules are templates, which the resolver matches and expands in
// its own way. The links page expands templates, and package lint parses expressions. Matching is
// here to complete the library, which public suites test. It imports nothing of the project.
//
// A [Template] is parsed once. [Template.AppendExpand] makes a URI from it and values. A [Matcher]
// does the reverse: it finds values for a URI. They are raw, as in the URI ([Raw], [RawList],
// [RawPairs]). They are also proved: expanding the template with them gives the URI again, byte for
// byte, or there is no match.
//
// Matching needs time linear in the URI, because nothing is tried twice. If several expressions
// could match the same characters, that is impossible: [Template.Matcher] refuses such a template
// with the reason. It can still be expanded.
//
// # Raw and plain values
//
// A plain value is data: a "%" in it is a percent sign, and most operators encode it as "%25". A
// raw value is a part of a URI. Its percent-encoded triplets stay as they are, and only characters
// that the operator may not emit are encoded. Raw is a kind of value, and not guessed. So expansion
// follows RFC 6570 for any data, and a matched value is expanded unchanged.
//
// # What matching promises
//
//   - Opaque values, by [Matcher.Match]: expanding them gives the URI.
//   - Cooked values, by [Matcher.Cooked]: decoded once, valid UTF-8, and their expansion matches
//     with the same cooked values.
//
// If every variable occurs once, the template matches all its expansions, also with undefined
// variables. Variables first get one item each, in their order. If that does not give the URI, as
// for {b,c*} and k=1,k2=2, any way to share the items among them is found. If a variable occurs
// twice, a match can be missed.
//
// Matching an expansion need not give the values that were expanded. In RFC 6570 different values
// have the same expansion: for example, a list with one member and that member, or an undefined
// value and an empty list.
package uritemplate
