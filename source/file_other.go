//go:build !linux && !darwin

package source

import (
	"errors"
	"io/fs"
	"time"
)

// fileTimes returns zero times, as they are not known here.
func fileTimes(string, fs.FileInfo) (changed, made time.Time) { return changed, made }

// isMountPoint is false, as files are not mounted by themselves here.
func isMountPoint(string) bool { return false }

// exchange is not to be had here.
func exchange(_, _ string) error { return errors.ErrUnsupported }
