package data

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
)

// An archive that is truncated anywhere, even in its trailer, is refused. So is an archive with a wrong
// checksum.
func TestCutArchives(t *testing.T) {
	var files []file
	for _, name := range []string{"a/1.txt", "b/2.txt", "b/3.txt"} {
		files = append(files, file{name, bytes.Repeat([]byte(name), 200)})
	}
	read := func(content []byte) error {
		path := filepath.Join(t.TempDir(), "archive")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		tree, err := openTree(t.Context(), path, func(string) bool { return true })
		if err != nil {
			return err
		}
		defer tree.close()
		for _, m := range tree.members {
			if _, err := m.read(); err != nil {
				return err
			}
		}
		return nil
	}
	tarred := tarOf(t, files)
	for kind, whole := range map[string][]byte{"tar": tarred, "tar.gz": gzipped(t, tarred), "zip": zipOf(t, files)} {
		if err := read(whole); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		end := len(whole)
		if kind == "tar" {
			end -= 1024 // without the two final blocks of zeros; one of them is enough
		}
		for cut := range end {
			if read(whole[:cut]) == nil {
				t.Errorf("%s: %d of %d bytes are accepted", kind, cut, len(whole))
			}
		}
	}
	zipped := zipOf(t, files)
	for _, sum := range []uint32{0, 1} { // checksum of member 1 in the directory; archive/zip ignores 0
		changed := bytes.Clone(zipped)
		at := bytes.Index(changed, []byte("PK\x01\x02"))
		binary.LittleEndian.PutUint32(changed[at+16:], sum)
		if local := bytes.Index(changed, []byte("PK\x07\x08")); local > 0 {
			binary.LittleEndian.PutUint32(changed[local+4:], sum)
		}
		if read(changed) == nil {
			t.Errorf("a zip whose member has the sum %d is accepted", sum)
		}
	}
}

// A gzipped IDX file is refused wherever it is truncated.
func TestCutIDX(t *testing.T) {
	content := append([]byte{0, 0, 8, 2, 0, 0, 0, 9, 0, 0, 0, 7}, bytes.Repeat([]byte{1, 5, 9}, 21)...)
	whole := gzipped(t, content)
	read := func(b []byte) error {
		path := filepath.Join(t.TempDir(), "x.gz")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		_, err = readIDXFile(f)
		return err
	}
	if err := read(whole); err != nil {
		t.Fatal(err)
	}
	for cut := range whole {
		if read(whole[:cut]) == nil {
			t.Errorf("%d of %d bytes are accepted", cut, len(whole))
		}
	}
	for at := len(whole) - 8; at < len(whole); at++ {
		changed := bytes.Clone(whole)
		changed[at] ^= 1
		if read(changed) == nil {
			t.Errorf("byte %d of the trailer is not compared", at-len(whole)+8)
		}
	}
}
