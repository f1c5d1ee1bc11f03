// Package redirects makes rules of a table of lines: of the lines that match a path the first
// answers, and of rules that with the longest key. It knows no program and no way to write lines
// down. Readers hand over each as a [Line]; [Table.Rules] passes on the rules that all make together.
//
// It imports package resolver alone. Package rulefile reads _redirects files with it, and
// internal/migrate the tables of other programs. Regular expressions become lines in its package
// pathexpr.
//
// Who has what: rulefile has Format, Reading with all its fields, Read and Write of JSON, CSV and
// _redirects, Errors, the Warn kinds, and Reports, which collects what a Table reports
// (NewReports(keepAll), Add(Report), Result(end) (warnings, error)). internal/migrate has Convert,
// Conversion, FromFormats, ToFormats, ParseFrom, ParseTo, maps written, CSV of other programs, and
// Read(reading rulefile.Reading, r, format, source, add), which makes a Table with the options of a
// Reading, lets a reader fill it, and ends with Table.Rules.
package redirects
