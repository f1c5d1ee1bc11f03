package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// answerLimit is how long a file system may take to answer.
const answerLimit = 5 * time.Second

// fileState is a file's metadata.
type fileState struct {
	fs.FileInfo
	// changed is when anything of it was changed, and made when it was created; zero if the system
	// does not know.
	changed, made time.Time
}

// stateOfFile returns the metadata of the file at a path, following symbolic links.
func stateOfFile(path string) (*fileState, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, plainly(err)
	}
	changed, made := fileTimes(path, info)
	return &fileState{info, changed, made}, nil
}

// isSameFile reports whether both are one file. A new file may have the inode of a removed one.
func isSameFile(a, b *fileState) bool {
	return os.SameFile(a.FileInfo, b.FileInfo) && a.made.Equal(b.made)
}

// hasSameContent reports whether both are one file and nobody has written to it, as far as metadata
// tell. A rename counts as a change.
func hasSameContent(before, after *fileState) bool {
	return isSameFile(before, after) && before.Size() == after.Size() &&
		before.ModTime().Equal(after.ModTime())
}

// isUntouched reports whether nothing at all has happened to a file, as far as metadata tell.
func isUntouched(before, after *fileState) bool {
	return hasSameContent(before, after) && before.changed.Equal(after.changed)
}

// unsteady is the error of a file that is being written or replaced: another try may succeed.
type unsteady string

const (
	changedWhileRead unsteady = "it changed while it was read"
	beingWritten     unsteady = "it is being written; it is read a second after its last change"
	beingEdited      unsteady = "somebody else is editing it; try again"
)

// Error says what is going on.
func (u unsteady) Error() string { return string(u) }

// Is reports that another try may succeed.
func (unsteady) Is(target error) bool {
	return target == ErrBeingWritten || target == ErrUnavailable
}

// maxRules is the maximum size of a rule file. It is read as a stream, and the compiled rules have
// a limit of their own.
const maxRules = 4 << 30

var errLongRules = errors.New("it is longer than 4 GiB")

// open calls use with the file. A file that changes meanwhile is an error.
func (s *File) open(ctx context.Context, use func(io.Reader) error) error {
	return s.openAt(ctx, s.path, use)
}

// openAt is open for the file at a path: the source's, or where a symbolic link there leads.
func (s *File) openAt(ctx context.Context, path string, use func(io.Reader) error) error {
	before, err := s.stat(ctx, path)
	if err != nil {
		return s.withPath(err)
	}
	if stood := s.stood.Load(); stood != nil && s.isBeingWritten(stood, before) {
		return beingWritten
	}
	if before.Size() > maxRules {
		return errLongRules
	}
	open := func(context.Context) (*os.File, error) { return openRegular(path) }
	file, err := callBounded(ctx, s.calls, open)
	if err != nil {
		return s.withPath(err)
	}
	defer file.Close()
	check := func() error { return s.checkUntouched(ctx, path, before) }
	bounded := newBoundedReader(ctx, s.calls, file)
	if err := use(&steadyReader{r: bounded, check: check}); err != nil {
		return plainly(err)
	}
	if err := check(); err != nil {
		return err
	}
	s.stood.Store(before)
	return nil
}

// checkUntouched returns an error if the file at a path has changed.
func (s *File) checkUntouched(ctx context.Context, path string, before *fileState) error {
	now, err := s.stat(ctx, path)
	if err != nil {
		return s.withPath(err)
	}
	if !isUntouched(before, now) {
		return changedWhileRead
	}
	return nil
}

// steadyReader reads a file, and checks now and then that it has not been replaced: a large file
// that was is not read to its end.
type steadyReader struct {
	r         io.Reader
	check     func() error
	unchecked int // bytes read since the last check
}

// lookEvery is after how many bytes a steadyReader checks.
const lookEvery = 16 << 20

// Read reads from the file.
func (s *steadyReader) Read(p []byte) (int, error) {
	if s.unchecked >= lookEvery {
		if err := s.check(); err != nil {
			return 0, err
		}
		s.unchecked = 0
	}
	n, err := s.r.Read(p)
	s.unchecked += n
	return n, err
}

func (s *File) stat(ctx context.Context, path string) (*fileState, error) {
	stat := func(context.Context) (*fileState, error) { return stateOfFile(path) }
	return callBounded(ctx, s.calls, stat)
}

// withPath adds the absolute path to an error if the source's name lacks it.
func (s *File) withPath(err error) error {
	if s.name == s.path {
		return err
	}
	return fmt.Errorf("%s: %w", printable.Text(s.path), err)
}

// openRegular opens a file that is no directory, device or pipe. Those may have no end, or block
// every reader. They are not even opened, unless one replaces the file at that very moment.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err == nil {
		err = checkRegular(info)
	}
	if err != nil {
		return nil, plainly(err)
	}
	file, err := os.OpenFile(path, os.O_RDONLY|openAtOnce, 0)
	if err != nil {
		return nil, plainly(err)
	}
	if info, err = file.Stat(); err == nil {
		err = checkRegular(info)
	}
	if err != nil {
		return nil, errors.Join(plainly(err), file.Close())
	}
	return file, nil
}

func checkRegular(info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return errors.New("it is a directory, not a file")
	}
	return errors.New("it is a device or pipe, not a file")
}

// readRegular reads a file as a whole, in bounded time.
func readRegular(ctx context.Context, calls *boundedCalls, path string) ([]byte, error) {
	return callBounded(ctx, calls, func(context.Context) ([]byte, error) {
		file, err := openRegular(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			return nil, plainly(err)
		}
		if info.Size() > maxBeside {
			return nil, errTooLong
		}
		content, err := readAtMost(file, info.Size())
		return content, plainly(err)
	})
}

// plainly drops the path of an error, because the source's name has it.
func plainly(err error) error {
	if inPath, ok := errors.AsType[*fs.PathError](err); ok {
		return inPath.Err
	}
	return err
}

// isBeingWritten reports whether the file was written to a moment ago, unless it is known to be
// complete. In a format without an end mark, the first half can be taken for the whole while the
// writer rests.
func (s *File) isBeingWritten(before, now *fileState) bool {
	if s.content.format == rulefile.JSON || now == nil ||
		time.Since(now.ModTime()).Abs() >= writerRests {
		return false
	}
	return before == nil || isSameFile(before, now) && !before.ModTime().Equal(now.ModTime())
}

// writerRests is the longest expected pause of a program that writes a file in place.
const writerRests = time.Second
