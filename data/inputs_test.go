package data

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

func TestOpenInputs(t *testing.T) {
	picture := write(t, "one.jpg.png", pngOf(t, 8, 8, 7))
	dir := unpack(t, []file{{"b.png", pngOf(t, 4, 4, 1)}, {"a/c.png", pngOf(t, 4, 4, 2)}, {"x.txt", nil}})
	archive := write(t, "x.zip", zipOf(t, []file{{"z/1.png", pngOf(t, 4, 4, 3)}}))
	array := saveNPY(t, "x.npy", tensor.New(tensor.U8, 2, 5, 5, 3))
	src, err := OpenInputs(t.Context(), []string{picture, dir, archive, array}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	info := src.Info()
	if info.Len != 6 || info.Labelled || info.Shape != nil || !info.Pictures() || label(t, src, 0) != nil {
		t.Errorf("info = %+v, label 0 = %v", info, label(t, src, 0))
	}
	for i, want := range []struct {
		name string
		grey byte
	}{
		{picture, 7}, {filepath.Join(dir, "a/c.png"), 2}, {filepath.Join(dir, "b.png"), 1},
		{filepath.Join(archive, "z/1.png"), 3}, {array + ":0", 0}, {array + ":1", 0},
	} {
		sample, err := src.Sample(t.Context(), i)
		if err != nil || src.Name(i) != want.name || sample.Bytes[0] != want.grey {
			t.Errorf("sample %d is %s (%v), want %v", i, src.Name(i), err, want)
		}
	}
	if f, err := src.Fingerprint(context.Background()); err != nil || len(f) != 64 {
		t.Errorf("fingerprint %q, %v", f, err)
	}
}

func TestOpenInputsOfOneSpecKeepsLabels(t *testing.T) {
	src, err := OpenInputs(t.Context(), []string{"glyphs:5@test"}, Options{})
	if err != nil || label(t, src, 3)[0] != 3 || src.Info().Len != 5 {
		t.Errorf("%v, %v", src, err)
	}
}

func TestOpenInputsBad(t *testing.T) {
	floats := saveNPY(t, "f.npy", tensor.New(tensor.F32, 2, 3))
	picture := write(t, "p.png", pngOf(t, 8, 8, 7))
	missing := filepath.Join(t.TempDir(), "none.jpg")
	empty := t.TempDir()
	for _, c := range []struct {
		name   string
		inputs []string
		wants  []string
	}{
		{"none", nil, []string{"no inputs"}},
		{"missing", []string{picture, missing}, []string{missing, "no such file"}},
		{"empty folder", []string{empty}, []string{empty, "no pictures"}},
		{"mixed", []string{picture, floats}, []string{floats, "f32[3]", "RGB pictures"}},
		{"channels", []string{picture, "glyphs:1"}, []string{"u8[28,28,1]", "RGB pictures"}},
		{"empty file", []string{write(t, "x.png", nil)}, []string{"x.png", "empty"}},
	} {
		_, err := OpenInputs(t.Context(), c.inputs, Options{})
		t.Run(c.name, func(t *testing.T) { wantError(t, err, c.wants...) })
	}
	var unopened []error
	some, err := OpenInputs(t.Context(), []string{missing, picture, empty},
		Options{Unopened: func(err error) { unopened = append(unopened, err) }})

	if err != nil || some.Info().Len != 1 || some.Name(0) != picture || len(unopened) != 2 {
		t.Fatalf("%v, %v; left out %v", some, err, unopened)
	}
	wantError(t, unopened[0], missing, "no such file")
	wantError(t, unopened[1], empty, "no pictures")
	untold := Options{Unopened: func(err error) { t.Errorf("told of %v", err) }}
	_, err = OpenInputs(t.Context(), []string{missing, empty}, untold)
	wantError(t, err, missing, empty)
	broken := write(t, "b.png", []byte("not a picture"))
	src, err := OpenInputs(t.Context(), []string{broken}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = src.Sample(t.Context(), 0)
	wantError(t, err, broken+": this is not a JPEG")
}
