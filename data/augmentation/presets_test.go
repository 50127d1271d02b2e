package augmentation

import (
	"bytes"
	"math"
	"testing"

	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/tensor"
)

func TestRandomCrop(t *testing.T) {
	const h, w, n = 300, 400, 20000
	p := tensor.NewPhilox(1, tensor.StreamAugment)
	area, least, most := 0.0, 1.0, 0.0
	for i := range n {
		d := p.Draws(0, uint64(i))
		b := randomCrop(h, w, &d)
		if b.X < 0 || b.Y < 0 || b.W < 1 || b.H < 1 || b.X+b.W > w || b.Y+b.H > h {
			t.Fatalf("crop %+v leaves the picture", b)
		}
		if ratio := float64(b.W) / float64(b.H); ratio < 0.73 || ratio > 1.36 {
			t.Errorf("crop %+v has ratio %.2f", b, ratio)
		}
		share := float64(b.W*b.H) / (h * w)
		area, least, most = area+share, min(least, share), max(most, share)
	}
	// 0.433 is the mean area of 200,000 parts drawn by torchvision's algorithm in Python. The standard deviation
	// of the area of a single part is 0.24.
	if mean := area / n; math.Abs(mean-0.433) > 0.01 || least > 0.085 || least < 0.078 || most < 0.95 {
		t.Errorf("share of the area: mean %.3f from %.3f to %.3f", mean, least, most)
	}
}

func TestRandomCropOfExtremes(t *testing.T) {
	for _, c := range []struct {
		h, w int
		want images.Box
	}{{1000, 1, images.Box{X: 0, Y: 499, W: 1, H: 1}}, {3, 3000, images.Box{X: 1498, Y: 0, W: 4, H: 3}}} {
		d := tensor.NewPhilox(1, tensor.StreamAugment).Draws(0, 0)
		if got := randomCrop(c.h, c.w, &d); got != c.want {
			t.Errorf("randomCrop(%d, %d) = %+v, want %+v", c.h, c.w, got, c.want)
		}
	}
}

// The result of imagenet is the part that is cut out, scaled, and perhaps flipped.
func TestImageNetAugment(t *testing.T) {
	src := images.NewPlane(40, 50, 3)
	for i := range src.Pix {
		x, y, c := i/3%50, i/3/50, i%3
		src.Pix[i] = byte(x*x*3 + y*y*5 + x*y*7 + c*50)
	}
	got, want := images.NewPlane(24, 20, 3), images.NewPlane(24, 20, 3)
	d := tensor.NewPhilox(1, tensor.StreamAugment).Draws(0, 3)
	again := d
	ImageNet().Apply(images.Scaling{Resize: 30}, got, src, &d)
	images.Resample(images.Bilinear, want, src, randomCrop(40, 50, &again), 20, 24, want.Bounds())
	randomFlip(want, &again)
	if !bytes.Equal(got.Pix, want.Pix) {
		t.Error("the result is not the resized part, flipped or not")
	}
}
