// Package rulefile reads and writes rules: bytes in, rules with their positions out, and back. The
// formats are JSON (see [ReadJSON]), CSV and _redirects; all are UTF-8. Those of other programs are
// read by internal/migrate, for a conversion.
//
// A reader stops at nothing that it can get over. It gives every rule that it can read, and one
// error that lists all that is wrong, each with line, column and what to write instead. A writer
// leaves out what its format has no words for, and lists it in the same way. What was written is
// read as the same rules, but for their positions; in _redirects, a rule without a status gets the
// one that it has by default.
//
// Whether the rules make a ruleset is for package resolver to say, which also finds keys that stand
// twice.
//
// # CSV
//
// A table has the columns key, destination, status, exact, unlisted, query and note, of which a row
// needs the first two:
//
//	key,destination,status,exact,unlisted,query,note
//	github,https://github.com
//	paper,https://example.com/paper.pdf,301,exact,unlisted,ignore,cited in the thesis
//
// The columns exact and unlisted hold these words, query one of merge, preserve and ignore, note
// any text, or they hold nothing. The first row tells what separates columns: a comma, a semicolon
// or a tab. If it names columns, it tells which there are; else they are the first five. Fields are
// quoted as in RFC 4180, but none goes over several lines. Blank rows are passed over, and so are
// lines that begin with "#". One "/" in front of a key is cut off, with one warning for a table.
//
// Tables are written with a header and commas. The columns query and note are left out where no
// rule has a mode or a note, and all is less than 16 MiB.
//
// # _redirects
//
// A file that was made for Netlify or Cloudflare Pages has lines with the words
//
//	from [query...] to [status[!]] [condition...]
//
// of which the first one that matches a path answers, while of rules the longest key does. A line
// becomes the rules that answer as it does, in the [Dialect] of its service:
//
//	/paper         https://x.example/p 302       paper           https://x.example/p      302 exact
//	/docs/*        https://docs.example/:splat   docs            https://docs.example/    301
//	/:year/:post   /blog/:post?y=:year           {year}/{post}   /blog/{+post}?y={year}   301 exact
//	/app/*         /index.html 200               app             pass
//
// Package redirects, to which a line is handed over with its path as a regular expression, makes
// the rules; see there. A line that no request reaches makes no rule, and a warning of the kind
// [WarnNeverReached]. What means nearly the same is a [WarnApproximated]: rewrites (200) and error
// pages (404) let their requests pass. What has no equivalent is an error, or left out with a
// [WarnLeftOut], as [Reading] says: other hosts, queries, conditions, 404!, and two "*" in a path.
//
// A rule for all below a path is written as a line for the path and one for all below it, unless
// its destination's path ends in a slash. Rules are written in an order in which the first that
// matches is the right one. What no line means is not written: rules that are unlisted, hold
// spaces, or would be read as something else.
package rulefile
