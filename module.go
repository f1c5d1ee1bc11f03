// Package shortlink is a Caddy HTTP handler that resolves short keys to URLs.
package shortlink
