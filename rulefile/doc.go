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
// any text, or they hold nothing. What separates columns is found out from the first row: a comma,
// a semicolon or a tab. A first row that names columns says which there are, and in which order
// they stand. Without one they are the first five. The key's may also be called from, source, short
// or slug, the destination's to, target or url, and the status' code. A column requests is passed
// over. A table that is converted may use more names, and have other columns. Fields are quoted as
// in RFC 4180, but none goes over several lines. Blank rows are passed over, and so are lines that
// begin with "#", which no key does. One "/" in front of a key is cut off, with one warning for a
// table.
//
// Tables are written with a header and commas. The columns query and note are left out where no
// rule has a mode or a note, and all is less than 16 MiB. A rule cannot be written if its key is
// empty, begins with "#" or with such a "/", or if it holds a line end.
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
//	/news/*        /blog                         news            /blog                    301 exact
//	                                             news/{+splat}   /blog                    301 exact
//	/:year/:post   /blog/:post?y=:year           {year}/{post}   /blog/{+post}?y={year}   301 exact
//	/api-*         /reference/:splat             api-            /reference/              301
//	                                             api-{splat}     /reference/{+splat}      301
//	/old/*         /410.html 410                 old             gone
//	/app/*         /index.html 200               app             pass
//
// Where a later line's rule would be the longer one, the earlier line has a rule more, for what the
// two have in common. Where a line for all below a path leads to another line, its rules are
// templates, so that the other one sees all of the path. A line that no request reaches makes no
// rule, and a warning of the kind [WarnNeverReached]. What means nearly the same is a
// [WarnApproximated]: rewrites (200) and error pages (404) let their requests pass, and lines that
// lead to themselves end there. What has no equivalent is an error, or left out with a
// [WarnLeftOut], as [Reading] says: other hosts, queries, conditions, "/" itself, 404!, and two "*"
// in a path. The "!" changes nothing else, as rules answer before files do.
//
// A destination with a query has the query mode ignore, as it takes the place of the request's; and
// so has one that leads to such a line. Placeholders that a destination does not use have names
// that begin with "_".
//
// A line for a path and the next one for all below it become one rule, if the second goes on with
// the destination of the first:
//
//	/docs    https://docs.example.com/v2
//	/docs/*  https://docs.example.com/v2/:splat      docs   https://docs.example.com/v2   301
//
// A rule for all below a path is written as such a pair, unless its destination's path ends in a
// slash. Rules are written in an order in which the first that matches is the right one. What no
// line means is not written: rules that are unlisted, hold spaces, or would be read as something
// else.
//
// What makes rules of lines is package redirects; see there for what lines have in common. A line
// is handed over with its path as a regular expression, and most lines, which have no placeholder,
// as they are.
package rulefile
