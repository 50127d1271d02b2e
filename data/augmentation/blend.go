package augmentation

import "github.com/bnctl/bnctl/tensor"

// Blend has the settings for blending a picture with another sample: the result is the average of both, with
// the boxes of both, as in the mixup of YOLOX (Ge et al. 2021).
type Blend struct {
	Other     int     // number of the other sample in the source
	Scale     float64 // size of the other sample, relative to its size in evaluation
	Mirrored  bool
	Left, Top float64 // position of the result in a larger other picture, as fractions of the range
}

// Blends reports whether an augmentation blends pictures that have boxes.
func (a Augmentation) Blends() bool { return a.blend() != nil }

func (a Augmentation) blend() *operation {
	for i := range a.ops[:min(len(a.ops), 2)] {
		if a.ops[i].name == blending {
			return &a.ops[i]
		}
	}
	return nil
}

// DrawBlend draws the settings for blending a sample with another sample of the source. The scale is from 0.5
// to 1.5. ok is false if the sample must not be changed.
func (a Augmentation) DrawBlend(samples int, d *tensor.Draws) (b Blend, ok bool) {
	op := a.blend()
	if op == nil {
		return b, false
	}
	draws := d.Stream(op.stream)
	if draws.Float64() >= op.args[0] {
		return b, false
	}
	b.Other, b.Scale = draws.Intn(samples), draws.Between(0.5, 1.5)
	b.Mirrored = draws.Float64() < 0.5
	b.Left, b.Top = draws.Float64(), draws.Float64()
	return b, true
}
