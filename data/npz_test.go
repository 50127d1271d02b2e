package data

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// npzFile writes arrays as numpy.savez_compressed does.
func npzFile(t *testing.T, arrays ...Named) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, a := range arrays {
		w, err := z.Create(a.Name)
		if err == nil {
			err = WriteNPY(w, a.Array)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return write(t, "x.npz", b.Bytes())
}

func TestReadNPZFile(t *testing.T) {
	x, y := tensor.Of([]float32{1, 2, 3, 4}, 2, 2), tensor.Of([]int64{5})
	path := npzFile(t, Named{"image.npy", x}, Named{"a/rate.npy", y})
	all, err := ReadNPZFile(path, nil)
	if err != nil || len(all) != 2 || all[0].Name != "image" || all[1].Name != "a/rate" ||
		!tensor.Equal(all[0].Array, x) || !tensor.Equal(all[1].Array, y) {
		t.Errorf("%v, %v", all, err)
	}
	one, err := ReadNPZFile(path, func(name string) bool { return name == "image" })
	if err != nil || len(one) != 1 {
		t.Errorf("%v, %v", one, err)
	}
}

func TestReadNPZFileBad(t *testing.T) {
	x := tensor.Of(make([]float32, 4000), 4000)
	good, err := os.ReadFile(npzFile(t, Named{"x.npy", x}))
	if err != nil {
		t.Fatal(err)
	}
	other := bytes.Clone(good) // the directory has another checksum
	at := bytes.LastIndex(other, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(other[at+16:], binary.LittleEndian.Uint32(other[at+16:])^1)
	none := bytes.Clone(good) // the checksum in the directory is 0, which archive/zip does not compare
	binary.LittleEndian.PutUint32(none[at+16:], 0)
	for _, c := range []struct {
		name  string
		file  []byte
		wants []string
	}{
		{"text", []byte("hello"), []string{"x.npz", "no .npz file", "numpy.savez"}},
		{"cut", good[:len(good)-30], []string{"x.npz"}},
		{"checksum", other, []string{"x.npz:x", "checksum differs"}},
		{"no checksum", none, []string{"x.npz:x", "checksum differs"}},
	} {
		_, err := ReadNPZFile(write(t, "x.npz", c.file), nil)
		t.Run(c.name, func(t *testing.T) { wantError(t, err, c.wants...) })
	}
	_, err = ReadNPZFile(npzFile(t, Named{"x.txt", x}), nil)
	wantError(t, err, `"x.txt" is in it`)
	_, err = ReadNPZFile(filepath.Join(t.TempDir(), "x.npz"), nil)
	wantError(t, err, "no such file")
}

func TestFromArray(t *testing.T) {
	src, err := FromArray("arrays", "x.npz", tensor.Of([]float32{1, 2, 3, 4}, 2, 2))
	if err != nil {
		t.Fatal(err)
	}
	row, err := src.Sample(t.Context(), 1)
	if err != nil || row.F32()[0] != 3 || src.Name(1) != "x.npz:1" || src.Info().Kind != "arrays" {
		t.Errorf("%v %s %v, %v", row, src.Name(1), src.Info(), err)
	}
}
