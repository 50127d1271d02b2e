package data

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/data/augmentation"
	"github.com/bnctl/bnctl/tensor"
)

// rectangles is a source of dark pictures of several sizes. Each has up to two bright rectangles, and these
// are its boxes.
type rectangles struct{ n int }

func (r rectangles) Info() Info {
	return Info{Kind: "rectangles", Len: r.n, DType: tensor.U8, Labelled: true, Boxes: true,
		LabelShape: []int{2, BoxFields}, Classes: []string{"a", "b", "c"}}
}

func (r rectangles) size(i int) (h, w int) { return 60 + 7*(i%5), 50 + 11*(i%7) }

func (r rectangles) boxes(i int) (all []Box) {
	h, w := r.size(i)
	for k := range i % 3 {
		x, y := float32(5+k*w/2), float32(8+3*(i%4))
		all = append(all, Box{Corners: [4]float32{x, y, x + float32(w/3), float32(h - 10 - i%9)},
			Class: int32(i % 3)})
	}
	return all
}

func (r rectangles) Sample(_ context.Context, i int) (tensor.Tensor, error) {
	h, w := r.size(i)
	x := tensor.New(tensor.U8, h, w, 3)
	for _, b := range r.boxes(i) {
		for y := int(b.Corners[1]); y < int(b.Corners[3]); y++ {
			for at := 3 * (w*y + int(b.Corners[0])); at < 3*(w*y+int(b.Corners[2])); at++ {
				x.Bytes[at] = 255
			}
		}
	}
	return x, nil
}

func (r rectangles) Label(_ context.Context, i int) ([]int32, error) {
	label := make([]int32, 2*BoxFields)
	all := append(r.boxes(i), Box{Class: NoBox}, Box{Class: NoBox})
	for k := range 2 {
		all[k].Put(label[k*BoxFields:])
	}
	return label, nil
}

func (r rectangles) Name(i int) string                           { return fmt.Sprint("rectangle ", i) }
func (r rectangles) Fingerprint(context.Context) (string, error) { return "rectangles", nil }
func (r rectangles) Close() error                                { return nil }

// mosaicBatches returns the batches from position start on, as the bytes of pictures and labels.
func mosaicBatches(t *testing.T, augment string, letterbox bool, workers int, start Position) (xs,
	labels [][]byte) {
	t.Helper()
	l, err := NewLoader(t.Context(), rectangles{23}, Plan{Batch: 4, Seed: 5, Shuffle: true, Epochs: 2,
		Workers: workers, Start: start, Transform: Transform{Height: 96, Width: 64, Letterbox: letterbox,
			Augment: augmentation.MustParse(augment)}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for {
		b, err := l.Next()
		if err != nil {
			return xs, labels
		}
		xs, labels = append(xs, bytes.Clone(b.X.Bytes)), append(labels, bytes.Clone(b.Labels.Bytes))
		b.Release()
	}
}

// The boxes of a mosaic are exactly where its bright pixels are.
func TestMosaicMovesBoxes(t *testing.T) {
	const h, w, border = 96, 64, 2
	seen := 0
	for _, c := range []struct {
		augment   string
		letterbox bool
	}{{"mosaic:1", true}, {"mosaic:1 flip", true}, {"mosaic:1", false}, {"mosaic flip:1", true}} {
		xs, labels := mosaicBatches(t, c.augment, c.letterbox, 3, Position{})
		for k, x := range xs {
			label := tensor.Tensor{DType: tensor.I32, Shape: []int{len(labels[k]) / 4}, Bytes: labels[k]}.I32()
			n := len(x) / (h * w * 3)
			if len(label) != n*8*BoxFields {
				t.Fatalf("%d numbers in labels of %d pictures", len(label), n)
			}
			for row := range n {
				var all []Box
				for i := range 8 {
					if b := BoxOf(label[(row*8+i)*BoxFields:]); b.Class != NoBox {
						all = append(all, b)
					}
				}
				seen += len(all)
				checkPixels(t, c.augment, x[row*h*w*3:(row+1)*h*w*3], h, w, all, border, 180)
			}
		}
	}
	if seen < 200 {
		t.Errorf("only %d boxes", seen)
	}
}

// checkPixels checks that pixels inside of boxes are bright and others are not, except near the borders of
// boxes.
func checkPixels(t *testing.T, augment string, x []byte, h, w int, all []Box, border float32, above byte) {
	t.Helper()
	for i := range h * w {
		px, py := float32(i%w)+0.5, float32(i/w)+0.5
		within := func(by float32) bool {
			return slices.ContainsFunc(all, func(b Box) bool {
				return px > b.Corners[0]-by && px < b.Corners[2]+by && py > b.Corners[1]-by && py < b.Corners[3]+by
			})
		}
		if bright := x[3*i+1] > above; bright && !within(border) || !bright && within(-border) {
			t.Fatalf("%s: pixel %d, %d is %d; boxes %v", augment, i%w, i/w, x[3*i+1], all)
		}
	}
}

// A mosaic depends only on seed, epoch and sample, neither on the number of readers nor on the position at
// which the loader starts.
func TestMosaicBySample(t *testing.T) {
	xs, labels := mosaicBatches(t, "mosaic flip jitter", true, 1, Position{})
	again, labelsAgain := mosaicBatches(t, "mosaic flip jitter", true, 4, Position{})
	rest, _ := mosaicBatches(t, "mosaic flip jitter", true, 2, Position{1, 2})
	same := func(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) }
	if len(xs) != 12 || !same(xs, again) || !same(labels, labelsAgain) || !same(xs[8:], rest) {
		t.Errorf("%d batches differ with the number of readers, or after a start in the middle", len(xs))
	}
	if same(xs[:6], xs[6:]) {
		t.Error("both epochs have the same pictures")
	}
	never, _ := mosaicBatches(t, "mosaic:0 flip", true, 2, Position{})
	if plain, _ := mosaicBatches(t, "flip", true, 2, Position{}); !same(never, plain) {
		t.Error("mosaic:0 changes pictures")
	}
}

func TestMosaicRefuses(t *testing.T) {
	info := Info{Kind: "glyphs", DType: tensor.U8, Shape: []int{8, 8, 3}, Labelled: true}
	if err := CheckAugment(augmentation.MustParse("mosaic"), info); err == nil ||
		err.Error() != "augmentation mosaic joins pictures with boxes, and glyphs has none" {
		t.Error(err)
	}
	if _, err := augmentation.Parse("flip mosaic"); err == nil {
		t.Error("a mosaic after flip was accepted")
	}
}
