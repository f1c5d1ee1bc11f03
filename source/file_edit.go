package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/caddy-shortlink/shortlink/rulefile"
)

// Writable returns why the file cannot be edited, or nil. A file that cannot be read now may be
// edited later.
func (s *File) Writable() error {
	if err := s.content.writable(); err != nil {
		return err
	}
	check := func(context.Context) error { return checkReplaceable(s.path) }
	err := doBounded(context.Background(), s.calls, check)
	if errors.Is(err, ErrUnavailable) {
		return nil
	}
	return err
}

// checkReplaceable returns why the file at a path cannot be replaced, or nil.
func checkReplaceable(path string) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ErrUnavailable
	}
	if isMountPoint(path) {
		return errors.New("it is mounted by itself, so it cannot be replaced; " +
			"mount its directory instead")
	}
	if err := writableDirectory(filepath.Dir(path)); err != nil {
		return fmt.Errorf("no file can be created beside it: %w", err)
	}
	return nil
}

// Edit replaces the file, or the one that a symbolic link leads to, with an edited copy. The copy
// keeps the format, the layout and the permissions, and the owner if Caddy may set it. Concurrent
// edits, in this process and others, wait for each other.
func (s *File) Edit(
	ctx context.Context, version string, edit rulefile.Edit,
) (newVersion string, err error) {
	path, err := filepath.EvalSymlinks(s.path)
	if err != nil {
		return "", plainly(err)
	}
	unlock, err := lockForEdit(ctx, path)
	if err != nil {
		return "", err
	}
	defer unlock()
	before, err := stateOfFile(path)
	if err != nil {
		return "", err
	}
	read := func(ctx context.Context, use func(io.Reader) error) error {
		return s.openAt(ctx, path, use)
	}
	w, err := s.content.planEdit(ctx, read, version, edit)
	if err != nil {
		return "", err
	}
	edited, err := editedCopy(w, path, before)
	if err != nil {
		return "", err
	}
	defer os.Remove(edited) // the old file, once they are exchanged
	newVersion, err = w.install(func() error { return s.replace(path, before, edited) })
	if err == nil {
		syncDirectory(filepath.Dir(path))
	}
	return newVersion, err
}

// replace replaces the file at a path with an edited copy, if it has not changed and is still the
// source's.
func (s *File) replace(path string, old *fileState, edited string) error {
	now, err := stateOfFile(path)
	if err != nil {
		return err
	}
	if !isUntouched(old, now) {
		return ErrChanged
	}
	if target, err := filepath.EvalSymlinks(s.path); err != nil || target != path {
		return ErrChanged // a link leads elsewhere now
	}
	placed, err := stateOfFile(edited)
	if err != nil {
		return err
	}
	if err := putInPlace(edited, path, old, exchange); err != nil {
		return err
	}
	s.stood.Store(placed)
	return nil
}

// syncDirectory makes a new file in a directory survive a crash. Not every system can do that, and
// the file is visible without it.
func syncDirectory(path string) {
	if directory, err := os.Open(path); err == nil {
		_ = directory.Sync()
		_ = directory.Close()
	}
}

// putInPlace exchanges the file at a path with its edited copy. A file that somebody who takes no
// locks has put there meanwhile is put back.
func putInPlace(edited, path string, old *fileState, exchange func(a, b string) error) error {
	placed, err := stateOfFile(edited)
	if err != nil {
		return err
	}
	switch err := exchange(edited, path); {
	case errors.Is(err, fs.ErrNotExist):
		return ErrChanged
	case err != nil:
		return os.Rename(edited, path) // what was replaced is unknown here
	}
	out, err := stateOfFile(edited)
	for err == nil && !hasSameContent(old, out) { // out is newer than the edited copy
		if err := exchange(edited, path); err != nil {
			return errors.Join(err, os.Rename(edited, path))
		}
		back := out
		out, err = stateOfFile(edited)
		if err == nil && hasSameContent(placed, out) {
			return ErrChanged
		}
		placed = back
	}
	return err
}

// fileEdits are the locks of files that are being edited, by path, because several handlers can
// read one file. They are never removed, as there are no more than files in configurations.
var fileEdits sync.Map

// lockLimit is how long an edit waits for others. Caddy's file storage needs ten seconds to notice
// that a lock's holder was killed.
const lockLimit = 15 * time.Second

// lockForEdit waits until nobody else edits the file at a path, in this process or another.
func lockForEdit(ctx context.Context, path string) (unlock func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, lockLimit, beingEdited)
	defer cancel()
	inProcess, _ := fileEdits.LoadOrStore(path, make(chan struct{}, 1))
	held := inProcess.(chan struct{})
	select {
	case held <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	unlockFile, err := lockFile(ctx, path)
	if err != nil {
		<-held
		return nil, err
	}
	return func() { unlockFile(); <-held }, nil
}

// editedMark is in the names of edited copies, between the file's name and a number.
const editedMark = ".edit-"

// removeLeftovers removes the edited copies of processes that were killed. Those that it cannot
// remove do no harm.
func (s *File) removeLeftovers(ctx context.Context) {
	path, err := filepath.EvalSymlinks(s.path)
	if err != nil {
		return
	}
	unlock, err := lockForEdit(ctx, path)
	if err != nil {
		return
	}
	defer unlock() // until then nobody writes a copy
	directory, name := filepath.Split(path)
	entries, _ := os.ReadDir(directory)
	for _, entry := range entries {
		number, is := strings.CutPrefix(entry.Name(), "."+name+editedMark)
		if is && strings.Trim(number, "0123456789") == "" {
			_ = os.Remove(filepath.Join(directory, entry.Name()))
		}
	}
}

// editedCopy writes an edited copy beside the file, and returns its path.
func editedCopy(w *contentEdit, path string, old *fileState) (string, error) {
	content, err := openRegular(path)
	if err != nil {
		return "", err
	}
	defer content.Close()
	edited, err := createBeside(path, old)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNotWritable, err)
	}
	err = errors.Join(writeAndCheck(w, edited, content), edited.Close())
	if err != nil {
		return "", errors.Join(err, os.Remove(edited.Name()))
	}
	return edited.Name(), nil
}

// writeAndCheck writes the edited copy, and reads it back while it goes to the disk.
func writeAndCheck(w *contentEdit, edited, old *os.File) error {
	digest, err := w.copyTo(edited, old)
	if err != nil {
		return err
	}
	synced := make(chan error, 1)
	go func() { synced <- edited.Sync() }()
	_, err = edited.Seek(0, io.SeekStart)
	if err == nil {
		err = w.check(edited, digest)
	}
	return errors.Join(err, <-synced)
}

// Interface guard
var _ Writable = (*File)(nil)
