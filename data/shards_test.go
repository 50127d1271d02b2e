package data_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
)

// zippedShard writes files into a gzipped tar, and returns its bytes.
func zippedShard(t *testing.T, files map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, name := range namesOf(files) {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(files[name]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(files[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestZippedShards checks that gzipped shards have the same samples as shards that are not gzipped.
func TestZippedShards(t *testing.T) {
	dir, files := t.TempDir(), photos(t, 3)
	t.Setenv("TMPDIR", filepath.Join(dir, "tmp"))
	writeFiles(t, dir, map[string][]byte{"tmp/x": nil, "shards/a.tgz": zippedShard(t, files)})
	writeFiles(t, filepath.Join(dir, "set"), files)
	var sums [2]string
	for i, spec := range []string{"folder:" + dir + "/set", "wds:" + dir + "/shards"} {
		src, err := data.Open(t.Context(), spec, data.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if sums[i], err = src.Fingerprint(t.Context()); err != nil {
			t.Error(err)
		}
		if err := src.Close(); err != nil {
			t.Error(err)
		}
	}
	if sums[0] != sums[1] {
		t.Errorf("the fingerprints are %q", sums)
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "tmp")); len(left) != 1 {
		t.Errorf("%d files are left", len(left)-1)
	}
}

// TestBadZippedShards checks that gzipped shards are refused if they are truncated or damaged, or unpack to
// much more data than usual.
func TestBadZippedShards(t *testing.T) {
	good := zippedShard(t, photos(t, 3))
	damaged := bytes.Clone(good)
	damaged[len(damaged)-6] ^= 1 // changes the CRC-32
	for text, b := range map[string][]byte{
		"200 times its size":         zippedShard(t, map[string][]byte{"cat/a.png": make([]byte, 128<<20)}),
		"unexpected EOF":             good[:len(good)/2],
		"invalid checksum":           damaged,
		"neither a .tar nor":         []byte("a text that is no archive"),
		"leads out of the archive":   zippedShard(t, map[string][]byte{"../a.png": {1}}),
		"there is no picture in the": zippedShard(t, map[string][]byte{"a.txt": {1}}),
	} {
		file := filepath.Join(t.TempDir(), "s.tar.gz")
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := data.Open(t.Context(), "wds:"+file, data.Options{})
		if err == nil || !strings.Contains(fmt.Sprint(err), text) {
			t.Errorf("error %v; want %q", err, text)
		}
	}
}
