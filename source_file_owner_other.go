//go:build !unix

package shortlink

import "io/fs"

// giveTo does nothing, as files have no owners of this kind here.
func giveTo(string, fs.FileInfo) {}
