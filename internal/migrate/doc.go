// Package migrate turns tables of other programs into rules. A [Reader] parses a file and adds a
// line for each entry to a [Table]. Package redirects makes rules of these lines, for all readers
// alike. [Convert] reads a file of one [Format] and writes another one. Its [Conversion] reports
// the result for each line.
//
// The readers are in packages of their own: lists, generators, tables, apache and nginx. Package
// formats lists them all. A new reader is a file there, and a row in formats. This package holds
// what readers share: decoding of whole files into a [Node] with positions, quoted words, hosts,
// and the wording of messages.
//
// It imports rulefile and redirects. Only the command imports it, because a conversion is done
// once.
package migrate
