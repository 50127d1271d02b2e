package data

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/bnctl/bnctl/tensor"
)

// glyphSide is the height and width of a glyph picture, which has one channel.
const glyphSide = 28

// Default numbers of glyphs, for a spec without a number.
const (
	glyphsTrain = 6000
	glyphsTest  = 1000
)

// glyphsVersion is part of the fingerprint. It must be changed if any pixel changes.
const glyphsVersion = "glyphs 1"

// glyphs has the first n digits of an endless sequence. Digit i of a split depends only on i and the split.
type glyphs struct {
	info    Info
	philox  tensor.Philox
	epoch   uint32 // differs between the splits, so that they have different draws
	masters []glyphMaster
}

// openGlyphs opens glyphs[:N]. N is the number of samples of the opened split.
func openGlyphs(_ context.Context, s spec, _ Options) (Source, error) {
	g := &glyphs{philox: tensor.NewPhilox(0, tensor.StreamGlyphs), masters: glyphMasters()}
	split, n, epoch := s.drawn(glyphsTrain, glyphsTest)
	g.epoch = epoch
	if s.path != "" {
		var err error
		if n, err = strconv.Atoi(s.path); err != nil || n < 1 || n > math.MaxInt32 {
			return nil, fmt.Errorf("%w: %q is no number of samples from 1 to %d", ErrSpec, s.path, math.MaxInt32)
		}
	}
	g.info = Info{
		Kind: s.kind, Split: split, Len: n, DType: tensor.U8,
		Shape: []int{glyphSide, glyphSide, 1}, Labelled: true, Classes: digits,
	}
	return g, nil
}

// Info implements Source.
func (g *glyphs) Info() Info { return g.info }

// Sample implements Source.
func (g *glyphs) Sample(_ context.Context, i int) (tensor.Tensor, error) {
	t := tensor.New(tensor.U8, g.info.Shape...)
	d := g.philox.Draws(g.epoch, uint64(i))
	font := d.Intn(len(g.masters) / len(digits))
	g.masters[font*len(digits)+i%len(digits)].draw(t.Bytes, drawPose(&d), &d)
	return t, nil
}

// glyphLabels are the labels of the digits. Sample i has the label i mod 10.
var glyphLabels = [...]int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}

// Label implements Source.
func (g *glyphs) Label(_ context.Context, i int) ([]int32, error) {
	return glyphLabels[i%len(digits):][:1], nil
}

// Name implements Source.
func (g *glyphs) Name(i int) string { return fmt.Sprintf("glyph %d of %s", i, g.info.Split) }

// Fingerprint implements Source.
func (g *glyphs) Fingerprint(context.Context) (string, error) {
	h := newFingerprint(g.info)
	h.text(glyphsVersion)
	h.number(int64(g.epoch))
	return h.sum(), nil
}

// Close implements Source.
func (g *glyphs) Close() error { return nil }
