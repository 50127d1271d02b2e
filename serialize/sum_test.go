package serialize

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// TestSumOf compares sums made in pieces with the sum of the whole.
func TestSumOf(t *testing.T) {
	b := make([]byte, 200<<10)
	for i := range b {
		b[i] = byte(i * i >> 3)
	}
	for _, n := range []int{0, 1, 64<<10 - 1, 64 << 10, 64<<10 + 1, 128 << 10, 200 << 10} {
		want := sha256.Sum256(b[:n])
		if !bytes.Equal(sumOf(b[:n]), want[:]) {
			t.Errorf("the sum of %d bytes is not their SHA-256", n)
		}
	}
}

// The header's sum covers the 16 bytes before it too: docs/format.md.
func TestHeaderSum(t *testing.T) {
	b := fileOf(t)
	_, body, err := readStart(b)
	if err != nil {
		t.Fatal(err)
	}
	want := sha256.Sum256(append(bytes.Clone(b[:16]), body...))
	if !bytes.Equal(b[16:48], want[:]) {
		t.Error("bytes 16 to 47 are not the SHA-256 of the 16 before them and the header")
	}
}

// TestBytesOfAFile compares the bytes of files with those of earlier builds: a new sum here means a
// new container.
func TestBytesOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.bnc")
	if err := WriteCheckpoint(path, tinyCheckpoint(t)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"template":   {fileOf(t), "ac318872080e447da596c7184b796885cb5a37fd2783bc5ba69be839ec4cf292"},
		"checkpoint": {read(t, path), "14a9777e40bc9330fcac3d226ce5abb4ec87e2d5c6acd30a8ce168b14b7cbb4c"},
	} {
		if got := hex.EncodeToString(sumOf(c.file)); got != c.want {
			t.Errorf("%s: SHA-256 %s, want %s", name, got, c.want)
		}
	}
}

// A file may end with the header, without padding, or with an empty tensor. The reader must
// not miss any bytes then.
func TestNothingIsMissing(t *testing.T) {
	for n := range alignment {
		var file bytes.Buffer
		write, err := container(Template, &header{Architecture: fmt.Sprintf("%*s", n+1, "x")}, nil)
		if err == nil {
			err = write(&file)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, _, _, err := readWhole(file.Bytes()); err != nil {
			t.Errorf("without tensors: %v", err)
		}
	}
	c := tinyCheckpoint(t)
	c.Sets = append(c.Sets, Set{Name: "last", Tensors: map[string]tensor.Tensor{"z": tensor.New(tensor.F32, 0)}})
	path := filepath.Join(t.TempDir(), "c.bnc")
	if err := WriteCheckpoint(path, c); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadCheckpoint(path); err != nil {
		t.Errorf("with an empty tensor at the end: %v", err)
	}
}

// A header that no reader would accept is not written.
func TestHeaderThatIsTooLong(t *testing.T) {
	m := tinyModel(t)
	m.Recipe = append(append([]byte(`{"seed":"`), bytes.Repeat([]byte("1"), maxHeader)...), `"}`...)
	if sum, err := WriteModel(filepath.Join(t.TempDir(), "m.bnm"), m); err == nil {
		t.Errorf("written, %s", sum)
	}
}

// TestWriteSummed compares the sums computed during writing with the sums of the files, for writes
// of all sizes. After an error there is neither sum nor file.
func TestWriteSummed(t *testing.T) {
	for _, sizes := range [][]int{nil, {0}, {1}, {sumPiece}, {sumPiece - 1, 1, 1}, {7, 3*sumPiece + 5, 9},
		{9 * sumPiece}, {(2*sumPieces + 1) * sumPiece}} {
		path := filepath.Join(t.TempDir(), "file")
		var want []byte
		sum, err := WriteSummed(path, func(w io.Writer) error {
			for i, n := range sizes {
				part := bytes.Repeat([]byte{byte(i + 1)}, n)
				want = append(want, part...)
				if _, err := w.Write(part); err != nil {
					return err
				}
				clear(part) // the caller may reuse its memory
			}
			return nil
		})
		got, readErr := os.ReadFile(path)
		of := fmt.Sprintf("%x", sha256.Sum256(want))
		if err != nil || readErr != nil || !bytes.Equal(got, want) || sum != of {
			t.Errorf("writes of %v: %d bytes, %v, %v; the sum is %s", sizes, len(got), err, readErr, sum)
		}
	}
	path := filepath.Join(t.TempDir(), "file")
	sum, err := WriteSummed(path, func(w io.Writer) error {
		_, err := w.Write(make([]byte, 5*sumPiece))
		return errors.Join(err, io.ErrUnexpectedEOF)
	})
	_, stat := os.Stat(path)
	if sum != "" || !errors.Is(err, io.ErrUnexpectedEOF) || !errors.Is(stat, os.ErrNotExist) {
		t.Errorf("sum %q, %v, the file: %v", sum, err, stat)
	}
}
