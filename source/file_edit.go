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
func (s *File) Edit(ctx context.Context, version string, edit rulefile.Edit) error {
	path, err := filepath.EvalSymlinks(s.path)
	if err != nil {
		return plainly(err)
	}
	unlock, err := lockForEdit(ctx, path)
	if err != nil {
		return err
	}
	defer unlock()
	before, err := stateOfFile(path)
	if err != nil {
		return err
	}
	if err := s.content.unchanged(ctx, version); errors.Is(err, ErrBeingWritten) {
		return ErrChanged
	} else if err != nil {
		return err
	}
	edited, err := s.editedCopy(path, before, edit)
	if err != nil {
		return err
	}
	defer os.Remove(edited) // which is the old file, once they have changed places
	after, err := stateOfFile(path)
	if err != nil {
		return err
	}
	if !isUntouched(before, after) {
		return ErrChanged
	}
	return putInPlace(edited, path, before, exchange)
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

// editedMark stands in the names of edited copies, between the file's own and a number.
const editedMark = ".edit-"

// removeLeftovers removes the edited copies that processes have left which were killed. Where it
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
func (s *File) editedCopy(path string, old *fileState, edit rulefile.Edit) (string, error) {
	content, err := openRegular(path)
	if err != nil {
		return "", err
	}
	defer content.Close()
	edited, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+editedMark)
	if err != nil {
		return "", fmt.Errorf("%w: no file can be made beside it: %w", ErrNotWritable, plainly(err))
	}
	chown(edited.Name(), old)
	err = errors.Join(
		edited.Chmod(old.Mode().Perm()),
		s.write(edited, content, edit),
		edited.Close(),
	)
	if err != nil {
		return "", errors.Join(err, os.Remove(edited.Name()))
	}
	return edited.Name(), nil
}

// write writes the old file with the edit made, and reads back what it has written.
func (s *File) write(edited, old *os.File, edit rulefile.Edit) error {
	edit.Reading = s.content.reading
	if err := edit.Apply(edited, old, s.content.format, s.name); err != nil {
		return err
	}
	if err := edited.Sync(); err != nil {
		return err
	}
	for _, file := range []*os.File{old, edited} {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
	}
	return edit.Verify(old, edited, s.content.format, s.name)
}

// Interface guard
var _ Writable = (*File)(nil)
