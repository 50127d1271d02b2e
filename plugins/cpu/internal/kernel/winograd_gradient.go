package kernel

import (
	"fmt"

	"github.com/bnctl/bnctl/device/class"
)

// The gradient of a kernel needs the same tiles of the input as Winograd, and the tiles of the
// result's gradient, transformed to the same points. For every frequency Gradient sums the
// products over the tiles:
//
//	sums[f][c][o] += sum over tiles of v[f][tile][c] * d[f][tile][o]
//
// WinogradTaps computes the gradient from the sums of all frequencies. Its steps are the transposes of
// those of Winograd.

// winogradGradients is the assembly for WinogradGradient and WinogradTaps.
type winogradGradients map[class.Tiles]struct {
	spreadOut func(v *float32, vFreq int, vTile int, in *float32, rowStep int, colStep int, tileStep int,
		tiles int, vectors int)
	taps func(taps *float32, tapStep int, sums *float32, sumFreq int, count int)
}

// ofGradient returns the geometry for transforming the result's gradient: the result's channels are its
// inputs.
func (g Winograd) ofGradient() Winograd { return Winograd{Tiles: g.Tiles, In: g.Out} }

// GradientTiles returns the window over the given number of transformed tiles with
// which Gradient sums the products of one frequency.
func (g Winograd) GradientTiles(tiles int) *Window {
	in, out := make([]int32, tiles), make([]int32, tiles)
	inStep, _ := g.inSteps(tiles)
	outStep, _ := g.ofGradient().inSteps(tiles)
	for t := range tiles {
		in[t], out[t] = int32(4*t*inStep), int32(4*t*outStep)
	}
	return NewWindow(in, out, 1, g.In, g.Out)
}

// GradientLen returns the number of values of some transformed tiles of the result's
// gradient, including the values that Gradient reads after them.
func (g Winograd) GradientLen(tiles int) int {
	return g.ofGradient().InLen(tiles) + GradientSlack
}

// Frequency returns the offsets of frequency f of the given number of tiles, in the
// transformed input and in the transformed gradient of the result.
func (g Winograd) Frequency(f, tiles int) (in, gradient int) {
	_, inStep := g.inSteps(tiles)
	_, outStep := g.ofGradient().inSteps(tiles)
	return f * inStep, f * outStep
}

// WinogradGradient transforms a row of tiles of a result's gradient, Side by Side pixels each. v has space
// for all transformed tiles (total is their number), and the row begins at tile number first.
func (s *Set) WinogradGradient(g Winograd, v []float32, first, total int, in []float32, r Row) {
	tile, freq := g.ofGradient().inSteps(total)
	if len(v) < g.GradientLen(total) || first < 0 || first+r.Count > total || r.Count < 1 ||
		r.At < 0 || len(in) < r.need(g.Side, g.Side, g.Out, g.Out) {
		panic(fmt.Sprintf("kernel.WinogradGradient: %+v, tiles [%d, %d) of %d in %d values, gradient of %d "+
			"values, %+v", g, first, first+r.Count, total, len(v), len(in), r))
	}
	v, in = v[first*tile:], in[r.At:]
	if s.winogradGradients != nil {
		s.winogradGradients[g.Tiles].spreadOut(&v[0], 4*freq, 4*tile, &in[0], 4*r.Step, 4*g.Out, 4*g.Out*g.Side,
			r.Count, g.Out/Lanes)
		return
	}
	for t := range r.Count {
		g.spreadOutGeneric(v[t*tile:], freq, in[t*g.Side*g.Out:], r.Step)
	}
}

// SumsStep returns the distance, in values, between the sums of two frequencies of n kernels.
func (g Winograd) SumsStep(n int) int { return odd(n) }

// WinogradTaps computes the elements of n kernels, a multiple of Lanes, from
// the sums of all frequencies: taps is [Taps()][n], sums [frequency][n], SumsStep(n)
// apart.
func (s *Set) WinogradTaps(g Winograd, taps, sums []float32, n int) {
	step := g.SumsStep(n)
	if n%Lanes != 0 || len(taps) < g.Taps()*n || len(sums) < g.Frequencies()*step {
		panic(fmt.Sprintf("kernel.WinogradTaps: %+v, %d kernels, %d values from %d", g, n, len(taps), len(sums)))
	}
	if s.winogradGradients != nil && n > 0 {
		s.winogradGradients[g.Tiles].taps(&taps[0], 4*n, &sums[0], 4*step, n)
		return
	}
	g.tapsGeneric(taps, sums, n)
}

// spreadOutGeneric transforms one tile of the result's gradient: first its columns, then the rows of the
// result.
func (g Winograd) spreadOutGeneric(v []float32, freq int, in []float32, rowStep int) {
	n := g.Tile()
	var half [class.MostTile][class.MostTile]float32
	var d, t [class.MostTile]float32
	for c := range g.Out {
		for x := range g.Side {
			for y := range g.Side {
				d[y] = in[y*rowStep+x*g.Out+c]
			}
			g.TransformGradient(t[:], d[:])
			for i := range n {
				half[i][x] = t[i]
			}
		}
		for i := range n {
			g.TransformGradient(t[:], half[i][:])
			for j := range n {
				v[(i*n+j)*freq+c] = t[j]
			}
		}
	}
}

// tapsGeneric computes the elements of n kernels from the sums. It is the definition of WinogradTaps in
// plain Go.
func (g Winograd) tapsGeneric(taps, sums []float32, n int) {
	var all [class.MostTile * class.MostTile]float32
	var kernel [class.MostTaps]float32
	for k := range n {
		for f := range g.Frequencies() {
			all[f] = sums[f*g.SumsStep(n)+k]
		}
		g.KernelGradient(kernel[:], all[:])
		for t, v := range kernel[:g.Taps()] {
			taps[t*n+k] = v
		}
	}
}
