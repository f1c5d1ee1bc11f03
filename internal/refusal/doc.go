// Package refusal has the errors that are the client's to mend.
//
// A [Refusal] is an error with a [Reason]: what serves is another rule, or none, or would be
// invalid. It knows no HTTP: internal/client gives each reason its status. Whatever is asked of the
// rules that serve refuses with it, so the package imports only internal/printable.
package refusal
