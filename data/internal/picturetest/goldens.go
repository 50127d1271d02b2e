package picturetest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"testing"
)

// Goldens reads an archive that testdata/jpeg.py made. It returns the picture files by name, and stores
// Pillow's results for them in results.
func Goldens(t testing.TB, archive string, results any) map[string][]byte {
	t.Helper()
	packed, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		b, err2 := io.ReadAll(r)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		files[h.Name] = b
	}
	if err := json.Unmarshal(files["pixels.json"], results); err != nil {
		t.Fatal(err)
	}
	delete(files, "pixels.json")
	return files
}

// DigestOf returns the digest of pixels. jpeg.py writes digests in the same form.
func DigestOf(pixels []byte) string {
	sum := sha256.Sum256(pixels)
	return hex.EncodeToString(sum[:8])
}
