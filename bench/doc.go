// Package bench compares the handler with Caddy's own alternatives. Below it are two commands. The
// command scale measures whole processes. The command generate makes the tables of vectors for
// tests. Package fleet tests several servers while what they share breaks. It is a separate module,
// because nobody needs it to build or test shortlink.
package bench
