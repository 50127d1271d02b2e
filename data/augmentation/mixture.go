package augmentation

import (
	"math"

	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/tensor"
)

// Mixture has the settings for mixing each row of a batch with a partner row. All rows of the batch share
// them.
type Mixture struct {
	Fraction float64    // weight of the row itself: a multiple of 2^-24, so that 1-Fraction is exact, too
	Cut      images.Box // cutmix: the part that is copied from the partner; empty: every pixel is mixed
}

// mixing returns the operations mixup and cutmix of an augmentation, or nil where it has none.
func (a Augmentation) mixing() (up, cut *operation) {
	for _, op := range a.ops {
		switch op.name {
		case mixup:
			up = &op
		case Cutmix:
			cut = &op
		}
	}
	return up, cut
}

// Mixes reports whether an augmentation mixes samples of a batch.
func (a Augmentation) Mixes() bool {
	up, cut := a.mixing()
	return up != nil || cut != nil
}

// DrawMixture draws the settings for mixing a batch of pictures of h x w pixels. If the augmentation has both
// mixup and cutmix, the first draw selects one. Then the fraction is drawn, and for cutmix the centre of the
// part: first across, then down.
func (a Augmentation) DrawMixture(seed uint64, epoch, index, h, w int) Mixture {
	up, cut := a.mixing()
	d := tensor.NewPhilox(seed, tensor.StreamMix).Draws(uint32(epoch), uint64(index))
	if up != nil && (cut == nil || d.Uint32()>>31 == 0) {
		return Mixture{Fraction: exactFraction(d.Beta(up.args[0]))}
	}
	side := float64(0.5 * math.Sqrt(1-d.Beta(cut.args[0])))
	x, y := d.Intn(w), d.Intn(h)
	acrossHalf, downHalf := int(float64(side*float64(w))), int(float64(side*float64(h)))
	left, top := max(x-acrossHalf, 0), max(y-downHalf, 0)
	b := images.Box{X: left, Y: top, W: min(x+acrossHalf, w) - left, H: min(y+downHalf, h) - top}
	return Mixture{exactFraction(1 - float64(b.W*b.H)/float64(w*h)), b}
}

func exactFraction(v float64) float64 { return math.RoundToEven(v*(1<<24)) / (1 << 24) }

// Apply mixes a picture with its partner.
func (m Mixture) Apply(p images.Plane, partner []byte) {
	if m.Cut != (images.Box{}) {
		for y := m.Cut.Y; y < m.Cut.Y+m.Cut.H; y++ {
			from, to := (y*p.W+m.Cut.X)*p.C, (y*p.W+m.Cut.X+m.Cut.W)*p.C
			copy(p.Pix[from:to], partner[from:to])
		}
		return
	}
	var first, second [256]float64
	for v := range first {
		first[v], second[v] = float64(m.Fraction*float64(v)), float64((1-m.Fraction)*float64(v))
	}
	for i, v := range p.Pix {
		p.Pix[i] = byte(math.RoundToEven(first[v] + second[partner[i]]))
	}
}

// CutsParts reports whether an augmentation copies parts of a picture into another picture.
func (a Augmentation) CutsParts() bool {
	_, cut := a.mixing()
	return cut != nil
}
