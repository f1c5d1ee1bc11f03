// Package rulefile reads and writes rules: bytes in, rules with their positions out, and back. The
// formats are JSON (see [ReadJSON]), CSV and _redirects; all are UTF-8.
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
// A table has the columns key, destination, status, exact, unlisted and query, of which a row needs
// the first two:
//
//	key,destination,status,exact,unlisted,query
//	github,https://github.com
//	paper,https://example.com/paper.pdf,301,exact,unlisted,ignore
//
// The columns exact and unlisted hold these words, query one of merge, preserve and ignore, or they
// hold nothing. What separates columns is found out from the first row: a comma, a semicolon or a
// tab. A first row that names columns says which there are, and in which order they stand. Without
// one they are the first five. The key's may also be called from, source, short or slug, the
// destination's to, target or url, and the status' code. Fields are quoted as in RFC 4180, but none
// goes over several lines. Blank rows are passed over, and so are lines that begin with "#", which
// no key does. One "/" in front of a key is cut off, with one warning for a table.
//
// Tables are written with a header and commas, and without the column query where no rule has a
// mode and all is less than 16 MiB. A rule cannot be written if its key is empty, begins with "#"
// or with such a "/", or if it holds a line end.
//
// # _redirects
//
// A file that was made for Netlify or Cloudflare Pages has a line for each rule, with the words
//
//	from [query...] to [status[!]] [condition...]
//
// A path is an exact rule, which like there matches with and without a slash at its end. A path
// that ends in "/*" is a rule for all below it, if "/:splat" ends the destination's path; it
// matches the path itself, too. Where ":splat" stands elsewhere in the destination, or not at all,
// the line makes two rules, for the path itself and for all below it. A placeholder is a variable
// of a template, and so is a "*" at the end of the last segment:
//
//	/paper         https://x.example/p 302       paper           https://x.example/p     302 exact
//	/docs/*        https://docs.example/:splat   docs            https://docs.example    301
//	/news/*        /blog                         news            /blog                   301 exact
//	                                             news/{+splat}   /blog                   301
//	/:year/:post   /blog/:post?y=:year           {year}/{post}   /blog/{post}?y={year}   301 exact
//	/api-*         /reference/:splat             api-{splat}     /reference/{+splat}     301
//
// It is read as Netlify reads it. That matters in three places. A path matches with and without a
// slash at its end, so a line that only puts one there or takes it away leads to itself, and is
// refused. A line without a status means 301; at Cloudflare it means 302. And "/docs/*" matches
// /docs itself, which leads there to the destination with a slash at its end, and here to the one
// without: where that matters, a line for /docs alone in front says so, as it has to at Cloudflare.
//
// A key has one rule, where a _redirects file can have two lines, for a path and for all below it.
// Where the path's line is the first, the two become one rule, in the second's place, if status and
// destination are the same but for a slash at its end:
//
//	/docs    https://docs.example.com/
//	/docs/*  https://docs.example.com/:splat      docs   https://docs.example.com/      301
//
// Otherwise the second is an error. A rule whose destination's path ends in a slash is written as
// such a pair.
//
// Order differs, too: elsewhere the first line that matches wins, here the longest key. Lines mean
// the same either way if the longer path stands first. A line that no request gets to elsewhere, as
// an earlier one has its path or takes all of a path above it, would begin to mean something here,
// or have its key twice: it is an error. So is a line some of whose paths match one with
// placeholders in front of it, where the rule that it makes would win here. Rules are written in
// their order, but that a rule that is not exact moves behind the last one below its path; with
// templates among them all are put in an order, the more specific first. For that all are held in
// memory.
//
// A line with status 410 is a rule that is gone; its page is left out. One that is gone is written
// so, with /410 as the page, and one that passes is not written.
//
// The "!" changes nothing, as rules answer before files do. Everything else has no equivalent, and
// each such line is an error that says why: a host in front of the path, queries and conditions,
// other statuses (rewrites, error pages), every path, two placeholders in one segment, and a path
// that leads to itself. What no line means is not written: rules that are unlisted, hold spaces, or
// would be read as something else.
//
// Lines are compared in time that is linear in their number, as long as the texts around their
// placeholders have a few hundred different lengths and places at most; the reading ends at a line
// with which that gets out of hand.
package rulefile
