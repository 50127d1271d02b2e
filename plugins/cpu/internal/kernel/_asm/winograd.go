package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// winogradForm is a choice of points: 0, plus and minus each of pairs, and
// infinity. device/class/winograd.go states what is computed.
type winogradForm struct {
	side, kernel int // outputs of a tile, elements of a kernel, along one side
	pairs        []float64
}

// winogradForms are all tiles, those with other inputs first.
var winogradForms = []winogradForm{
	{2, 3, []float64{1}}, {4, 3, []float64{0.75, 1.5}}, {2, 5, []float64{0.75, 1.5}},
}

// tile returns the inputs of a tile along one side.
func (f winogradForm) tile() int { return f.side + f.kernel - 1 }

// name names what is computed of tiles of a form.
func (f winogradForm) name(what string, set isa) string {
	return fmt.Sprintf("winograd%s%sf%dx%d", what, set.name, f.side, f.kernel)
}

// others returns the square of the pair that is not pair i, and whether there is one.
func (f winogradForm) other(i int) (float64, bool) {
	if len(f.pairs) == 1 {
		return 0, false
	}
	return f.pairs[1-i] * f.pairs[1-i], true
}

// winograd writes the transforms of tiles and weights, and the products between them.
func winograd() {
	c := &constants{made: map[string]operand.Mem{}}
	for i, f := range winogradForms {
		for _, set := range []isa{avx512, avx2} {
			if i == 0 || f.tile() != winogradForms[i-1].tile() {
				winogradInput(c, set, f)
			}
			winogradOutput(c, set, f)
			winogradWeights(c, set, f)
		}
	}
	for _, n := range []int{2, 1} {
		for p := 14; p > 0; p-- {
			winogradProduct(avx512, n, p)
		}
	}
	for p := 3; p > 0; p-- {
		winogradProduct(avx2, 2, p)
	}
	for p := 6; p > 0; p-- {
		winogradProduct(avx2, 1, p)
	}
	winogradSpread(avx512)
	winogradSpread(avx2)
}

// all returns the coefficients of x^0 and x^2 of the product of x^2 - p^2 over
// all pairs.
func (f winogradForm) all() []float64 {
	if len(f.pairs) == 1 {
		return []float64{-f.pairs[0] * f.pairs[0]}
	}
	a, b := f.pairs[0]*f.pairs[0], f.pairs[1]*f.pairs[1]
	return []float64{a * b, -(a + b)}
}

// edge sets acc to the value at 0 (first = 0) or infinity (first = 1) of the
// values at d, of which there are len(all)+1 for either.
func (f winogradForm) edge(m *multiplier, first int, load func(k int, acc reg.VecPhysical),
	add func(v float64, k int, acc reg.VecPhysical), acc reg.VecPhysical) {
	load(first+2*len(f.pairs), acc)
	for i := len(f.pairs) - 1; i >= 0; i-- {
		add(f.all()[i], first+2*i, acc)
	}
}

// half sets acc to the even (first = 2) or odd (first = 1) part of pair i.
func (f winogradForm) half(i, first int, load func(k int, acc reg.VecPhysical),
	add func(v float64, k int, acc reg.VecPhysical), acc reg.VecPhysical) {
	last := f.tile() - 4 + first
	load(last, acc)
	if q, ok := f.other(i); ok {
		add(-q, last-2, acc)
	}
}

// multiple returns the address k steps behind base, given odd multiples of the step.
func multiple(base reg.GPPhysical, odd []reg.GPPhysical, k int) operand.Mem {
	if k == 0 {
		return operand.Mem{Base: base}
	}
	scale := 1
	for k%2 == 0 {
		k, scale = k/2, scale*2
	}
	return operand.Mem{Base: base, Index: odd[k/2], Scale: uint8(scale)}
}
