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

// checkReplaceable returns why no other file can take the place of the one at a path, or nil.
func checkReplaceable(path string) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ErrUnavailable
	}
	if isMountPoint(path) {
		return errors.New("it is mounted by itself, so that no other file can take its place; " +
			"mount its directory instead")
	}
	if err := writableDirectory(filepath.Dir(path)); err != nil {
		return fmt.Errorf("no file can be made beside it: %w", err)
	}
	return nil
}

// Edit puts a file with the edit made in the place of the old one, or of the one that a symbolic
// link leads to. It has the format, the layout and the permissions of the old one, and its owner if
// Caddy may give it away. Of several that edit the file at once, in this process and others, each
// waits for the ones before.
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
	w, err := s.content.planRewrite(ctx, s.content.read, version, edit)
	if err != nil {
		return "", err
	}
	edited, err := editedCopy(w, path, before)
	if err != nil {
		return "", err
	}
	defer os.Remove(edited) // which is the old file, once they have changed places
	newVersion, err = w.place(func() error { return s.replace(path, before, edited) })
	if err == nil {
		s.expected = w.expected
		syncDirectory(filepath.Dir(path))
	}
	return newVersion, err
}

// replace puts an edited copy in the place of the file at a path, if nothing has happened to that.
func (s *File) replace(path string, old *fileState, edited string) error {
	now, err := stateOfFile(path)
	if err != nil {
		return err
	}
	if !isUntouched(old, now) {
		return ErrChanged
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

// syncDirectory lets a file that has been put into a directory survive a crash. Not every system
// can do that, and the file is there for all who look.
func syncDirectory(path string) {
	if directory, err := os.Open(path); err == nil {
		_ = directory.Sync()
		_ = directory.Close()
	}
}

// putInPlace lets an edited file change places with the one at a path, of which it is a copy. A
// file that somebody who takes no locks has put there in between goes back.
func putInPlace(edited, path string, old *fileState, exchange func(a, b string) error) error {
	placed, err := stateOfFile(edited)
	if err != nil {
		return err
	}
	switch err := exchange(edited, path); {
	case errors.Is(err, fs.ErrNotExist):
		return ErrChanged
	case err != nil:
		return os.Rename(edited, path) // here nobody can know what was replaced
	}
	out, err := stateOfFile(edited)
	for err == nil && !hasSameContent(old, out) { // out is newer than what has been placed
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

// fileEdits are the locks of files that are being edited, by path: several handlers can have rules
// from one. They are never removed, as there are no more than files in configurations.
var fileEdits sync.Map

// lockLimit is how long an edit waits for others. Caddy's file storage takes ten seconds to see
// that the one who holds a lock has been killed.
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

// editedMark stands in the names of files that are made beside another to take its place, between
// its own and a number.
const editedMark = ".edit-"

// removeLeftovers removes the files beside it that processes have left which were killed. Where it
// cannot, they do no harm.
func (s *File) removeLeftovers(ctx context.Context) {
	path, err := filepath.EvalSymlinks(s.path)
	if err != nil {
		return
	}
	unlock, err := lockForEdit(ctx, path)
	if err != nil {
		return
	}
	defer unlock() // until then nobody is at work on a copy
	directory, name := filepath.Split(path)
	entries, _ := os.ReadDir(directory)
	for _, entry := range entries {
		number, is := strings.CutPrefix(entry.Name(), "."+name+editedMark)
		if is && strings.Trim(number, "0123456789") == "" {
			_ = os.Remove(filepath.Join(directory, entry.Name()))
		}
	}
}

// editedCopy writes the file with the edit made beside it, and returns the copy's path.
func editedCopy(w *rewrite, path string, old *fileState) (string, error) {
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

// writeAndCheck writes the old file with the edit made, and reads back what it has written, while
// that goes to the disk.
func writeAndCheck(w *rewrite, edited, old *os.File) error {
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
