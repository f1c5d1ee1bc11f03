package shortlink

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/caddy-shortlink/shortlink/rulefile"
)

// errSigned is why signed content is not written to: only the holder of the key can sign it anew.
var errSigned = errors.New("it is signed, so whoever edits it has to sign it, too")

// Writable returns why the file cannot be edited, or nil.
func (s *FileSource) Writable() error {
	if s.content.publicKey != nil {
		return errSigned
	}
	return nil
}

// Edit puts a file with the edit made in the place of the old one, or of the one that a symbolic link leads to. It has the format,
// the layout and the permissions of the old one.
func (s *FileSource) Edit(ctx context.Context, version string, edit rulefile.Edit) error {
	path, err := filepath.EvalSymlinks(s.path)
	if err != nil {
		return plainly(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		return plainly(err)
	}
	now, err := s.content.readAll(ctx, nil, func(*reading, companions) {})
	if err != nil {
		return err
	}
	if now != version {
		return ErrChanged
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
	if !os.SameFile(before, after) || before.Size() != after.Size() || !before.ModTime().Equal(after.ModTime()) {
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
	err = errors.Join(
		edited.Chmod(info.Mode().Perm()),
		edit.Apply(edited, old, s.content.format, s.path),
		edited.Sync(),
		edited.Close(),
	)
	if err != nil {
		return "", errors.Join(err, os.Remove(edited.Name()))
	}
	return edited.Name(), nil
}

// Interface guard
var _ Writable = (*FileSource)(nil)
