package augmentation

import "github.com/bnctl/bnctl/tensor"

// Mosaic has the settings of a picture that combines four samples (Bochkovskiy et al. 2020, YOLOX): the
// sample itself at the upper left, and three other samples at the upper right, lower left and lower right.
// One corner of each of them is at a common point.
type Mosaic struct {
	X, Y   int        // the common point, in pixels of the result
	Others [3]int     // numbers of the three other samples in the source
	Scales [4]float64 // size of each picture, relative to its size in evaluation
}

// Joins reports whether an augmentation combines pictures that have boxes.
func (a Augmentation) Joins() bool { return a.mosaic() != nil }

func (a Augmentation) mosaic() *operation {
	if len(a.ops) > 0 && a.ops[0].name == mosaic {
		return &a.ops[0]
	}
	return nil
}

// JoinedSamples is the number of pictures of a mosaic.
const JoinedSamples = 4

// DrawMosaic draws the settings of a mosaic of h x w pixels. samples is the number of samples of the source.
// The common point is between a quarter and three quarters of each side, and scales are from 0.5 to 1.5. ok
// is false if the sample must not be combined with others.
func (a Augmentation) DrawMosaic(samples, h, w int, d *tensor.Draws) (m Mosaic, ok bool) {
	op := a.mosaic()
	if op == nil {
		return m, false
	}
	draws := d.Stream(op.stream)
	if draws.Float64() >= op.args[0] {
		return m, false
	}
	m.X, m.Y = w/4+draws.Intn(w/2+1), h/4+draws.Intn(h/2+1)
	for k := range m.Scales {
		if k > 0 {
			m.Others[k-1] = draws.Intn(samples)
		}
		m.Scales[k] = draws.Between(0.5, 1.5)
	}
	return m, true
}
