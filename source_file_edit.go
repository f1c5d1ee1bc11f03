package shortlink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/caddy-shortlink/shortlink/rulefile"
)

// Writable returns why the file cannot be edited, or nil.
func (s *FileSource) Writable() error { return s.content.writable() }

// Edit puts a file with the edit made in the place of the old one, or of the one that a symbolic link leads to. It has the format,
// the layout and the permissions of the old one, and its owner if Caddy may give it away.
func (s *FileSource) Edit(ctx context.Context, version string, edit rulefile.Edit) error {
	path, err := filepath.EvalSymlinks(s.path)
	if err != nil {
		return plainly(err)
	}
	lock, _ := fileEdits.LoadOrStore(path, new(sync.Mutex))
	lock.(*sync.Mutex).Lock()
	defer lock.(*sync.Mutex).Unlock()
	before, err := os.Stat(path)
	if err != nil {
		return plainly(err)
	}
	if err := s.content.unchanged(ctx, version); err != nil {
		return err
	}
	edited, err := s.editedCopy(path, before, edit)
	if err != nil {
		return err
	}
	defer os.Remove(edited) // where it has not been renamed
	after, err := os.Stat(path)
	if err != nil {
		return plainly(err)
	}
	if !isUntouched(before, after) {
		return ErrChanged
	}
	return os.Rename(edited, path)
}

// editedCopy writes the file with the edit made beside it, and returns the copy's path.
func (s *FileSource) editedCopy(path string, info os.FileInfo, edit rulefile.Edit) (string, error) {
	old, err := os.Open(path)
	if err != nil {
		return "", plainly(err)
	}
	defer old.Close()
	edited, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return "", fmt.Errorf("no file can be made beside it: %w", plainly(err))
	}
	giveTo(edited.Name(), info)
	err = errors.Join(
		edited.Chmod(info.Mode().Perm()),
		s.write(edited, old, edit),
		edited.Close(),
	)
	if err != nil {
		return "", errors.Join(err, os.Remove(edited.Name()))
	}
	return edited.Name(), nil
}

// write writes the old file with the edit made, and reads back what it has written.
func (s *FileSource) write(edited, old *os.File, edit rulefile.Edit) error {
	if err := edit.Apply(edited, old, s.content.format, s.path); err != nil {
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
	return edit.Verify(old, edited, s.content.format, s.path)
}

// Interface guard
var _ Writable = (*FileSource)(nil)
