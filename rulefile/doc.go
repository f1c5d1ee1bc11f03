// Package rulefile reads and writes rules: bytes in, rules with their positions
// out, and back.
//
// A reader stops at nothing that it can get over: it gives every rule that it can
// read, and one error that lists all that is wrong, each with line, column and what
// to write instead. Whether the rules make a ruleset is for package resolver to
// say, which also finds keys that stand twice.
package rulefile
