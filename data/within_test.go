package data

import (
	"bytes"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// TestWithin: only the content of the samples matters, not their location, names or order.
func TestWithin(t *testing.T) {
	at := func(files ...file) string { return unpack(t, files) }
	one, two, three := pngOf(t, 2, 2, 1), pngOf(t, 2, 2, 2), pngOf(t, 2, 2, 3)
	flat := at(file{"a/1.png", one}, file{"b/2.png", two})
	renamed := at(file{"c/x.png", two}, file{"c/y.png", one})
	other := at(file{"a/1.png", one}, file{"b/2.png", three})
	x := tensor.New(tensor.U8, 3, 2, 2, 3)
	for i := range x.Bytes {
		x.Bytes[i] = byte(i/12 + 1) // pixels with values one, two and three
	}
	labels := saveNPY(t, "y.npy", tensor.Of([]int64{0, 1, 0}, 3))
	arrays := "npy:" + saveNPY(t, "x.npy", x) + "," + labels
	turned := x.Clone()
	copy(turned.Bytes, x.Bytes[12:])
	copy(turned.Bytes[24:], x.Bytes[:12])
	again := "npy:" + saveNPY(t, "z.npy", turned) + "," + labels
	fresh := x.Clone()
	fresh.Bytes[35]++
	new := "npy:" + saveNPY(t, "n.npy", fresh) + "," + labels
	for _, c := range []struct {
		inner, outer string
		want         bool
	}{
		{"folder:" + flat, "folder:" + flat, true},
		{"folder:" + renamed, "folder:" + flat, true},
		{"folder:" + other, "folder:" + flat, false},
		{"glyphs:10@train", "glyphs:20", true},
		{"glyphs:20@train", "glyphs:10", false},
		{"glyphs:10@test", "glyphs:20", false},
		{"glyphs:10@val", "glyphs:20@test", false},
		{"shapes:3@train", "shapes:2000000000", true},
		{"shapes:3@test", "shapes:2000000000", false},
		{arrays, again, true},
		{new, arrays, false},
		{"folder:" + flat, arrays, true},
		{arrays, "folder:" + flat, false},
		{"glyphs:3", arrays, false},
	} {
		got, err := Within(t.Context(), open(t, c.inner, Options{}), open(t, c.outer, Options{}))
		if err != nil || got != c.want {
			t.Errorf("%s within %s: %v, %v; want %v", c.inner, c.outer, got, err, c.want)
		}
	}
}

// TestWithinOfDrawn: data that is drawn on the fly contains the samples of its subsets.
func TestWithinOfDrawn(t *testing.T) {
	whole := open(t, "glyphs:40", Options{})
	some, err := Subset(whole, 10, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		inner, outer Source
		want         bool
	}{{some, whole, true}, {whole, some, false}, {some, open(t, "glyphs:40@test", Options{}), false}} {
		if got, err := Within(t.Context(), c.inner, c.outer); err != nil || got != c.want {
			t.Errorf("%d within %d: %v, %v; want %v", c.inner.Info().Len, c.outer.Info().Len, got, err, c.want)
		}
	}
}

// TestWithinArchives: an archive contains the samples of its folder.
func TestWithinArchives(t *testing.T) {
	files := pets(t)
	folder := "folder:" + unpack(t, files)
	for name, content := range map[string][]byte{"p.tar": tarOf(t, files), "p.zip": zipOf(t, files),
		"p.tar.gz": gzipped(t, tarOf(t, files))} {
		got, err := Within(t.Context(), open(t, "folder:"+write(t, name, content), Options{}), open(t, folder, Options{}))
		if err != nil || !got {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// TestSplitsOfPublishedData: if data has only the parts train and test, validation uses test. With the suffix
// @val it is an error that val is missing.
func TestSplitsOfPublishedData(t *testing.T) {
	cifar := "cifar10:" + unpack(t, cifarBatches())
	if i := open(t, cifar, Options{Split: Val}).Info(); i.Split != Test || i.requested != "" {
		t.Errorf("validation on %q instead of %q", i.Split, i.requested)
	}
	if i := open(t, "glyphs", Options{Split: Val}).Info(); i.Split != Test || i.Len != 1000 {
		t.Errorf("validation on %d samples of %q", i.Len, i.Split)
	}
	for _, spec := range []string{cifar, "mnist:" + t.TempDir()} {
		_, err := Open(t.Context(), spec+"@val", Options{})
		wantError(t, err, "only train and test", "apart with")
	}
	for _, spec := range []string{"glyphs", "shapes"} {
		test, val := open(t, spec+":2@test", Options{}), open(t, spec+":2@val", Options{})
		if val.Info().Split != Val || bytes.Equal(pixels(t, val, 1)[0], pixels(t, test, 1)[0]) {
			t.Errorf("%s@val is %q, with the samples of test", spec, val.Info().Split)
		}
	}
}
