package data

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// idxOf returns an IDX file with elements of one byte and axes of these lengths.
func idxOf(elements []byte, lengths ...uint32) []byte {
	b := []byte{0, 0, 8, byte(len(lengths))}
	for _, n := range lengths {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return append(b, elements...)
}

func TestMNIST(t *testing.T) {
	train := idxOf([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 3, 2, 2)
	dir := unpack(t, []file{
		{"train-images-idx3-ubyte", train},
		{"train-labels-idx1-ubyte.gz", gzipped(t, idxOf([]byte{7, 0, 9}, 3))},
		{"t10k-images.idx3-ubyte", idxOf([]byte{1, 2, 3, 4}, 1, 2, 2)},
		{"t10k-labels.idx1-ubyte.gz", gzipped(t, idxOf([]byte{3}, 1))},
	})
	src := open(t, "mnist:"+dir, Options{})
	info := src.Info()
	if info.Len != 3 || !slices.Equal(info.Shape, []int{2, 2, 1}) || len(info.Classes) != 10 ||
		info.Split != Train {
		t.Errorf("info = %+v", info)
	}
	sample, err := src.Sample(t.Context(), 1)
	if err != nil || !bytes.Equal(sample.Bytes, []byte{5, 6, 7, 8}) || label(t, src, 1)[0] != 0 {
		t.Errorf("sample 1 = %v %d (%v), label %d", sample, sample.Bytes, err, label(t, src, 1))
	}
	if n := open(t, "mnist:"+dir+"@test", Options{}).Info().Len; n != 1 {
		t.Errorf("%d test samples, want 1", n)
	}
}

func TestMNISTBad(t *testing.T) {
	images, labels := idxOf(make([]byte, 12), 3, 2, 2), idxOf([]byte{0, 1, 2}, 3)
	badSum := gzipped(t, images)
	badSum[len(badSum)-8] ^= 1
	for _, c := range []struct {
		name           string
		images, labels []byte
		wants          []string
	}{
		{"counts", images, idxOf([]byte{0, 1}, 2), []string{"3 images but 2 labels"}},
		{"label", images, idxOf([]byte{0, 10, 1}, 3), []string{"label 10 of image 1", "0 to 9"}},
		{"axes", idxOf(make([]byte, 3), 3), labels, []string{"images of rank 1"}},
		{"none", idxOf(nil, 0, 28, 28), idxOf(nil, 0), []string{"no images"}},
		{"empty", nil, labels, []string{"train-images-idx3-ubyte", "cut short"}},
		{"cut", images[:20], labels, []string{"train-images-idx3-ubyte", "[3 2 2]", "cut short"}},
		{"lengths cut", images[:6], labels, []string{"cut short"}},
		{"longer", append(bytes.Clone(images), 1, 2), labels, []string{"2 bytes too many"}},
		{"gigabytes", idxOf(nil, 1<<31, 1<<10, 1<<10), labels, []string{"cut short"}},
		{"overflow", idxOf(nil, 1<<31, 1<<31, 1<<31), labels, []string{"too large"}},
		{"type", append([]byte{0, 0, 0x0d, 3}, images[4:]...), labels, []string{"type 0xd, want 0x8"}},
		{"magic", []byte("hello"), labels, []string{"no IDX file"}},
		{"rank", []byte{0, 0, 8, 77}, labels, []string{"rank 77"}},
		{"sum", badSum, labels, []string{"checksum"}},
		{"bomb", gzipped(t, idxOf(make([]byte, 100<<20), 100, 1<<10, 1<<10)), labels, []string{"200 times"}},
	} {
		dir := unpack(t, []file{{"train-images-idx3-ubyte", c.images}, {"train-labels-idx1-ubyte", c.labels}})
		_, err := Open(t.Context(), "mnist:"+dir, Options{})
		t.Run(c.name, func(t *testing.T) { wantError(t, err, c.wants...) })
	}
	_, err := Open(t.Context(), "mnist:"+unpack(t, nil), Options{})
	wantError(t, err, "train-images-idx3-ubyte", "missing")
	_, err = Open(t.Context(), "mnist:"+write(t, "file", images), Options{})
	wantError(t, err, "no folder")
}

func FuzzReadIDX(f *testing.F) {
	f.Add(idxOf([]byte{1, 2, 3, 4}, 1, 2, 2))
	f.Add(idxOf([]byte{1, 2, 3}, 3))
	f.Add(idxOf(nil, 0xffffffff, 0, 7))
	f.Fuzz(func(t *testing.T, file []byte) {
		x, err := readIDX(bytes.NewReader(file))
		if err == nil && (x.DType != tensor.U8 || len(x.Bytes) != x.Count() || len(x.Bytes) > len(file)) {
			t.Errorf("%d bytes became %v with %d bytes", len(file), x, len(x.Bytes))
		}
	})
}
