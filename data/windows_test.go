package data

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

func TestWindowsBegin(t *testing.T) {
	for _, c := range []struct {
		length, side int
		overlap      float64
		want         []int
	}{{10, 4, 0.5, []int{0, 2, 4, 6}}, {9, 4, 0, []int{0, 4, 5}}, {3, 4, 0, []int{0}}, {4, 4, 0.5, []int{0}},
		{5, 4, 0.9, []int{0, 1}}, {8, 4, 0, []int{0, 4}}} {
		if got := starts(c.length, c.side, c.overlap); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// sizedPictures returns a source of pictures of several sizes.
func sizedPictures(t *testing.T, sizes ...[2]int) Source {
	t.Helper()
	var files []file
	for i, s := range sizes {
		files = append(files, file{fmt.Sprintf("p%d.png", i), pngOf(t, s[0], s[1], byte(40*i+7))})
	}
	src, err := OpenInputs(t.Context(), []string{unpack(t, files)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

// Every fit except crop shows every pixel of a picture, in windows that begin inside of it.
func TestWindowsShowAll(t *testing.T) {
	shape := Transform{Height: 7, Width: 5}
	for _, f := range fits()[1:] {
		for h := 1; h < 40; h += 3 {
			for w := 1; w < 40; w += 4 {
				views := shape.views(f, 0.3, h, w)
				v := views[0]
				seen := make([]bool, v.W*v.H)
				for _, at := range views {
					for y := at.Y; y < min(at.Y+7, v.H); y++ {
						for x := at.X; x < min(at.X+5, v.W); x++ {
							seen[y*v.W+x] = true
						}
					}
				}
				if slices.Contains(seen, false) || (f == ResizeFit || f == PadFit) && len(views) != 1 ||
					f == PadFit && (v.W > 5 || v.H > 7) || f == WindowsFit && (v.W != w || v.H != h) {
					t.Errorf("%s of %d x %d: %+v", f, w, h, views)
				}
			}
		}
	}
}

// Every fit returns a picture unchanged if it has the size of the input. A picture with the aspect ratio of
// the input is scaled as by Transform. The fit windows does not scale it, but crops it.
func TestWindowsOfItsOwnSize(t *testing.T) {
	src := sizedPictures(t, [2]int{6, 4}, [2]int{12, 8}, [2]int{13, 3})
	shape := Transform{Height: 4, Width: 6}
	for _, f := range fits()[1:] {
		w, err := NewWindows(t.Context(), src, shape, f, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		for k := range w.Info().Len {
			at := w.Window(k)
			got, err := w.Sample(t.Context(), k)
			if err != nil {
				t.Fatal(err)
			}
			picture, err := src.Sample(t.Context(), at.Sample)
			if err != nil {
				t.Fatal(err)
			}
			want := tensor.New(tensor.U8, 4, 6, 3)
			switch {
			case at.Sample == 0 || at.Sample == 1 && f != WindowsFit:
				shape.Apply(want, picture, nil)
			case f == WindowsFit:
				for y := range min(4, at.Height-at.Y) {
					columns := min(6, at.Width-at.X)
					from := ((at.Y+y)*at.Width + at.X) * 3
					copy(want.Bytes[y*6*3:], picture.Bytes[from:from+columns*3])
				}
			default:
				continue
			}
			if !bytes.Equal(got.Bytes, want.Bytes) || w.Name(k) != src.Name(at.Sample) {
				t.Errorf("%s, %+v: %v, want %v", f, at, got.Bytes, want.Bytes)
			}
		}
	}
}

// Reading the window of a bad picture returns an error. Invalid options are refused.
func TestWindowsRefuse(t *testing.T) {
	dir := unpack(t, []file{{"a.png", []byte("no picture")}, {"b.png", pngOf(t, 9, 9, 1)}})
	src, err := OpenInputs(t.Context(), []string{dir}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	shape := Transform{Height: 6, Width: 6}
	w, err := NewWindows(t.Context(), src, shape, WindowsFit, 0)
	if err != nil || w.Info().Len != 5 {
		t.Fatalf("%v, %v", w, err)
	}
	if _, err := w.Sample(t.Context(), 0); err == nil || !w.Window(0).Last {
		t.Errorf("%+v, %v", w.Window(0), err)
	}
	if _, err := w.Sample(t.Context(), 4); err != nil || !w.Window(4).Last || w.Window(3).Last {
		t.Errorf("%v", err)
	}
	var p *problem.Error
	for _, overlap := range []float64{-0.1, 0.95, math.NaN()} {
		_, err := NewWindows(t.Context(), src, shape, WindowsFit, overlap)
		if !errors.As(err, &p) || p.Field != "overlap" {
			t.Errorf("overlap %g: %v", overlap, err)
		}
	}
	numbers := open(t, "glyphs:2", Options{})
	_, err = NewWindows(t.Context(), numbers, Transform{}, WindowsFit, 0)
	if !errors.As(err, &p) || p.Field != "fit" {
		t.Errorf("no size: %v", err)
	}
	if _, err := ParseFit("squeeze"); !errors.As(err, &p) || p.Field != "fit" {
		t.Errorf("%v", err)
	}
}

// TestFitsOfALetterbox: in every fit, pixels outside of the picture are 114. The fit scale shows the same as
// evaluation.
func TestFitsOfALetterbox(t *testing.T) {
	transform := Transform{Height: 8, Width: 6, Letterbox: true}
	picture := tensor.New(tensor.U8, 3, 5, 3)
	for i := range picture.Bytes {
		picture.Bytes[i] = 200
	}
	for fit, shown := range map[Fit][2]int{ // height and width of the picture in the input
		ScaleFit: {3, 6}, PadFit: {3, 5}, WindowsFit: {3, 5}, ResizeFit: {8, 6},
	} {
		out := tensor.New(tensor.U8, 8, 6, 3)
		for _, v := range transform.views(fit, 0, 3, 5) {
			transform.applyView(out, picture, v)
		}
		for i, got := range out.Bytes {
			want := byte(114)
			if i/3%6 < shown[1] && i/18 < shown[0] {
				want = 200
			}
			if got != want {
				t.Fatalf("%s: row %d, column %d is %d, want %d", fit, i/18, i/3%6, got, want)
			}
		}
	}
}
