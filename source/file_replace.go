package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// ReplaceFile replaces the file at a path, or the one that a symbolic link leads to, as an edit
// does: atomically, synced, with the permissions of the old file, and while nobody edits it. If
// there is none, it creates one, but not for a link that leads nowhere. After an error, which may
// be one of write, nothing has changed.
func ReplaceFile(ctx context.Context, path string, write func(io.Writer) error) error {
	target, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := checkAbsent(path); err != nil {
			return err
		}
		return putFile(path, nil, write)
	case err != nil:
		return plainly(err)
	}
	if err := checkReplaceable(target); err != nil {
		return err
	}
	unlock, err := lockForEdit(ctx, target)
	if err != nil {
		return err
	}
	defer unlock()
	old, err := stateOfFile(target)
	if err != nil {
		return err
	}
	return putFile(target, old, write)
}

// checkAbsent returns an error if a path leads to no file but exists: a link to nothing, or to a
// pipe without a path, as /dev/stdout can be.
func checkAbsent(path string) error {
	if info, err := os.Stat(path); err == nil {
		return checkRegular(info)
	}
	if _, err := os.Lstat(path); err == nil {
		return errors.New("it is a symbolic link to a missing file; create that, or remove the link")
	}
	return nil
}

// putFile writes a file beside the one at a path, whose state is nil if there is none, and replaces
// that.
func putFile(path string, old *fileState, write func(io.Writer) error) error {
	file, err := createBeside(path, old)
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // already renamed, or worthless
	if err = write(file); err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	syncDirectory(filepath.Dir(path))
	return nil
}

// createBeside creates an empty file beside the one at a path, with its permissions and, if
// allowed, its owner; if old is nil, with those of a new file.
func createBeside(path string, old *fileState) (*os.File, error) {
	mode := fs.FileMode(0o666)
	if old != nil {
		mode = 0o600 // until it gets its own
	}
	name := fmt.Sprint(".", filepath.Base(path), editedMark, rand.Uint64())
	file, err := os.OpenFile(filepath.Join(filepath.Dir(path), name),
		os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, fmt.Errorf("no file can be created beside it: %w", plainly(err))
	}
	if old == nil {
		return file, nil
	}
	chown(file.Name(), old)
	if err := file.Chmod(old.Mode().Perm()); err != nil {
		return nil, errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	return file, nil
}
