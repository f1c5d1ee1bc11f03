// Package effects says what an edit changes, before it is made.
//
// [Effects] are what changes for clients of the edited keys and of others, and what there is to
// warn of. [Of] finds them by comparing two sets of rules. The package imports internal/schedule
// and resolver/lint; internal/live asks it, and internal/show and page show what it finds.
package effects
