package augmentation

import (
	"math"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/tensor"
)

// The pixels of shifts, flips, scaled parts and erased parts equal torchvision's, bit for
// bit.
func TestMovesAreTorchvisions(t *testing.T) {
	g := readAugmentGoldens(t)
	for _, golden := range g.Crop {
		for k, want := range strings.Fields(golden.Is) {
			dx, dy := k-4, int(golden.By)
			d := drawsOf(t, func(d *tensor.Draws) bool { return d.Intn(9)-4 == dx && d.Intn(9)-4 == dy })
			if got := golden.after(func(c *canvas) { cropOperation(c, []float64{4}, &d) }); got != want {
				t.Errorf("%dx%d %s shifted by %d, %d: %s, want %s", golden.Width, golden.Height, golden.Mode, dx, dy, got, want)
			}
		}
	}
	for _, golden := range g.Flip {
		d := tensor.NewPhilox(1, tensor.StreamAugment).Draws(0, 0)
		if got := golden.after(func(c *canvas) { flipOperation(c, []float64{1}, &d) }); got != golden.Is {
			t.Errorf("%dx%d %s mirrored: %s, want %s", golden.Width, golden.Height, golden.Mode, got, golden.Is)
		}
	}
	for _, golden := range g.Part {
		from := images.Box{X: golden.Box[0], Y: golden.Box[1], W: golden.Box[2], H: golden.Box[3]}
		var got []string
		for _, f := range []images.Filter{images.Bilinear, images.Bicubic} {
			got = append(got, golden.after(func(c *canvas) {
				w, h := golden.Size[0], golden.Size[1]
				part := &canvas{Plane: images.NewPlane(h, w, c.C)}
				scalePart(f, part, c.Plane, from)
				c.Plane = part.Plane
			}))
		}
		if all := strings.Join(got, " "); all != golden.Is {
			t.Errorf("%dx%d %s, %v scaled to %v: %s, want %s", golden.Width, golden.Height, golden.Mode, from, golden.Size,
				all, golden.Is)
		}
	}
	for _, golden := range g.Erase {
		from := images.Box{X: golden.Box[0], Y: golden.Box[1], W: golden.Box[2], H: golden.Box[3]}
		if got := golden.after(func(c *canvas) { c.blacken(from) }); got != golden.Is {
			t.Errorf("%dx%d %s without %v: %s, want %s", golden.Width, golden.Height, golden.Mode, from, got, golden.Is)
		}
	}
}

// drawsOf returns the draws of the first sample that is accepts.
func drawsOf(t *testing.T, is func(d *tensor.Draws) bool) tensor.Draws {
	t.Helper()
	for i := range uint64(100_000) {
		d := tensor.NewPhilox(1, tensor.StreamAugment).Draws(0, i)
		if tried := d; is(&tried) {
			return d
		}
	}
	t.Fatal("no sample draws that")
	return tensor.Draws{}
}

// Scaled and erased parts are drawn as in torchvision. The means and mean squares of their shares of the
// area, ratios and positions are the same, within five standard deviations of a mean over 20,000 draws.
func TestPartsAreDrawnAsByTorchvision(t *testing.T) {
	g := readAugmentGoldens(t)
	const n = 20_000
	for _, golden := range append(g.Parts, g.Erased...) {
		w, h := golden.Width, golden.Height
		var sums, squares [6]float64
		for i := range uint64(n) {
			d := tensor.NewPhilox(2, tensor.StreamAugment).Draws(0, i)
			var part images.Box
			if golden.Scale != nil {
				part = randomPart(h, w, golden.Scale[0], golden.Scale[1], &d)
			} else {
				part = erasedPart(h, w, 0.02, 0.33, &d)
			}
			pw, ph := float64(part.W), float64(part.H)
			share, ratio := pw*ph/float64(w*h), math.Log(ph/pw)
			for k, v := range []float64{share, share * share, ratio, ratio * ratio,
				(float64(part.X) + pw/2) / float64(w), (float64(part.Y) + ph/2) / float64(h)} {
				sums[k], squares[k] = sums[k]+v, squares[k]+v*v
			}
		}
		for k, want := range golden.Moments {
			mean := sums[k] / n
			deviation := math.Sqrt((squares[k]/n-mean*mean)*(2./n)) + 1e-4
			if math.Abs(mean-want) > 5*deviation {
				t.Errorf("%dx%d, shares %v, moment %d is %.4f, want %.4f (%.4f)", w, h, golden.Scale, k, mean, want, deviation)
			}
		}
	}
}
