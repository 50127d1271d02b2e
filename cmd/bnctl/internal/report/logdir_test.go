package report

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"
)

// If the disk of --log-dir is full, the run starts nevertheless. If the folder cannot be written, it does
// not.
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
