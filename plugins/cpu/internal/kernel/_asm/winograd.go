package main

import (
	"fmt"

	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel/_asm/form"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// winogradForm is a form of tiles that has kernels for AVX-512 and AVX2.
type winogradForm struct{ form.Form }

// winogradForms are the forms that have assembly.
func winogradForms() (forms []winogradForm) {
	for _, f := range form.All {
		forms = append(forms, winogradForm{f})
	}
	return forms
}

// name returns the name of a function on tiles of this form.
func (f winogradForm) name(stage string, set isa) string {
	return fmt.Sprintf("winograd%s%sf%dx%d", stage, set.name, f.Side, f.Kernel)
}

// winograd writes the transforms of tiles and weights, and the products between them.
func winograd() {
	c := &constants{made: map[string]operand.Mem{}}
	for i, f := range winogradForms() {
		for _, set := range []isa{avx512, avx2} {
			if i == 0 || f.Tile() != form.All[i-1].Tile() {
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

// edge sets acc to the value at the point 0 (first = 0) or infinity (first = 1). It sums len(Pairs)+1
// values of a row or column, every second one from number first on, with the coefficients of the form.
func (f winogradForm) edge(m *multiplier, first int, load func(k int, acc reg.VecPhysical),
	add func(v float64, k int, acc reg.VecPhysical), acc reg.VecPhysical) {
	load(first+2*len(f.Pairs), acc)
	for i := len(f.Pairs) - 1; i >= 0; i-- {
		add(f.Coefficients()[i], first+2*i, acc)
	}
}

// half sets acc to the even (first = 2) or odd (first = 1) part of the values at the points of pair i.
func (f winogradForm) half(i, first int, load func(k int, acc reg.VecPhysical),
	add func(v float64, k int, acc reg.VecPhysical), acc reg.VecPhysical) {
	last := f.Tile() - 4 + first
	load(last, acc)
	if q, ok := f.Other(i); ok {
		add(q, last-2, acc)
	}
}

// multiple returns the address base + k*step, given registers with odd multiples of the
// step.
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
