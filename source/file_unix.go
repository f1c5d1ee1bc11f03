//go:build unix

package source

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// openAtOnce keeps open from waiting for the other end of a pipe.
const openAtOnce = unix.O_NONBLOCK

// chown sets the owner and the group of a file to those of another, as far as Caddy may.
func chown(path string, info fs.FileInfo) {
	if owner, ok := info.Sys().(*syscall.Stat_t); ok {
		if os.Chown(path, int(owner.Uid), int(owner.Gid)) != nil {
			_ = os.Chown(path, -1, int(owner.Gid)) // a user may set a group of its own
		}
	}
}

// lockFile waits until no other process edits a file. It locks the file itself: a lock file beside
// it would be left there, and be another one if the file is mounted elsewhere, too.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	for {
		file, err := openRegular(path)
		if err != nil {
			return nil, err
		}
		unlock = func() { file.Close() }
		if tryLock(file) && isAt(file, path) {
			return unlock, nil
		}
		unlock()
		select {
		case <-time.After(5 * time.Millisecond): // flock cannot wait with a deadline
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// tryLock locks a file until it is closed, and reports whether no other process holds the lock. On
// a file system without locks, nobody does.
func tryLock(file *os.File) bool {
	return !errors.Is(unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK)
}

// isAt reports whether the file at a path is still this one.
func isAt(file *os.File, path string) bool {
	opened, inFile := file.Stat()
	now, inPath := os.Stat(path)
	return inFile == nil && inPath == nil && os.SameFile(opened, now)
}

// writableDirectory returns why no file can be created in a directory, or nil.
func writableDirectory(path string) error { return unix.Access(path, unix.W_OK|unix.X_OK) }
