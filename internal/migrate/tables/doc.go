// Package tables reads CSV tables that other programs export, such as WordPress plugins and
// link shorteners. The column names in the first row identify the exporter. Any other table is read
// as a table of rules, with common names for columns and statuses, or names of columns from the
// command line.
package tables
