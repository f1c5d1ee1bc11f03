//go:build !linux && !darwin

package source

import (
	"errors"
	"io/fs"
	"time"
)

// fileTimes returns zero times, which are not known here.
func fileTimes(string, fs.FileInfo) (changed, made time.Time) { return changed, made }

// isMountPoint returns false: single files cannot be mounted here.
func isMountPoint(string) bool { return false }

// exchange is not supported here.
func exchange(_, _ string) error { return errors.ErrUnsupported }
