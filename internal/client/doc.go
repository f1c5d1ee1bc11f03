// Package client is what the clients of handler, admin endpoint and page have in common, over HTTP.
//
// [Origin] is that of the site as a client sees it. [Preconditions] are what a request asks of the
// rules before it is answered, and a [Refusal], or one of package live, has the status of an
// answer.
//
// The package imports internal/live and resolver. What answers requests imports it; live does not,
// as it knows no HTTP.
package client
