package data

import (
	"bytes"
	"encoding/binary"
	"os"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// npyFile returns an .npy file of the given version, with a dictionary and elements.
func npyFile(version byte, dict string, elements ...byte) []byte {
	b := append([]byte(npyMagic), version, 0)
	if version == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(dict)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(dict)))
	}
	return append(append(b, dict...), elements...)
}

func TestNPYRoundTrip(t *testing.T) {
	for _, want := range []tensor.Tensor{
		tensor.Of([]float32{1, -2, 3, 4, 5, 6}, 2, 3),
		tensor.Of([]float64{1.5}, 1),
		tensor.Of([]int32{-1, 7}, 2, 1),
		tensor.Of([]int64{1 << 40}, 1, 1, 1),
		tensor.Of([]uint8{0, 255, 3}, 3),
		tensor.Scalar(float32(3)),
		tensor.New(tensor.F32, 0, 5),
	} {
		var b bytes.Buffer
		if err := WriteNPY(&b, want); err != nil {
			t.Fatal(err)
		}
		if header := b.Len() - len(want.Bytes); header%64 != 0 {
			t.Errorf("%v: the array starts at byte %d, want a multiple of 64", want, header)
		}
		got, err := ReadNPY(&b)
		if err != nil || !tensor.Equal(got, want) {
			t.Errorf("read %v (%v), wrote %v", got, err, want)
		}
	}
	wantError(t, WriteNPY(&bytes.Buffer{}, tensor.New(tensor.BF16, 2)), "bf16", "convert")
}

func TestReadNPY(t *testing.T) {
	const shape = "'fortran_order': False, 'shape': (2, 3), "
	matrix := tensor.Of([]uint8{1, 2, 3, 4, 5, 6}, 2, 3)
	for _, c := range []struct {
		name string
		file []byte
		want tensor.Tensor
	}{
		{"version 2", npyFile(2, "{'descr': '|u1', "+shape+"}   \n", 1, 2, 3, 4, 5, 6), matrix},
		{"version 3", npyFile(3, `{"descr":"|u1","fortran_order":False,"shape":(2,3)}`, 1, 2, 3, 4, 5, 6), matrix},
		{"Fortran order", npyFile(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}",
			1, 4, 2, 5, 3, 6), matrix},
		{"Python 2", npyFile(1, "{'shape': (2L, 3L), 'descr': '|u1', 'fortran_order': False}",
			1, 2, 3, 4, 5, 6), matrix},
	} {
		got, err := ReadNPY(bytes.NewReader(c.file))
		if err != nil || !tensor.Equal(got, c.want) {
			t.Errorf("%s: %v %v (%v), want %v", c.name, got, got.Bytes, err, c.want.Bytes)
		}
	}
}

func TestReadNPYFortranCube(t *testing.T) {
	const a, b, c = 2, 3, 4
	file := npyFile(1, "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3, 4)}")
	want := tensor.New(tensor.I32, a, b, c)
	for k := range c {
		for j := range b {
			for i := range a {
				v := 100*i + 10*j + k
				file = binary.LittleEndian.AppendUint32(file, uint32(v))
				want.I32()[(i*b+j)*c+k] = int32(v)
			}
		}
	}
	got, err := ReadNPY(bytes.NewReader(file))
	if err != nil || !tensor.Equal(got, want) {
		t.Errorf("got %v (%v), want %v", got, err, want.I32())
	}
}

func TestReadNPYLarge(t *testing.T) {
	want := tensor.New(tensor.U8, 40<<20)
	for i := range want.Bytes {
		want.Bytes[i] = byte(i * 7 >> 3)
	}
	var file bytes.Buffer
	if err := WriteNPY(&file, want); err != nil {
		t.Fatal(err)
	}
	whole := file.Bytes()
	got, err := ReadNPY(bytes.NewReader(whole))
	if err != nil || !tensor.Equal(got, want) {
		t.Errorf("got %v (%v)", got, err)
	}
	_, err = ReadNPY(bytes.NewReader(whole[:len(whole)-1]))
	wantError(t, err, "cut short")
}

func TestReadNPYBad(t *testing.T) {
	dict := func(descr, shape string) []byte {
		return npyFile(1, "{'descr': "+descr+", 'fortran_order': False, 'shape': "+shape+"}", 1, 2, 3)
	}
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "cut short"},
		{"other file", []byte("PK\x03\x04 something"), "no .npy file"},
		{"version", npyFile(4, "{}"), "version 4"},
		{"header length", append([]byte(npyMagic), 2, 0, 0xff, 0xff, 0xff, 0x7f), "claims 2147483647 bytes"},
		{"header cut", npyFile(1, "{'descr'")[:14], "cut short"},
		{"big-endian", dict("'>f4'", "(1,)"), "'<f4'"},
		{"half", dict("'<f2'", "(1,)"), "'<f4'"},
		{"objects", dict("'|O'", "(1,)"), "not supported"},
		{"fields", dict("[('a', '<f4')]", "(1,)"), "structured"},
		{"gigabytes", dict("'<f8'", "(1000000000000,)"), "cut short"},
		{"overflow", dict("'<f8'", "(9999999999,9999999999)"), "too large"},
		{"length overflows", dict("'<f8'", "(99999999999999999999,)"), "want a length"},
		{"negative", dict("'<f8'", "(-1,)"), "want a length"},
		{"rank", dict("'|u1'", "(1,1,1,1,1,1,1,1,1)"), "axes"},
		{"elements cut", dict("'|u1'", "(4,)"), "cut short"},
		{"missing key", npyFile(1, "{'descr': '|u1', 'shape': (1,)}"), "fortran_order"},
		{"twice", npyFile(1, "{'descr': '|u1', 'descr': '|u1'}"), "twice"},
		{"unknown key", npyFile(1, "{'x': 1}"), "unknown key"},
		{"open quote", npyFile(1, "{'descr"), "no end"},
		{"no dictionary", npyFile(1, "[]"), "want {"},
		{"junk", npyFile(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (1,)} x"), "after the dictionary"},
		{"commas", npyFile(1, "{'descr': '|u1' 'shape': (1,)}"), "want ,"},
	} {
		_, err := ReadNPY(bytes.NewReader(c.file))
		t.Run(c.name, func(t *testing.T) { wantError(t, err, c.want) })
	}
}

// saveNPY writes an array file and returns its name.
func saveNPY(t *testing.T, name string, x tensor.Tensor) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteNPY(&b, x); err != nil {
		t.Fatal(err)
	}
	return write(t, name, b.Bytes())
}

func TestNPYSource(t *testing.T) {
	x := tensor.Of([]float64{1, 2, 3, 4}, 2, 2)
	y := tensor.Of([]int64{1, 0}, 2)
	src := open(t, "npy:"+saveNPY(t, "x.npy", x)+","+saveNPY(t, "y.npy", y), Options{Split: Test})
	info := src.Info()
	if info.Len != 2 || info.DType != tensor.F32 || len(info.Shape) != 1 || len(info.Classes) != 2 ||
		info.Split != "" {
		t.Errorf("info = %+v", info)
	}
	sample, err := src.Sample(t.Context(), 1)
	if err != nil || sample.F32()[0] != 3 || sample.F32()[1] != 4 {
		t.Errorf("sample 1 = %v, %v", sample, err)
	}
	if label := label(t, src, 0); len(label) != 1 || label[0] != 1 {
		t.Errorf("label 0 = %d", label)
	}
}

func TestNPYSourceOfPixels(t *testing.T) {
	x := tensor.New(tensor.U8, 2, 3, 4, 1)
	y := tensor.Of([]int32{0, 1, 2, -1, 0, 0, 0, 0, 0, 0, 0, 5, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 2, 3, 4)
	src := open(t, "npy:"+saveNPY(t, "x.npy", x)+","+saveNPY(t, "y.npy", y), Options{})
	info := src.Info()
	if !info.Pictures() || len(info.LabelShape) != 2 || len(info.Classes) != 6 {
		t.Errorf("info = %+v", info)
	}
	if label := label(t, src, 0); len(label) != 12 || label[3] != -1 || label[11] != 5 {
		t.Errorf("label 0 = %d", label)
	}
}

func TestNPYSourceBad(t *testing.T) {
	good := saveNPY(t, "x.npy", tensor.New(tensor.F32, 3, 2))
	junk := write(t, "junk.npy", append(mustRead(t, good), 0))
	for _, c := range []struct {
		name string
		x, y string
		want []string
	}{
		{"scalar", saveNPY(t, "s.npy", tensor.Scalar(float32(1))), good, []string{"s.npy", "no samples"}},
		{"no samples", saveNPY(t, "e.npy", tensor.New(tensor.F32, 0, 2)), good, []string{"e.npy", "no samples"}},
		{"float labels", good, saveNPY(t, "y.npy", tensor.New(tensor.F32, 3)),
			[]string{"y.npy", "integers", "f32"}},
		{"count", good, saveNPY(t, "y.npy", tensor.New(tensor.I32, 2)), []string{"i32[2]", "3 samples"}},
		{"negative", good, saveNPY(t, "y.npy", tensor.Of([]int32{0, -2, 1}, 3)), []string{"label -2 (element 1)"}},
		{"too large", good, saveNPY(t, "y.npy", tensor.Of([]int64{0, 1 << 33, 1}, 3)), []string{"out of range"}},
		{"too many", good, saveNPY(t, "y.npy", tensor.Of([]int64{0, 1 << 21, 1}, 3)),
			[]string{"at most 1048576 classes"}},
		{"junk", junk, good, []string{"junk.npy", "more bytes"}},
	} {
		_, err := Open(t.Context(), "npy:"+c.x+","+c.y, Options{})
		t.Run(c.name, func(t *testing.T) { wantError(t, err, c.want...) })
	}
	_, err := Open(t.Context(), "npy:"+good+","+good+"@test", Options{})
	wantError(t, err, "no parts")
}

func mustRead(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func FuzzReadNPY(f *testing.F) {
	f.Add(npyFile(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", 1, 2, 3, 4, 5, 6))
	f.Add(npyFile(2, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }", 0, 0, 128, 63))
	f.Add(npyFile(3, "{'descr': '<i8', 'fortran_order': False, 'shape': (0,5)}"))
	f.Fuzz(func(t *testing.T, file []byte) {
		x, err := ReadNPY(bytes.NewReader(file))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := WriteNPY(&b, x); err != nil {
			t.Fatal(err)
		}
		again, err := ReadNPY(&b)
		if err != nil || !tensor.Equal(again, x) {
			t.Errorf("%v read again is %v (%v)", x, again, err)
		}
	})
}
