package main

import (
	"fmt"
	"math"
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
func (w winogradForm) tile() int { return w.side + w.kernel - 1 }

// name names what is computed of tiles of a form.
func (w winogradForm) name(what string) string {
	return fmt.Sprintf("winograd%sNEONf%dx%d", what, w.side, w.kernel)
}

// factor returns what makes up for the scale of the value at point i: one
// over the product of its distances from the other points.
func (w winogradForm) factor(i int) float64 {
	if i == w.tile()-1 {
		return 1
	}
	points := []float64{0}
	for _, p := range w.pairs {
		points = append(points, p, -p)
	}
	d := 1.0
	for j, p := range points {
		if j != i {
			d *= points[i] - p
		}
	}
	return 1 / d
}

// powers returns p to the power of 0 to n-1, for each pair, but for what is 1.
func (w winogradForm) powers(n int) (all []float64) {
	for _, p := range w.pairs {
		for k := range n {
			if v := math.Pow(p, float64(k)); v != 1 {
				all = append(all, v)
			}
		}
	}
	return all
}

// winograd writes the transforms of tiles and weights, and the products between them.
func winograd(f *file) {
	for i, w := range winogradForms {
		if i == 0 || w.tile() != winogradForms[i-1].tile() {
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
