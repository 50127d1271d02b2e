//go:build unix

package data

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPipe reads a picture, or an array, through a named pipe.
func TestPipe(t *testing.T) {
	array := []byte("\x93NUMPY\x01\x00\x46\x00{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1, 1, 3), }" +
		strings.Repeat(" ", 7) + "\nabc")
	array[8] = byte(len(array) - 10 - 3)
	for content, want := range map[string]string{string(pngOf(t, 4, 3, 9)): "pictures", string(array): "npy",
		"PK\x03\x04": "this is not a JPEG", "": "the file is empty"} {
		name := filepath.Join(t.TempDir(), "pipe")
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Fatal(err)
		}
		go func() {
			if f, err := os.OpenFile(name, os.O_WRONLY, 0); err == nil {
				_, _ = f.WriteString(content)
				f.Close()
			}
		}()
		src, err := OpenInputs(t.Context(), []string{name}, Options{})
		if err != nil {
			wantError(t, err, name, want)
			continue
		}
		if info := src.Info(); info.Kind != want || info.Len != 1 {
			t.Errorf("%q: %+v", want, info)
		}
		if _, err := src.Sample(t.Context(), 0); err != nil {
			t.Errorf("%q: %v", want, err)
		}
	}
}
