// Package migrate turns tables of other programs into rules. A [Reader] takes a file apart, and
// adds a line for each entry to a [Table]; what makes rules of those lines is the same for all, and
// stands in package redirects. [Convert] reads a file of one [Format] and writes another one, and
// tells in a [Conversion] what became of each line.
//
// The readers are packages of their own: lists, tables, apache and nginx. Package formats has them
// all; one more is a file there, and a row in formats. What readers share is here: how files are
// decoded as a whole, [JSON] with places, words with quotation marks, hosts, and what is said of
// entries in messages.
//
// It imports rulefile and redirects. Only the command imports it, as converting is what somebody
// does once.
package migrate
