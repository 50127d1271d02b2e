package kernel

import (
	"fmt"
	"math"
)

// The gradient of a kernel of 3 by 3 needs the same tiles of the input as
// Winograd, and the tiles of the result's gradient taken to the same points.
// For every frequency the products are summed over the tiles by Gradient,
//
//	sums[f][c][o] += sum over tiles of v[f][tile][c] * d[f][tile][o]
//
// and WinogradTaps makes nine elements of the sums of all frequencies: the
// transpose of what Winograd does, step by step.

// winogradGradients is the assembly of these, by Side.
type winogradGradients map[int]struct {
	spreadOut func(v *float32, vFreq int, vTile int, in *float32, rowStep int, colStep int, tileStep int,
		tiles int, vectors int)
	taps func(taps *float32, tapStep int, sums *float32, sumFreq int, count int)
}

// GradientTiles returns the window over so many transformed tiles with which
// Gradient sums the products of one frequency.
func (g Winograd) GradientTiles(tiles int) *Window {
	in, out := make([]int32, tiles), make([]int32, tiles)
	of := Winograd{Side: g.Side, In: g.Out}
	inStep, _ := g.inSteps(tiles)
	outStep, _ := of.inSteps(tiles)
	for t := range tiles {
		in[t], out[t] = int32(4*t*inStep), int32(4*t*outStep)
	}
	return NewWindow(in, out, 1, g.In, g.Out)
}

// GradientLen returns the values of so many transformed tiles of the result's
// gradient, with what Gradient reads behind them.
func (g Winograd) GradientLen(tiles int) int {
	return Winograd{Side: g.Side, In: g.Out}.InLen(tiles) + GradientSlack
}

// Frequency returns where frequency f of so many tiles begins, in the
// transformed input and in the transformed gradient of the result.
func (g Winograd) Frequency(f, tiles int) (in, gradient int) {
	_, inStep := g.inSteps(tiles)
	_, outStep := Winograd{Side: g.Side, In: g.Out}.inSteps(tiles)
	return f * inStep, f * outStep
}

// WinogradGradient transforms a row of tiles of Side by Side pixels of a
// result's gradient; they are tiles first and on of all.
func (s *Set) WinogradGradient(g Winograd, v []float32, first, all int, in []float32, r Row) {
	tile, freq := Winograd{Side: g.Side, In: g.Out}.inSteps(all)
	if len(v) < g.GradientLen(all) || first < 0 || first+r.Count > all || r.Count < 1 ||
		r.At < 0 || len(in) < r.need(g.Side, g.Side, g.Out, g.Out) {
		panic(fmt.Sprintf("kernel.WinogradGradient: %+v, tiles [%d, %d) of %d in %d values, gradient of %d "+
			"values, %+v", g, first, first+r.Count, all, len(v), len(in), r))
	}
	v, in = v[first*tile:], in[r.At:]
	if s.winogradGradients != nil {
		s.winogradGradients[g.Side].spreadOut(&v[0], 4*freq, 4*tile, &in[0], 4*r.Step, 4*g.Out, 4*g.Out*g.Side,
			r.Count, g.Out/Lanes)
		return
	}
	for t := range r.Count {
		g.spreadOutGeneric(v[t*tile:], freq, in[t*g.Side*g.Out:], r.Step)
	}
}

// WinogradTaps computes the elements of n kernels, a multiple of Lanes, from
// the sums of all frequencies: taps is [9][n], sums [frequency][n].
func (s *Set) WinogradTaps(g Winograd, taps, sums []float32, n int) {
	if n%Lanes != 0 || len(taps) < winogradTaps*n || len(sums) < g.Frequencies()*n {
		panic(fmt.Sprintf("kernel.WinogradTaps: %+v, %d kernels, %d values from %d", g, n, len(taps), len(sums)))
	}
	if s.winogradGradients != nil && n > 0 {
		s.winogradGradients[g.Side].taps(&taps[0], 4*n, &sums[0], 4*n, n)
		return
	}
	g.tapsGeneric(taps, sums, n)
}

// points sets t to the values at the points of the polynomial whose
// coefficients are y.
func (g Winograd) points(t, y []float32) {
	t[0], t[g.Tile()-1] = y[0], y[g.Side-1]
	for i, p := range g.pairs() {
		even, odd := y[0], y[1]
		if g.Side == 4 {
			even, odd = fuse(p*p, y[2], even), fuse(p*p, y[3], odd)
		}
		t[1+2*i], t[2+2*i] = fuse(p, odd, even), fuse(-p, odd, even)
	}
}

// spreadOutGeneric transforms one tile, columns first.
func (g Winograd) spreadOutGeneric(v []float32, freq int, in []float32, rowStep int) {
	n := g.Tile()
	var half [winogradMost][winogradMost]float32
	var d, t [winogradMost]float32
	for c := range g.Out {
		for x := range g.Side {
			for y := range g.Side {
				d[y] = in[y*rowStep+x*g.Out+c]
			}
			g.points(t[:], d[:])
			for i := range n {
				half[i][x] = t[i]
			}
		}
		for i := range n {
			g.points(t[:], half[i][:])
			for j := range n {
				v[(i*n+j)*freq+c] = t[j]
			}
		}
	}
}

// elements returns the three coefficients that the values at the points make.
func (g Winograd) elements(x []float64) [3]float64 {
	factor := g.factors()
	e := [3]float64{float64(factor[0] * x[0]), 0, x[g.Tile()-1]}
	for i, p := range g.pairs() {
		f, p := factor[1+2*i], float64(p)
		sum, difference := x[1+2*i]+x[2+2*i], x[1+2*i]-x[2+2*i]
		e[0] = math.FMA(f, sum, e[0])
		if i == 0 {
			e[1] = float64(float64(f*p) * difference)
		} else {
			e[1] = math.FMA(float64(f*p), difference, e[1])
		}
		e[2] = math.FMA(float64(float64(f*p)*p), sum, e[2])
	}
	return e
}

// tapsGeneric computes n kernels in float64, columns first.
func (g Winograd) tapsGeneric(taps, sums []float32, n int) {
	size := g.Tile()
	var half [3][winogradMost]float64
	var x [winogradMost]float64
	for k := range n {
		for j := range size {
			for i := range size {
				x[i] = float64(sums[(i*size+j)*n+k])
			}
			for y, e := range g.elements(x[:]) {
				half[y][j] = e
			}
		}
		for y := range half {
			for j, e := range g.elements(half[y][:]) {
				taps[(3*y+j)*n+k] = float32(e)
			}
		}
	}
}
