// Package command is the command "caddy shortlink". Some of its commands read a configuration of
// Caddy or files of rules, without a running Caddy: an input opens them, and hands on handlers that
// are [Found]. The others ask a running Caddy through its admin endpoint: they are online, and talk
// to a remote. The package imports internal/admin and internal/live. What stands in a configuration
// only the package of the handler knows, which it reaches as [Configurations].
package command
