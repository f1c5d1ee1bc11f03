//go:build !unix

package source

import (
	"context"
	"io/fs"
)

// openAtOnce is not needed: there are no named pipes among files here.
const openAtOnce = 0

// chown does nothing: files have no such owners here.
func chown(string, fs.FileInfo) {}

// lockFile does nothing: a file that is open, as it is while it is locked, cannot be replaced here.
func lockFile(context.Context, string) (unlock func(), err error) { return func() {}, nil }

// writableDirectory returns nil: only an edit finds out.
func writableDirectory(string) error { return nil }
