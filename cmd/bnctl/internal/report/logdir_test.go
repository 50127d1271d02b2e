package report

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"
)

// A full disk under --log-dir does not keep a run from starting; a folder
// that cannot be written does.
func TestDiskFull(t *testing.T) {
	for err, want := range map[error]bool{
		&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}: true,
		&fs.PathError{Op: "mkdir", Path: "x", Err: syscall.EDQUOT}: true,
		&fs.PathError{Op: "mkdir", Path: "x", Err: syscall.EACCES}: false,
		errors.New("disk full"): false,
	} {
		if got := diskFull(err); got != want {
			t.Errorf("diskFull(%v) = %v", err, got)
		}
	}
}
