package data

import (
	"context"
	"image"
	"math"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

func TestDescribePictures(t *testing.T) {
	x := tensor.Of([]byte{
		0, 10, 255, 10, 10, 255,
		20, 10, 255, 30, 10, 253,
	}, 2, 1, 2, 3)
	y := tensor.Of([]int32{2, 0}, 2)
	src := open(t, "npy:"+saveNPY(t, "x.npy", x)+","+saveNPY(t, "y.npy", y), Options{})
	s, err := Describe(context.Background(), src)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.PerClass, []int{1, 0, 1}) || s.Sizes() != "2x1" {
		t.Errorf("statistics %+v", s)
	}
	for c, want := range [][2]float64{{15, math.Sqrt(125)}, {10, 0}, {254.5, math.Sqrt(0.75)}} {
		if s.Mean[c] != want[0] || math.Abs(s.Std[c]-want[1]) > 1e-9 {
			t.Errorf("channel %d: mean %v, deviation %v; want %v", c, s.Mean[c], s.Std[c], want)
		}
	}
}

func TestDescribeSizes(t *testing.T) {
	dir := unpack(t, []file{
		{"a/1.png", pngOf(t, 10, 20, 1)}, {"a/2.png", pngOf(t, 30, 5, 1)}, {"b/1.png", pngOf(t, 12, 12, 4)},
	})
	s, err := Describe(context.Background(), open(t, "folder:"+dir, Options{}))
	if err != nil || s.Sizes() != "from 10x5 to 30x20" || !slices.Equal(s.PerClass, []int{2, 1}) {
		t.Errorf("statistics %+v, sizes %q (%v)", s, s.Sizes(), err)
	}
}

func TestDescribeArrays(t *testing.T) {
	x := tensor.Of([]float32{1, 2, 3, 6}, 2, 2)
	y := tensor.Of([]int32{0, -1, 1, 1}, 2, 2)
	src := open(t, "npy:"+saveNPY(t, "x.npy", x)+","+saveNPY(t, "y.npy", y), Options{})
	s, err := Describe(context.Background(), src)
	if err != nil || s.Mean[0] != 3 || s.Std[0] != math.Sqrt(3.5) || s.Ignored != 1 || s.Sizes() != "" ||
		!slices.Equal(s.PerClass, []int{1, 2}) {
		t.Errorf("statistics %+v (%v)", s, err)
	}
}

func TestDescribeEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, src := range []Source{open(t, "glyphs", Options{}), whole(5)} {
		if _, err := Describe(ctx, src); err != context.Canceled {
			t.Errorf("error %v, want %v", err, context.Canceled)
		}
	}
}

func TestGrid(t *testing.T) {
	dir := unpack(t, []file{
		{"a/1.png", pngOf(t, 10, 20, 1)}, {"a/2.png", pngOf(t, 30, 5, 90)}, {"b/1.png", pngOf(t, 12, 12, 200)},
	})
	got, err := Grid(t.Context(), open(t, "folder:"+dir, Options{}), []int{0, 1, 2}, 2, 10)
	if err != nil {
		t.Fatal(err)
	}
	if want := image.Rect(0, 0, 26, 26); got.Bounds() != want {
		t.Errorf("bounds %v, want %v", got.Bounds(), want)
	}
	for _, c := range []struct{ x, y, want int }{
		{0, 0, 0x80}, {3, 7, 0x80}, {5, 3, 1}, {8, 11, 1}, // the cell of the picture of 10 x 20
		{14, 6, 90}, {23, 6, 90}, {18, 3, 0x80}, // the cell of the picture of 30 x 5
		{2, 14, 200}, {11, 23, 200}, {18, 18, 0x80}, // the cell of the last picture, and an empty cell
	} {
		if r, _, _, a := got.At(c.x, c.y).RGBA(); int(r>>8) != c.want || a != 0xffff {
			t.Errorf("pixel (%d, %d) is %d, want %d", c.x, c.y, r>>8, c.want)
		}
	}
	if _, err := Grid(t.Context(), open(t, "glyphs:3", Options{}), []int{2}, 5, 28); err != nil {
		t.Error(err)
	}
	_, err = Grid(t.Context(), whole(3), []int{0}, 1, 8)
	wantError(t, err, "f32[2]", "not pictures")
	_, err = Grid(t.Context(), open(t, "glyphs:3", Options{}), nil, 0, 8)
	wantError(t, err, "columns 0")
}

// A picture of one pixel and a picture of four pixels have the same weight in the means by picture, but not
// in the means by pixel.
func TestMeansOfPictures(t *testing.T) {
	src := open(t, "folder:"+unpack(t, []file{{"a/1.png", pngOf(t, 1, 1, 100)}, {"a/2.png", pngOf(t, 2, 2, 200)}}), Options{})
	s, err := Describe(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	if s.Mean[0] != 180 || s.Std[0] != 40 || s.ImageMean[0] != 150 || s.ImageStd[0] != 50 {
		t.Errorf("by pixels %v %v, by pictures %v %v; want 180 40, 150 50", s.Mean, s.Std, s.ImageMean, s.ImageStd)
	}
}

// TestCountBoxes: boxes are counted by class; the unused rest of a label is not counted.
func TestCountBoxes(t *testing.T) {
	label := make([]int32, 4*BoxFields)
	for i, class := range []int32{1, -2, 1, NoBox} {
		Box{Corners: [4]float32{1, 2, 3, 4}, Class: class}.Put(label[i*BoxFields:])
	}
	s := Statistics{PerClass: make([]int, 2)}
	s.count(Info{Boxes: true}, label)
	if !slices.Equal(s.PerClass, []int{0, 2}) || s.Ignored != 1 {
		t.Errorf("statistics %+v", s)
	}
}
