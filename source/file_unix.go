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

// openAtOnce keeps the opening of a file from waiting for the other end of a pipe.
const openAtOnce = unix.O_NONBLOCK

// chown gives a file the owner and the group of another, as far as Caddy may.
func chown(path string, info fs.FileInfo) {
	if owner, ok := info.Sys().(*syscall.Stat_t); ok {
		if os.Chown(path, int(owner.Uid), int(owner.Gid)) != nil {
			_ = os.Chown(path, -1, int(owner.Gid)) // a group of its own, a user may give it to
		}
	}
}

// lockFile waits until no other process edits a file. It locks the file itself: one beside it would
// be left there, and be another one where the file is mounted elsewhere, too.
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
		case <-time.After(5 * time.Millisecond): // to wait for a lock itself has no end
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// tryLock locks a file until it is closed, and reports whether no other process holds the lock.
// Where the file system has no locks, nobody does.
func tryLock(file *os.File) bool {
	return !errors.Is(unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK)
}

// isAt reports whether a file has not been replaced at its path.
func isAt(file *os.File, path string) bool {
	opened, inFile := file.Stat()
	now, inPath := os.Stat(path)
	return inFile == nil && inPath == nil && os.SameFile(opened, now)
}

// writableDirectory returns why no file can be made in a directory, or nil.
func writableDirectory(path string) error { return unix.Access(path, unix.W_OK|unix.X_OK) }
