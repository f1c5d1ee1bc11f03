// Package command is the command "caddy shortlink". Offline commands read a configuration of Caddy
// or files of rules without a running Caddy: an input opens them, and returns each handler as a
// [ConfigHandler]. Online commands ask a running Caddy, a remote, through its admin endpoint. The
// package imports internal/admin and internal/live. Only the handler's package understands
// configurations; it is available as [Configurations].
package command
