package source

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Containers mount single files. Only root can do so here.
func TestAFileThatIsMountedByItselfIsNotWritable(t *testing.T) {
	s := fileSource(t, "links.json", "{}")
	must(t, s.Writable())
	if err := unix.Mount(s.path, s.path, "", unix.MS_BIND, ""); err != nil {
		t.Logf("no file can be mounted: %v", err)
		return
	}
	defer unix.Unmount(s.path, 0)
	if err := s.Writable(); err == nil || !strings.Contains(err.Error(), "mount its directory") {
		t.Errorf("got %v", err)
	}
}

func TestAFileInADirectoryThatCannotBeWrittenToIsNotWritable(t *testing.T) {
	s := fileSource(t, "links.json", "{}")
	directory := filepath.Dir(s.path)
	must(t, os.Chmod(directory, 0o555))
	must(t, os.Chmod(filepath.Dir(directory), 0o755)) // which is the test's, and closed for others
	asNobody(t, func() {
		err := checkReplaceable(s.path)
		if err == nil || !strings.Contains(err.Error(), "no file can be created beside it") {
			t.Errorf("got %v", err)
		}
	})
}

// asNobody lets root, whom no permission keeps from anything, do something as another user.
func asNobody(t *testing.T, do func()) {
	t.Helper()
	if os.Getuid() != 0 {
		do()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good: the thread ends with this goroutine
		const nobody = 65534
		if _, _, err := unix.RawSyscall(unix.SYS_SETRESUID, nobody, nobody, nobody); err != 0 {
			t.Error(err)
			return
		}
		do()
	}()
	<-done
}
