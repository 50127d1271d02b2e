package augmentation

import (
	"math"

	"github.com/bnctl/bnctl/tensor"
)

// levels is the number of magnitudes of a change, from 0 to the largest.
const levels = 31

// policy has the largest magnitude of each change in RandAugment or TrivialAugmentWide. The values are those
// of torchvision 0.14.
type policy struct {
	shear, rotation, colour float64
	bits                    int // number of bits that posterize removes
	translation             func(side int) float64
}

var (
	// randAugment has the magnitudes of RandAugment (Cubuk et al. 2019).
	randAugment = policy{0.3, 30, 0.9, 4, func(side int) float64 { return float64(150. / 331 * float64(side)) }}
	// trivialWide has the magnitudes of TrivialAugmentWide (Müller and Hutter 2021).
	trivialWide = policy{0.99, 135, 0.99, 6, func(int) float64 { return 32 }}
)

// change is one of the changes that the policies choose from.
type change struct {
	name    string
	moves   bool // the change moves pixels, so that masks must be changed too
	signed  bool
	largest func(p policy, c *canvas) float64 // the largest magnitude
	apply   func(c *canvas, m float64)
}

// changes are the changes that the policies choose from. Their order must never change.
var changes = []change{
	{"Identity", false, false, none, nil},
	{"ShearX", true, true, shear, (*canvas).shearX},
	{"ShearY", true, true, shear, (*canvas).shearY},
	{"TranslateX", true, true, func(p policy, c *canvas) float64 { return p.translation(c.W) },
		func(c *canvas, m float64) { c.translate(int(m), 0) }},
	{"TranslateY", true, true, func(p policy, c *canvas) float64 { return p.translation(c.H) },
		func(c *canvas, m float64) { c.translate(0, int(m)) }},
	{"Rotate", true, true, func(p policy, _ *canvas) float64 { return p.rotation }, (*canvas).rotate},
	{"Brightness", false, true, factor, func(c *canvas, m float64) { brightness(c.Plane, 1+m) }},
	{"Color", false, true, factor, func(c *canvas, m float64) { saturation(c.Plane, 1+m) }},
	{"Contrast", false, true, factor, func(c *canvas, m float64) { contrast(c.Plane, 1+m) }},
	{"Sharpness", false, true, factor, func(c *canvas, m float64) { sharpness(c.Plane, 1+m) }},
	{"Posterize", false, false, func(p policy, _ *canvas) float64 { return float64(p.bits) },
		func(c *canvas, m float64) { posterize(c.Plane, 8-int(math.Round(m))) }},
	{"Solarize", false, false, func(policy, *canvas) float64 { return 255 },
		func(c *canvas, m float64) { solarize(c.Plane, 255-m) }},
	{"AutoContrast", false, false, none, func(c *canvas, _ float64) { autoContrast(c.Plane) }},
	{"Equalize", false, false, none, func(c *canvas, _ float64) { equalize(c.Plane) }},
}

func none(policy, *canvas) float64       { return 0 }
func shear(p policy, _ *canvas) float64  { return p.shear }
func factor(p policy, _ *canvas) float64 { return p.colour }

// magnitude returns the magnitude of a level: element level of torch.linspace(0, largest, levels). Like
// PyTorch, it computes in float32 and counts steps from the nearer end. The middle level is half of largest.
func magnitude(largest float64, level int) float64 {
	end := float32(largest)
	step := float64(end / (levels - 1))
	switch left := levels - 1 - level; {
	case level < left:
		return float64(float32(step * float64(level)))
	case level > left:
		return float64(float32(float64(end) - float64(step*float64(left))))
	}
	return float64(end / 2)
}

// play makes the change h of c, at a level of the policy. If negative is set, the magnitude is negative.
func (p policy) play(c *canvas, h change, level int, negative bool) {
	if h.apply == nil || c.mask && !h.moves {
		return
	}
	m := magnitude(h.largest(p, c), level)
	if h.signed && negative {
		m = -m
	}
	h.apply(c, m)
}

// randAugmentOperation makes args[0] changes of magnitude args[1]. It uses two draws for each change: one
// selects the change, and one the sign of its magnitude.
func randAugmentOperation(c *canvas, args []float64, d *tensor.Draws) {
	for range int(args[0]) {
		h := changes[d.Intn(len(changes))]
		randAugment.play(c, h, int(args[1]), d.Uint32()>>31 == 1)
	}
}

// trivialOperation makes one change. It uses three draws: one selects the change, one the level of its
// magnitude, and one the sign of its magnitude.
func trivialOperation(c *canvas, _ []float64, d *tensor.Draws) {
	h, level := changes[d.Intn(len(changes))], d.Intn(levels)
	trivialWide.play(c, h, level, d.Uint32()>>31 == 1)
}
