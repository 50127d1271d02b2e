package wire

import (
	"os"
	"path/filepath"
	"testing"

	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/tensor"
)

// mapped returns a mapped file of n bytes.
func mapped(t *testing.T, n int) *tensor.Mapped {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, n), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := tensor.Map(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func TestPart(t *testing.T) {
	const n = MinMapped
	m := mapped(t, 2*n)
	view := func(from, to int) tensor.Tensor {
		return tensor.Tensor{DType: tensor.U8, Shape: []int{to - from}, Bytes: m.Bytes[from:to]}
	}
	for name, v := range map[string]tensor.Tensor{
		"small": view(0, n-1), "not aligned": view(1, n+1), "no file": tensor.New(tensor.U8, n),
	} {
		if p := EncodeFilePart(v); p != nil {
			t.Errorf("%s: EncodePart = %v, want none", name, p)
		}
	}
	for _, v := range []tensor.Tensor{view(0, n), view(64, n+64), view(n, 2*n)} {
		got, file, err := DecodeFilePart(EncodeFilePart(v))
		if err != nil || file != m || !SameType(got, v) || &got.Bytes[0] != &v.Bytes[0] {
			t.Errorf("DecodePart = %v of %p, %v, want %v of %p", got, file, err, v, m)
		}
		file.Close()
	}
}

// TestHostilePart decodes file parts with bytes that the file does not have.
func TestHostilePart(t *testing.T) {
	m := mapped(t, 4096)
	u8 := func(n int64) *pb.Tensor { return &pb.Tensor{Dtype: pb.DType_DTYPE_U8, Shape: []int64{n}} }
	for name, p := range map[string]*pb.FilePart{
		"before":       {Path: m.Path(), Offset: -64, Type: u8(64)},
		"behind":       {Path: m.Path(), Offset: 4096, Type: u8(64)},
		"far behind":   {Path: m.Path(), Offset: 1<<63 - 64, Type: u8(64)},
		"over the end": {Path: m.Path(), Offset: 4032, Type: u8(65)},
		"huge":         {Path: m.Path(), Type: u8(1 << 62)},
		"not aligned":  {Path: m.Path(), Offset: 8, Type: u8(64)},
		"no type":      {Path: m.Path()},
		"no shape":     {Path: m.Path(), Type: u8(-1)},
		"no file":      {Path: "/nowhere", Type: u8(64)},
		"folder":       {Path: t.TempDir(), Type: u8(64)},
		"nothing":      nil,
	} {
		if v, _, err := DecodeFilePart(p); err == nil {
			t.Errorf("%s: DecodePart = %v, want an error", name, v)
		}
	}
}
