//go:build !unix

package source

import (
	"context"
	"io/fs"
)

// openAtOnce is nothing, as there are no pipes among files here.
const openAtOnce = 0

// chown does nothing, as files have no owners of this kind here.
func chown(string, fs.FileInfo) {}

// lockFile does nothing: a file that is open, as it is while it is locked, cannot be replaced here.
func lockFile(context.Context, string) (unlock func(), err error) { return func() {}, nil }

// writableDirectory does not know; an edit finds out.
func writableDirectory(string) error { return nil }
