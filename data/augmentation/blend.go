package augmentation

import "github.com/bnctl/bnctl/tensor"

// Blend has the settings of a blend: the average of a picture and another sample, with the boxes of both,
// as in the mixup of YOLOX (Ge et al. 2021).
type Blend struct {
	Other     int     // number of the other sample in the source
	Scale     float64 // factor of the size that the other sample has in evaluation
	Mirrored  bool
	Left, Top float64 // position of the result in a larger picture, from 0 to 1 of the possible range
}

// Blends reports whether an augmentation averages pictures with boxes.
func (a Augmentation) Blends() bool { return a.blend() != nil }

func (a Augmentation) blend() *operation {
	for i := range a.ops[:min(len(a.ops), 2)] {
		if a.ops[i].name == blending {
			return &a.ops[i]
		}
	}
	return nil
}

// DrawBlend draws the blend of a sample with another one of a source. The scale is from 0.5 to 1.5. ok is
// false if the sample is not changed.
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
