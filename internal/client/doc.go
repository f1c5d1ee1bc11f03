// Package client has what the handler, the admin endpoint and the page need to serve HTTP clients.
//
// [Origin] is that of the site as a client sees it. [Preconditions] are what a request requires of
// the rules. A [StatusError], or a refusal, has the status of an answer.
//
// The package imports internal/refusal and resolver. Whatever answers requests imports it;
// internal/live does not, because it knows no HTTP.
package client
