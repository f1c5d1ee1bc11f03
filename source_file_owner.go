//go:build unix

package shortlink

import (
	"io/fs"
	"os"
	"syscall"
)

// giveTo gives a file the owner and the group of another, as far as Caddy may.
func giveTo(path string, info fs.FileInfo) {
	if owner, ok := info.Sys().(*syscall.Stat_t); ok {
		if os.Chown(path, int(owner.Uid), int(owner.Gid)) != nil {
			_ = os.Chown(path, -1, int(owner.Gid)) // a group of its own, a user may give it to
		}
	}
}
