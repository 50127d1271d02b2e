package data

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/bnctl/bnctl/tensor"
)

// shapesSide is the height and width of the pictures of shapes, which are in RGB.
const shapesSide = 64

// Default numbers of scenes, for a spec without a number.
const (
	shapesTrain = 2000
	shapesTest  = 500
)

// shapesVersion is part of the fingerprint. It must be changed if any pixel changes.
const shapesVersion = "shapes 1"

// shapeClasses are the classes of the pixels. The first is the background where no shape covers it.
var shapeClasses = []string{"background", "disc", "square", "triangle", "ring", "cross"}

// shapes has the first n scenes of an endless sequence, with their masks. Scene i of a split depends only on
// i and the split.
type shapes struct {
	info   Info
	philox tensor.Philox
	epoch  uint32 // differs between the splits, so that they have different draws
}

// openShapes opens shapes[:N]. N is the number of samples of the opened split.
func openShapes(_ context.Context, s spec, _ Options) (Source, error) {
	split, n, epoch := s.drawn(shapesTrain, shapesTest)
	x := &shapes{philox: tensor.NewPhilox(0, tensor.StreamShapes), epoch: epoch}
	if s.path != "" {
		var err error
		if n, err = strconv.Atoi(s.path); err != nil || n < 1 || n > math.MaxInt32 {
			return nil, fmt.Errorf("%w: %q is no number of samples from 1 to %d", ErrSpec, s.path, math.MaxInt32)
		}
	}
	x.info = Info{Kind: s.kind, Split: split, Len: n, DType: tensor.U8,
		Shape: []int{shapesSide, shapesSide, 3}, Labelled: true,
		LabelShape: []int{shapesSide, shapesSide}, Masks: true, Classes: shapeClasses}
	return x, nil
}

// Info implements Source.
func (x *shapes) Info() Info { return x.info }

// Sample implements Source.
func (x *shapes) Sample(_ context.Context, i int) (tensor.Tensor, error) {
	d := x.philox.Draws(x.epoch, uint64(i))
	s := drawScene(&d)
	t := tensor.New(tensor.U8, x.info.Shape...)
	s.paint(t.Bytes, &d)
	return t, nil
}

// Label implements Source.
func (x *shapes) Label(_ context.Context, i int) ([]int32, error) {
	d := x.philox.Draws(x.epoch, uint64(i))
	s := drawScene(&d)
	mask := make([]int32, shapesSide*shapesSide)
	for at := range mask {
		mask[at] = s.top(at%shapesSide, at/shapesSide).class
	}
	return mask, nil
}

// Name implements Source.
func (x *shapes) Name(i int) string { return fmt.Sprintf("scene %d of %s", i, x.info.Split) }

// Fingerprint implements Source.
func (x *shapes) Fingerprint(context.Context) (string, error) {
	h := newFingerprint(x.info)
	h.text(shapesVersion)
	h.number(int64(x.epoch))
	return h.sum(), nil
}

// Close implements Source.
func (x *shapes) Close() error { return nil }
