package source

import (
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// fileTimes returns when a file was last changed in any way, and when it was created. Times that
// the system does not know are zero.
func fileTimes(path string, info fs.FileInfo) (changed, made time.Time) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		changed = time.Unix(stat.Ctim.Unix())
	}
	if stat := statx(path); stat.Mask&unix.STATX_BTIME != 0 {
		made = time.Unix(stat.Btime.Sec, int64(stat.Btime.Nsec))
	}
	return changed, made
}

// isMountPoint reports whether a file is mounted by itself, as in containers.
func isMountPoint(path string) bool {
	return statx(path).Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
}

func statx(path string) (stat unix.Statx_t) {
	_ = unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_BTIME, &stat) // all zero if there is none
	return stat
}

// exchange swaps two files atomically.
func exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}
