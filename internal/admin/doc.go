// Package admin is the admin endpoint: what runs, where URLs lead and why, hits, and edits of
// rules, below /shortlink/ at Caddy's admin address. Importing it registers the module. [API]
// translates between HTTP and package internal/live, which it imports. The commands for a running
// Caddy use it.
package admin
