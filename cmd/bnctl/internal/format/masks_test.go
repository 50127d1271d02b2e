package format

import (
	"errors"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/tensor"
)

// The first colours of PASCAL VOC's masks are black, maroon, green, olive and navy. Colour 255, of the border
// of objects, is nearly white.
func TestPaletteIsThatOfVOC(t *testing.T) {
	for i, want := range map[int]color.RGBA{0: {0, 0, 0, 255}, 1: {128, 0, 0, 255}, 2: {0, 128, 0, 255},
		3: {128, 128, 0, 255}, 4: {0, 0, 128, 255}, 20: {0, 64, 128, 255}, 255: {224, 224, 192, 255}} {
		if data.MaskPalette[i] != want {
			t.Errorf("colour %d is %v, want %v", i, data.MaskPalette[i], want)
		}
	}
}

// A pixel of a mask has the class with the highest score, or the first one of several equal scores. Inputs
// with the same name get different files.
func TestMasks(t *testing.T) {
	folder := t.TempDir()
	to := &files{folder, "y", map[string]bool{}}
	scores := tensor.Of([]float32{1, 0, 0, 5, 1, 2, 0, 5, 0, 0, 3, 5}, 3, 2, 2) // three classes, 2x2 pixels
	for _, input := range []string{"a/cat.jpg", "cat-2.jpg", "b/cat.png", "scene 0 of test"} {
		if err := to.mask(input, scores); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"cat.png", "cat-2.png", "cat-3.png", "scene_0_of_test.png"} {
		f, err := os.Open(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		got, err := png.Decode(f)
		if err != nil {
			t.Fatal(err)
		}
		if pix := got.(*image.Paletted).Pix; string(pix) != "\x00\x01\x02\x00" {
			t.Errorf("%s: classes %v, want 0 1 2 0", name, pix)
		}
	}
}

// If a score is not finite, there is no mask, and no file is written.
func TestMaskOfNoNumbers(t *testing.T) {
	folder := t.TempDir()
	to := &files{folder, "y", map[string]bool{}}
	scores := tensor.Of([]float32{1, 0, 0, float32(math.NaN())}, 2, 1, 2)
	var none *predict.NotFinite
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		scores.F32()[3] = float32(v)
		if err := to.mask("cat.jpg", scores); !errors.As(err, &none) || none.Output != "y" {
			t.Errorf("a mask of %v: %v", v, err)
		}
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) > 0 {
		t.Errorf("%v %v are left", files, err)
	}
}
