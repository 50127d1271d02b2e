package hdf5

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func open(t *testing.T, name string) *File {
	t.Helper()
	f, err := openBytes(read(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func openBytes(b []byte) (*File, error) { return Open(bytes.NewReader(b), int64(len(b))) }

func elementsOf(t *testing.T, v Value) string {
	t.Helper()
	b := make([]byte, v.Size())
	if err := v.ReadInto(b); err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestKinds reads every kind of value; make.py wrote [[1, 2], [3, 100]] in each type.
func TestKinds(t *testing.T) {
	f := open(t, "kinds.h5")
	for _, c := range []struct {
		path  string
		typ   string
		shape []int
		bytes string
	}{
		{"f2", "f16", []int{2, 2}, "\x00\x3c\x00\x40\x00\x42\x40\x56"},
		{"f4", "f32", []int{2, 2}, "\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40\x00\x00\xc8\x42"},
		{"hard", "f32", []int{2, 2}, "\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40\x00\x00\xc8\x42"},
		{"f8", "f64", []int{2, 2}, "\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\x00\x40" +
			"\x00\x00\x00\x00\x00\x00\x08\x40\x00\x00\x00\x00\x00\x00\x59\x40"},
		{"i1", "i8", []int{2, 2}, "\x01\x02\x03\x64"},
		{"i2", "i16", []int{2, 2}, "\x01\x00\x02\x00\x03\x00\x64\x00"},
		{"u1", "u8", []int{2, 2}, "\x01\x02\x03\x64"},
		{"u2", "u16", []int{2, 2}, "\x01\x00\x02\x00\x03\x00\x64\x00"},
		{"i4", "i32", []int{2, 2}, "\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00\x64\x00\x00\x00"},
		{"bool", "i8", []int{2}, "\x01\x00"},
		{"scalar", "f32", nil, "\x00\x00\x20\x40"},
		{"empty", "f32", []int{0, 4}, ""},
		{"compact", "f32", []int{2}, "\x00\x00\xe0\x40\x00\x00\x00\x41"},
		{"dense_1/dense_1/kernel:0", "f32", []int{2, 3}, "\x00\x00\x00\x00\x00\x00\x80\x3f\x00\x00\x00\x40" +
			"\x00\x00\x40\x40\x00\x00\x80\x40\x00\x00\xa0\x40"},
		{"dense_1/up/dense_1/up/scalar", "f32", nil, "\x00\x00\x20\x40"},
	} {
		o, err := f.Root().Open(c.path)
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		v, err := o.Value()
		if err != nil || v.Type.String() != c.typ || !slices.Equal(v.Shape, c.shape) ||
			elementsOf(t, v) != c.bytes {
			t.Errorf("%s: got %v %v %x, %v, want %v %v %x", c.path, v.Type, v.Shape, elementsOf(t, v), err, c.typ,
				c.shape, c.bytes)
		}
	}
}

func TestAttributes(t *testing.T) {
	root := open(t, "kinds.h5").Root()
	for _, c := range []struct {
		name string
		want []string
	}{
		{"keras_version", []string{"2.15.0"}},
		{"backend", []string{"tensorflow"}},
		{"layer_names", []string{"dense_1", "bn", ""}},
		{"names", []string{"gamma:0", "", "moving_mean:0"}},
		{"weight_names", nil},
		{"long", []string{strings.Repeat("x", 9000)}},
	} {
		v, ok, err := root.Attribute(c.name)
		if err != nil || !ok {
			t.Errorf("%s: %v, %v", c.name, ok, err)
			continue
		}
		if got, err := v.Strings(); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, %v, want %q", c.name, got, err, c.want)
		}
	}
	if v, ok, err := root.Attribute("count"); err != nil || !ok || v.Type.String() != "i64" ||
		elementsOf(t, v)[0] != 0xfd {
		t.Errorf("count: %v %v %v", v, ok, err)
	}
	if _, ok, err := root.Attribute("nothing"); ok || err != nil {
		t.Errorf("an attribute that is not there: %v, %v", ok, err)
	}
}

// TestWide walks a B-tree of several levels.
func TestWide(t *testing.T) {
	root := open(t, "wide.h5").Root()
	names, err := root.Members()
	if err != nil || len(names) != 301 || !slices.IsSorted(names) {
		t.Fatalf("%d members, %v, want 301 in order", len(names), err)
	}
	if !root.Has("299") || root.Has("300") {
		t.Error("members are not those of the file")
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ file, path, want string }{
		{"latest.no.h5", "", "superblock of version"},
		{"chunked.no.h5", "w", "chunked data is not supported"},
		{"gzip.no.h5", "w", "compressed data is not supported"},
		{"bigendian.no.h5", "w", "big-endian"},
		{"compound.no.h5", "w", "compound class 6"},
		{"complex.no.h5", "w", "compound class 6"},
		{"unwritten.no.h5", "w", "never written"},
		{"sequences.no.h5", "w", "only strings"},
		{"external.no.h5", "w", "another file"},
		{"kinds.h5", "soft", "links are not followed"},
		{"link.no.h5", "w", "group of link messages"},
		{"kinds.h5", "dense_1/missing", `/dense_1 has no member "missing"`},
		{"kinds.h5", "f4/below", "not a group"},
		{"kinds.h5", "dense_1", "not a data set"},
		{"kinds.h5", strings.Repeat("dense_1/up/", 9), "at most 16"},
	} {
		err := readOne(read(t, c.file), c.path)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: got error %v, want %q", c.file, c.path, err, c.want)
		}
	}
}

func readOne(b []byte, path string) error {
	f, err := openBytes(b)
	if err != nil {
		return err
	}
	o, err := f.Root().Open(path)
	if err != nil {
		return err
	}
	_, err = o.Value()
	return err
}

// TestHostile reads everything in damaged files: each must return an error somewhere, and
// quickly.
func TestHostile(t *testing.T) {
	files, err := filepath.Glob("testdata/hostile/*.h5")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		b := read(t, strings.TrimPrefix(name, "testdata/"))
		if err := readAll(b); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// readAll reads every object once, with the attributes of kinds.h5, and
// returns the first error.
func readAll(b []byte) error {
	f, err := openBytes(b)
	if err != nil {
		return err
	}
	seen := map[*Object]bool{}
	var visit func(o *Object) error
	visit = func(o *Object) error {
		if seen[o] {
			return nil
		}
		seen[o] = true
		var first error
		keep := func(err error) { first = cmp.Or(first, err) }
		for _, name := range []string{"keras_version", "names", "layer_names", "weight_names"} {
			v, ok, err := o.Attribute(name)
			keep(err)
			if ok {
				_, err := v.Strings()
				keep(err)
			}
		}
		if o.IsData() {
			v, err := o.Value()
			keep(err)
			if err == nil {
				keep(v.ReadInto(make([]byte, v.Size())))
			}
			return first
		}
		names, err := o.Members()
		keep(err)
		for _, name := range names {
			child, err := o.Open(name)
			if err == nil {
				err = visit(child)
			}
			if name != "soft" && name != "elsewhere" {
				keep(err)
			}
		}
		return first
	}
	return visit(f.Root())
}

func TestHealthyHasNoError(t *testing.T) {
	for _, name := range []string{"kinds.h5", "wide.h5"} {
		if err := readAll(read(t, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"kinds.h5", "wide.h5", "chunked.no.h5", "latest.no.h5"} {
		f.Add(read(f, name))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		err := readAll(b)
		if err == nil && !Is(b) {
			t.Error("something that is not HDF5 was read")
		}
	})
}
