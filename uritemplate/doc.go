// Package uritemplate is URI Template (RFC 6570), level 4: expansion, and matching over the same
// parsed form.
//
// The resolver uses a part of it: [Parse], the parts of a [Template], and what an [Operator] says
// and encodes. The keys and values of rules are templates, which the resolver matches and expands
// in its own way. The rest, expansion and matching, is here as a library: it is whole, tested by
// public suites, and imports nothing of the project.
//
// A [Template] is parsed once. [Template.AppendExpand] makes a URI of it and of values. A [Matcher]
// does the reverse: it finds values for a URI. They are raw, as they stand in the URI ([Raw],
// [RawList], [RawPairs]), and proved: expanding the template with them gives the URI again, byte
// for byte, or else there is no match.
//
// Matching takes time linear in the URI, as nothing is tried twice. Where more than one expression
// could take the same characters, that would not do: [Template.Matcher] refuses such a template
// with the reason. It still expands.
//
// # Raw and plain values
//
// A plain value is data: a "%" in it is a percent sign, and comes out as "%25" where an operator
// encodes. A raw value is a part of a URI: its percent-encoded triplets stay as they are, and only
// what the operator may not emit is encoded. That raw is a kind of value, and not guessed from its
// looks, lets both hold: expansion is what RFC 6570 says for any data, and what was matched comes
// back unchanged.
//
// # What matching promises
//
//   - Opaque, what [Matcher.Match] returns: expanding it gives the URI.
//   - Cooked, by [Matcher.Cooked]: decoded once, valid UTF-8, and what is expanded from it matches
//     with the same cooked values.
//
// A template of which every variable stands once matches whatever it makes of values, also where
// some are undefined. Variables first take one item each, in their order; where that is not what
// the URI says, as of {b,c*} on k=1,k2=2, any way to share the items among them is found. Where a
// variable stands twice, a match can be missed.
//
// The other way round, matching what was expanded from some values need not give these: RFC 6570
// makes the same URI of a list with one member and of that member, of an undefined value and of an
// empty list, and so on.
package uritemplate
