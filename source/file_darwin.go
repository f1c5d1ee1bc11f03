package source

import (
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// fileTimes returns when a file was last changed in any way, and when it was created.
func fileTimes(_ string, info fs.FileInfo) (changed, made time.Time) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		changed = time.Unix(stat.Ctimespec.Unix())
		made = time.Unix(stat.Birthtimespec.Unix())
	}
	return changed, made
}

// isMountPoint returns false: single files cannot be mounted here.
func isMountPoint(string) bool { return false }

// exchange swaps two files atomically.
func exchange(a, b string) error { return unix.RenamexNp(a, b, unix.RENAME_SWAP) }
