// Package lint finds what is valid in rules and probably not meant.
//
// [Rule] looks at a rule by itself, and a [List] at all rules of a ruleset: at each as it is
// compiled, and at the finished ruleset. From one ruleset to the one that is derived of it the list
// follows. [Check] finds what is not worth a warning at each start, and takes longer to find.
//
// The package imports resolver. It knows neither Caddy nor files.
package lint
