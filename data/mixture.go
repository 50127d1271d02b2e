package data

import (
	"math"

	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/tensor"
)

// mixture holds the settings that all rows of a batch share.
type mixture struct {
	fraction float64    // share of the row itself, in steps of 2^-24: exact in float32, like 1 minus it
	cut      images.Box // cutmix: the part copied from the partner; empty: every pixel is mixed
}

// mixing returns the operations of an augmentation that mix.
func (a Augment) mixing() (up, cut *operation) {
	for _, op := range a.operations() {
		switch op.name {
		case mixup:
			up = &op
		case cutmix:
			cut = &op
		}
	}
	return up, cut
}

// Mixes reports whether an augmentation mixes samples of a batch.
func (a Augment) Mixes() bool {
	up, cut := a.mixing()
	return up != nil || cut != nil
}

// drawMixture draws the mixture of a batch of pictures of h x w pixels. If both ways to mix
// are enabled, the first word selects one. Then it draws the fraction, and for cutmix the
// centre of the part: across, down.
func (a Augment) drawMixture(seed uint64, epoch, index, h, w int) mixture {
	up, cut := a.mixing()
	d := tensor.NewPhilox(seed, tensor.StreamMix).Draws(uint32(epoch), uint64(index))
	if up != nil && (cut == nil || d.Uint32()>>31 == 0) {
		return mixture{fraction: exactFraction(d.Beta(up.args[0]))}
	}
	side := float64(0.5 * math.Sqrt(1-d.Beta(cut.args[0])))
	x, y := d.Intn(w), d.Intn(h)
	acrossHalf, downHalf := int(float64(side*float64(w))), int(float64(side*float64(h)))
	left, top := max(x-acrossHalf, 0), max(y-downHalf, 0)
	b := images.Box{X: left, Y: top, W: min(x+acrossHalf, w) - left, H: min(y+downHalf, h) - top}
	return mixture{exactFraction(1 - float64(b.W*b.H)/float64(w*h)), b}
}

func exactFraction(v float64) float64 { return math.RoundToEven(v*(1<<24)) / (1 << 24) }

// apply mixes a picture with its partner.
func (m mixture) apply(p images.Plane, partner []byte) {
	if m.cut != (images.Box{}) {
		for y := m.cut.Y; y < m.cut.Y+m.cut.H; y++ {
			from, to := (y*p.W+m.cut.X)*p.C, (y*p.W+m.cut.X+m.cut.W)*p.C
			copy(p.Pix[from:to], partner[from:to])
		}
		return
	}
	var first, second [256]float64
	for v := range first {
		first[v], second[v] = float64(m.fraction*float64(v)), float64((1-m.fraction)*float64(v))
	}
	for i, v := range p.Pix {
		p.Pix[i] = byte(math.RoundToEven(first[v] + second[partner[i]]))
	}
}

// cutsParts reports whether an augmentation puts parts of a picture into another.
func (a Augment) cutsParts() bool {
	_, cut := a.mixing()
	return cut != nil
}
