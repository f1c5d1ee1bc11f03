// Package resolver is the algorithm of draft-go-protocol-00, "A Deterministic Algorithm for
// Resolving Shortlinks with Internal Redirects": rules in, a compiled ruleset, outcomes out.
//
// A [Compiler] takes rules, checks each, and works out every rule's whole future: after the first
// match the pathname is the rule's value and no longer depends on the request, so chains, loops,
// hop counts and final destinations are constants. A [Ruleset] is immutable, safe for concurrent
// use without locks, and answers a request with one longest-prefix match and one construction,
// whatever the number of rules and the length of the chain.
//
// Rules whose keys are templates are an extension of the draft. What they lead to depends on the
// request: a chain through one is walked when the request comes, within limits of its own, unless it
// begins at a literal key, and so has no captures but its own. Their expressions are those of
// package uritemplate; they are matched by an index, as thousands of them are matched with the
// beginning of a path at once, where that package matches one with a whole URI.
//
// The values gone and pass are another extension. Compiled, such a rule is one of those that lead
// to no destination, like one that loops, so that other rules have nothing to ask for them.
//
// # Reading
//
// The files follow section 3 of the draft, and then what stands on it. A test holds that most build
// on those in front of them alone:
//
//	rules (2): query rule key value allowhosts
//	options: problem failure options suggestion limits
//	the table (3.2): lists arena source record table match
//	templates: templatekey template templatevalue templateindex templatesegment templatesearch
//	steps and chains (3.3): step chain
//	results (3.4): unsafepath result destination templateresolve
//	a ruleset: concerns numbering digest compiled ruleset
//	compiling: rulecheck recordwriter internalrules compiler
//	compiling: templatecompile chaincompile chainrecord compile
//	deriving: derive with reread
//	differences: compare sample changes derived
//	other uses: destinations explain survey rulechecker
//
// Where the draft contradicts itself, is silent or would be unsafe, the package follows the
// numbered readings R1 to R18, which docs/conformance.md lists, each with its reason.
package resolver
