package data

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data/augmentation"
	"github.com/bnctl/bnctl/tensor"
)

// The boxes of a blended picture are where the bright pixels of both pictures are. The average of bright and
// dark is 127, and the grey of a letterbox is 114.
func TestBlendMovesBoxes(t *testing.T) {
	const h, w, border = 96, 64, 2
	for augment, most := range map[string]int{"blend:1": 4, "blend:1 flip": 4, "mosaic:1 blend:1": 10} {
		seen := 0
		xs, labels := mosaicBatches(t, augment, true, 3, Position{})
		for k, x := range xs {
			label := tensor.Tensor{DType: tensor.I32, Shape: []int{len(labels[k]) / 4}, Bytes: labels[k]}.I32()
			n := len(x) / (h * w * 3)
			if len(label) != n*most*BoxFields {
				t.Fatalf("%d numbers in labels of %d pictures", len(label), n)
			}
			for row := range n {
				var all []Box
				for i := range most {
					if b := BoxOf(label[(row*most+i)*BoxFields:]); b.Class != NoBox {
						all = append(all, b)
					}
				}
				seen += len(all)
				checkPixels(t, augment, x[row*h*w*3:(row+1)*h*w*3], h, w, all, border, 120)
			}
		}
		if seen < 60 {
			t.Errorf("%s: only %d boxes", augment, seen)
		}
	}
}

// A blended picture depends only on seed, epoch and sample.
func TestBlendBySample(t *testing.T) {
	for _, augment := range []string{"blend flip jitter", "mosaic blend flip"} {
		xs, labels := mosaicBatches(t, augment, true, 1, Position{})
		again, labelsAgain := mosaicBatches(t, augment, true, 4, Position{})
		rest, _ := mosaicBatches(t, augment, true, 2, Position{1, 2})
		if len(xs) != 12 || !same(xs, again) || !same(labels, labelsAgain) || !same(xs[8:], rest) {
			t.Errorf("%s: %d batches differ with the number of readers, or after a start in the middle", augment, len(xs))
		}
	}
	never, _ := mosaicBatches(t, "mosaic blend:0 flip", true, 2, Position{})
	if plain, _ := mosaicBatches(t, "mosaic flip", true, 2, Position{}); !same(never, plain) {
		t.Error("blend:0 changes pictures")
	}
}

func same(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) }

func TestBlendRefuses(t *testing.T) {
	info := Info{Kind: "glyphs", DType: tensor.U8, Shape: []int{8, 8, 3}, Labelled: true}
	boxes := rectangles{2}.Info()
	for _, c := range []struct {
		augment, want string
		info          Info
	}{
		{"blend", "blend adds pictures with boxes, and glyphs has none", info},
		{"mixup", "mixup mixes labels of classes, not boxes; use blend", boxes},
	} {
		if err := CheckAugment(augmentation.MustParse(c.augment), c.info); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.augment, err, c.want)
		}
	}
	for _, text := range []string{"flip blend", "mosaic flip blend", "blend mosaic"} {
		if _, err := augmentation.Parse(text); err == nil {
			t.Errorf("%s was accepted", text)
		}
	}
}
