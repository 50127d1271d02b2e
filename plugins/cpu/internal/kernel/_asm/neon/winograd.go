package main

import (
	"fmt"
	"math"

	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel/_asm/form"
)

// winogradForm is a form of tiles that has kernels for NEON.
type winogradForm struct{ form.Form }

// winogradForms are the forms that have assembly.
func winogradForms() (forms []winogradForm) {
	for _, f := range form.All {
		forms = append(forms, winogradForm{f})
	}
	return forms
}

// name returns the name of a function on tiles of this form.
func (w winogradForm) name(stage string) string {
	return fmt.Sprintf("winograd%sNEONf%dx%d", stage, w.Side, w.Kernel)
}

// powers returns the powers p^0 to p^(n-1) of the point p of each pair, except for powers that are 1.
func (w winogradForm) powers(n int) (list []float64) {
	for _, p := range w.Pairs {
		for k := range n {
			if v := math.Pow(p, float64(k)); v != 1 {
				list = append(list, v)
			}
		}
	}
	return list
}

// winograd writes the transforms of tiles and weights, and the products between them.
func winograd(f *file) {
	for i, w := range winogradForms() {
		if i == 0 || w.Tile() != form.All[i-1].Tile() {
			winogradInput(f, w)
		}
		winogradOutput(f, w)
		winogradWeights(f, w)
	}
	for p := 6; p > 0; p-- {
		winogradProduct(f, p)
	}
	winogradSpread(f)
}
