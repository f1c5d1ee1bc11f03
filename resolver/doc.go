// Package resolver is the algorithm of draft-go-protocol-00, "A Deterministic Algorithm for
// Resolving Shortlinks with Internal Redirects": rules in, a compiled ruleset, outcomes out.
//
// A [Compiler] checks each rule, and follows its chain to the end. After the first match the
// pathname is the rule's value and no longer depends on the request. So chains, loops, hop counts
// and final destinations are constants. A [Ruleset] is immutable and safe for concurrent use
// without locks. It answers a request with one longest-prefix match and one construction, whatever
// the number of rules and the length of the chain.
//
// Rules whose keys are templates are an extension of the draft. What they lead to depends on the
// request, so a chain that begins with one is followed for each request, within limits of its own.
// A chain that begins with a literal key is a constant, even if it leads through a template. The
// expressions are those of package uritemplate. That package matches one template with a whole URI;
// the index of this one matches thousands with the beginning of a path at once.
//
// The values gone and pass are another extension. They compile to a record without a destination,
// like a rule that loops, so ordinary rules need no extra check.
//
// # Reading
//
// The files follow section 3 of the draft, and then what builds on it. A file mostly uses those
// before it: a test lets at most a fifth of all pairs run the other way.
//
//	requests (3.2): request
//	rules (2): query rule key value allowhosts
//	options: problem failure options suggestion size
//	the table (3.3.1): lists arena source record table match
//	templates: templatekey template templatevalue templateindex templatesegment templatesearch
//	steps and chains (3.3): step chain
//	results (3.4, 4.5): unsafepath result destination templateresolve
//	a ruleset: concerns numbering digest compiled ruleset
//	compiling: rulecheck recordwriter internalrules compiler
//	compiling: templatecompile chaincompile chainrecord compile
//	deriving: derive with reread
//	differences: compare sample changes derived
//	other uses: destinations explain survey rulechecker
//
// If the draft contradicts itself, is silent or would be unsafe, the package follows the readings
// R1 to R18. docs/conformance.md lists them, each with its reason.
package resolver
