// Package uritemplate is URI Template (RFC 6570), level 4: expansion, and matching over the same parsed form.
//
// A [Template] is parsed once. [Template.AppendExpand] makes a URI of it and of values. A [Matcher] does the reverse: it
// finds values for a URI. What it finds is raw, as it stands in the URI ([Raw], [RawList], [RawPairs]), and proved: expanding the
// template with it gives the URI again, byte for byte, or else there is no match. Matching takes time linear in the URI, as nothing is tried
// twice: a template for which that would not do, since more than one expression could take the same characters, is refused by
// [Template.Matcher] with the reason, and still expands.
//
// # Raw and plain values
//
// A plain value is data: a "%" in it is a percent sign, and comes out as "%25" where an operator encodes. A raw value is a
// part of a URI: its percent-encoded triplets stay as they are, and only what the operator may not emit is encoded. That
// raw is a kind of value, and not guessed from its looks, lets both hold: expansion is what RFC 6570 says for any data, and what was
// matched comes back unchanged.
//
// # What matching promises
//
//   - Opaque, what [Matcher.Match] returns: expanding it gives the URI.
//   - Cooked, by [Matcher.Cooked]: decoded once, valid UTF-8, and what is expanded from it matches with the same cooked values.
//   - Lossless, by [Matcher.Lossless]: both for each value.
//
// The other way round, matching what was expanded from some values need not give these: RFC 6570 makes the same URI of a
// list with one member and of that member, of an undefined value and of an empty list, and so on. [Template.Invertible] tells the
// templates for which it does, and for which values.
package uritemplate
