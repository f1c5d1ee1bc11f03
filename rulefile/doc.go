// Package rulefile reads and writes rules: bytes in, rules with their positions
// out, and back. The formats are JSON ([ReadJSON]), CSV ([ReadCSV]) and _redirects ([ReadRedirects]); all
// are UTF-8.
//
// A reader stops at nothing that it can get over: it gives every rule that it can
// read, and one error that lists all that is wrong, each with line, column and what
// to write instead. A writer leaves out what its format has no words for, and lists it in the same way.
// What was written is read as the same rules, but for their positions; in _redirects, a rule without a status gets
// the one that it has by default.
//
// Whether the rules make a ruleset is for package resolver to say, which also finds keys that stand twice.
//
// # _redirects
//
// A file that was made for Netlify or Cloudflare Pages holds two kinds of lines that are rules, too:
//
//	/paper   https://example.com/paper.pdf      an exact rule
//	/docs/*  https://docs.example.com/:splat    a rule for /docs and all below it
//
// It is read as Netlify reads it. That matters in three places. A path matches with and without a slash at its end, so
// a line that only puts one there or takes it away leads to itself, and is refused. A
// line without a status means 301; at Cloudflare it means 302. And "/docs/*" matches /docs itself, which
// leads there to the destination with a slash at its end, and here to the one without:
// where that matters, a line for /docs alone in front says so, as it has to at Cloudflare.
//
// Such a pair is the one thing that two lines say together. A key has one rule, so the pair becomes
// one if the lines agree on status and destination (but for that slash), the
// line for the path stands first; and a rule whose destination's path ends in a slash is
// written as a pair. Pairs that disagree cannot be said with one rule: the second line is refused.
//
// Order differs, too: elsewhere the first line that matches wins, here the longest key. Lines mean the same either way
// if the longer path stands first. A line that no request gets to elsewhere, as an earlier one has its path or takes all
// of a path above it, would begin to mean something here, or have its key twice: it is
// refused. A writer puts rules into an order that means the same in both ways.
//
// Everything else in such a file is refused, line by line and with the reason: see [ReadRedirects].
package rulefile
