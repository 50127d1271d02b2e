package safetensors

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/tensor"
)

func samples() []foreign.Tensor {
	return []foreign.Tensor{
		foreign.InMemory("z.mask", tensor.Of([]bool{true, false, true}, 3)),
		foreign.InMemory("a.weight", tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 2, 3)),
		foreign.InMemory("count", tensor.Scalar[int64](42)),
		foreign.InMemory("empty", tensor.New(tensor.F64, 4, 0)),
		foreign.InMemory("half \"quoted\"", tensor.New(tensor.BF16, 5)),
	}
}

func TestRoundTrip(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, samples()); err != nil {
		t.Fatal(err)
	}
	f, err := ReadFrom(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(f.Tensors), fmt.Sprint(samples()); got != want {
		t.Fatalf("tensors %s, want %s", got, want)
	}
	for i, x := range f.Tensors {
		got, err := x.Load()
		want, _ := samples()[i].Load()
		if err != nil || !tensor.Equal(got, want) {
			t.Errorf("%v: got %v (%v), want %v", x, got.Bytes, err, want.Bytes)
		}
	}
}

// TestReadsHandMade reads a file made by hand from the format's description, with the
// entries in another order than the elements and a padded header.
func TestReadsHandMade(t *testing.T) {
	head := `{"b":{"dtype":"U8","shape":[2],"data_offsets":[4,6]},` +
		`"a":{"data_offsets":[0,4],"shape":[],"dtype":"F32"},"__metadata__":{"by":"hand"}}  `
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(head)))
	file = append(file, head+"\x00\x00\x80\x3f\x07\x08"...)
	f, err := ReadFrom(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	b, err1 := f.Tensors[0].Load()
	a, err2 := f.Tensors[1].Load()
	if err1 != nil || err2 != nil || a.F32()[0] != 1 || b.U8()[1] != 8 || f.Counters[0].Value != "hand" {
		t.Errorf("got %v %v %v, %v %v", a.Bytes, b.Bytes, f.Counters, err1, err2)
	}
}

// refusals gives a part of the error for each file of testdata/hostile.
var refusals = map[string]string{
	"length_near_2_64":   "header of 18446744073709551615 bytes",
	"length_negative":    "header of 9223372036854775808 bytes",
	"length_beyond_file": "header of 3 bytes", "no_object": "[, want {", "nested_arrays": "[, want {",
	"nested_shape": "[, want a number", "text_behind": "something follows", "not_utf8": "not valid UTF-8",
	"key_twice": `key "a" occurs twice`, "field_twice": `key "dtype" occurs twice`,
	"hole": "begins at offset 9", "overlap": "begins at offset 4", "first_hole": "begins at offset 1",
	"tail": "the file at 9", "truncated": "the file at 7", "size_differs": "takes 12 bytes",
	"size_overflow": "too large", "negative_length": "-2, want a number", "fraction": "1.5, want a number",
	"end_before_begin": "leave -8", "offsets_three": "more than 2 numbers", "rank_9": "more than 8 numbers",
	"unknown_type": `type "F8_E4M3"`, "unknown_field": `key "code": unknown key`,
	"no_type":         "dtype, shape or data_offsets",
	"metadata_number": "want a string", "metadata_many": "more than 4096 entries", "empty": "a file of 0 bytes",
}

func TestRefusesHostile(t *testing.T) {
	files, err := filepath.Glob("testdata/hostile/*.safetensors")
	if err != nil || len(files) != len(refusals) {
		t.Fatalf("%d files, want %d: run testdata/hostile/make.py", len(files), len(refusals))
	}
	for _, path := range files {
		want := refusals[strings.TrimSuffix(filepath.Base(path), ".safetensors")]
		f, err := Read(path)
		if err == nil {
			f.Close()
			t.Errorf("%s was read", path)
		} else if want == "" || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, want %q in it", path, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	files, _ := filepath.Glob("testdata/hostile/*.safetensors")
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	var good bytes.Buffer
	if err := Write(&good, samples()); err != nil {
		f.Fatal(err)
	}
	f.Add(good.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := ReadFrom(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		for _, x := range file.Tensors {
			if _, err := x.Load(); err != nil {
				t.Errorf("%v was listed and can't be read: %v", x, err)
			}
		}
	})
}
