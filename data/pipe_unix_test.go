//go:build unix

package data

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
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
		"PK\x03\x04": "not a valid zip file", "": "the file is empty",
		"hello": "nor a .tar, .tar.gz or .zip archive",
		archived(t, "tar", "a.png", pngOf(t, 4, 3, 9)): "pictures", archived(t, "gzip", "b/a.png", pngOf(t, 4, 3,
			9)): "pictures",
		archived(t, "zip", "a.png", pngOf(t, 4, 3, 9)): "pictures", archived(t, "tar", "a.txt",
			nil): "no pictures in it",
		archived(t, "tar", "a.png", pngOf(t, 4, 3, 9))[:540]: "member a.png: the file is cut short"} {
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

// archived returns an archive of the given kind with one file.
func archived(t *testing.T, kind, name string, content []byte) string {
	t.Helper()
	var b bytes.Buffer
	var err error
	if kind == "zip" {
		z := zip.NewWriter(&b)
		w, made := z.Create(name)
		if err = made; err == nil {
			_, err = w.Write(content)
		}
		err = errors.Join(err, z.Close())
	} else {
		var to io.Writer = &b
		end := func() error { return nil }
		if kind == "gzip" {
			packed := gzip.NewWriter(&b)
			to, end = packed, packed.Close
		}
		w := tar.NewWriter(to)
		err = w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(content))})
		_, wrong := w.Write(content)
		err = errors.Join(err, wrong, w.Close(), end())
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
