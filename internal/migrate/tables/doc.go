// Package tables reads tables in CSV that other programs have written, such as WordPress plugins
// and link shorteners. The first row tells whose a table is, by the names of its columns. Any other
// table is one of rules, in which columns and statuses may be called as they often are.
package tables
