// Package bench measures the handler beside what Caddy itself has for the purpose. Below it are
// the command scale, which measures whole processes, and the command generate, which makes the
// tables of vectors that tests read. It is a module of its own: nobody who builds or tests
// shortlink needs it.
package bench
