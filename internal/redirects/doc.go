// Package redirects makes rules of a table of lines: of the lines that match a path the first
// answers, and of rules that with the longest key. It knows no program, and no way to write lines
// down. Readers hand over each as a [Line]; [Table.Rules] passes on the rules that all make
// together:
//
//	line                             paths                 rules
//	/about/*   https://a/:splat      about, and below      about            https://a/
//	                                                       about/learn      https://a/learn   <-.
//	/:x/learn  /learn                {x}/learn             {_x}/learn       /learn              |
//	                                                            '-- would win at about/learn ---'
//	/about     /x                    about                 none: the first line takes it
//
// A line takes one set of paths or several ([paths]: segments, and perhaps all below), and makes a
// rule or two for each. Two questions decide what becomes of them:
//
//   - Which line owns a path? The first that takes it. A rule all of whose paths an earlier line
//     takes is not made (owner.go).
//   - Which rule would win? That of more segments, and so on, as package resolver has it. Where a
//     later line's rule would win against an earlier line's, the earlier line gets one rule more,
//     for what both take (precedence.go, completion.go). That rule is compared in turn.
//
// What two lines take in part is one rule where their segments are text or whole variables. Else no
// rule is for it, and the later line is refused. So nothing leads elsewhere silently, and a line
// with a path and no variables always makes its rule, unless one in front takes the path. A line
// that needs too much is refused itself, and not those behind it.
//
// Three things more are different for clients of rules: a chain of lines is one answer
// (following.go), a line can lead to what it takes itself (selfleading.go), and a slash at the end
// of a path makes no difference to rules ([Slashes]).
//
// The package imports resolver and weburl. Package rulefile reads _redirects files with it, and
// internal/migrate the tables of other programs. Its package pathexpr makes paths of regular
// expressions.
package redirects
