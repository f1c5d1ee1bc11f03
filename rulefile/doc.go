// Package rulefile reads and writes rules: bytes in, rules with their positions out, and back. The
// formats are JSON (see [ReadJSON]), CSV and _redirects, all in UTF-8. Package internal/migrate
// reads the formats of other programs, for conversions.
//
// A reader goes on after errors if it can, and passes every rule that it can read. It returns one
// error that lists all mistakes, each with line, column and what to write instead. A writer leaves
// out rules that its format cannot express, and lists them in the same way. Written rules are read
// as the same rules, except for their positions. In _redirects, a rule without a status gets the
// default.
//
// Package resolver checks the rules as a ruleset, and also finds duplicate keys.
//
// # CSV
//
// A table has the columns key, destination, status, exact, unlisted, query, note, since and until.
// A row needs the first two:
//
//	key,destination,status,exact,unlisted,query,note
//	github,https://github.com
//	paper,https://example.com/paper.pdf,301,exact,unlisted,ignore,cited in the thesis
//
// The columns exact and unlisted contain these words or nothing. The column query has merge,
// preserve, ignore or nothing, and note has any text. The columns since and until have times; the
// rows of one key with different times are one rule. The first row decides what separates columns:
// a comma, a semicolon or a tab. It may name the columns; otherwise they are the first five. Fields
// are quoted as in RFC 4180, but stay on one line. Blank rows and lines that begin with "#" are
// skipped. One "/" in front of a key is removed, with one warning for a table.
//
// Tables are written with a header and commas, and with the columns from query on up to the last
// one that a rule needs.
//
// # _redirects
//
// A file that was made for Netlify or Cloudflare Pages has lines with the words
//
//	from [query...] to [status[!]] [condition...]
//
// The first line that matches a path answers; of rules, it is the one with the longest key. A line
// becomes rules with the same answers, in the [Dialect] of its service:
//
//	/paper         https://x.example/p 302       paper           https://x.example/p      302 exact
//	/docs/*        https://docs.example/:splat   docs            https://docs.example/    301
//	/:year/:post   /blog/:post?y=:year           {year}/{post}   /blog/{+post}?y={year}   301 exact
//	/app/*         /index.html 200               app             pass
//
// Package redirects makes the rules of a line. A line that no request reaches makes no rule, but a
// warning of the kind [WarnNeverReached]. Rules with nearly the same meaning have a
// [WarnApproximated]: rewrites (200) and error pages (404) pass their requests. Other hosts,
// queries, conditions, 404! and two "*" in a path have no equivalent. Such a line is an error or,
// if [Reading] says so, left out with a [WarnLeftOut].
//
// A rule for a path and all below it is written as two lines, unless its destination's path ends in
// a slash. Rules are written in an order in which the first match is right. Rules that no line can
// express are left out: those that are unlisted, contain spaces, or would be read as something
// else.
package rulefile
