package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// rowGeometry returns a geometry. The sizes of the result follow from the other arguments.
func rowGeometry(channels, height, width int, kernel, stride [2]int, pad [4]int) DepthwiseRows {
	return DepthwiseRows{Channels: channels, Height: height, Width: width, Kernel: kernel, Stride: stride,
		OutHeight: (height+pad[0]+pad[2]-kernel[0])/stride[0] + 1,
		OutWidth:  (width+pad[1]+pad[3]-kernel[1])/stride[1] + 1, Skip: [2]int{pad[0], pad[1]}}
}

func TestDepthwiseRows(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for try := range 400 {
		k := [2]int{1 + r.IntN(5), 3 + 2*r.IntN(2)}
		g := rowGeometry(1+r.IntN(70), 1+r.IntN(9), 1+r.IntN(24), k, [2]int{1 + r.IntN(3), 1 + r.IntN(2)},
			[4]int{r.IntN(k[0]), r.IntN(k[1]/2 + 1), r.IntN(k[0]), r.IntN(k[1]/2 + 1)})
		if g.Height+g.Skip[0] < k[0] || g.Width < k[1] && g.Width != 1 || g.OutWidth < 1 || g.OutHeight < 1 {
			continue
		}
		if !g.Possible() {
			t.Fatalf("%+v is not possible", g)
		}
		rows := NewDepthwiseRows(g)
		n := g.Channels
		in, weights, bias := guarded(r, g.Height*g.Width*n), guarded(r, k[0]*k[1]*n), guarded(r, n)
		if try%3 == 0 {
			bias = nil
		}
		out := guarded(r, g.OutHeight*g.OutWidth*n)
		e := randomEpilogue(r, len(out))
		run := func(s *Set, cut int) []float32 {
			got := slices.Clone(out)
			packed := inColumns(s, weights, n)
			s.DepthwiseRows(rows, got, in, packed, bias, e, 0, cut)
			s.DepthwiseRows(rows, got, in, packed, bias, e, cut, g.OutHeight)
			return got
		}
		want := run(definition, 0)
		for _, s := range fused() {
			if !sameBits(run(s, g.OutHeight/2), want) {
				t.Errorf("%s: %+v: differs from the definition", s.Name, g)
			}
		}
		checkClose(t, fmt.Sprintf("generic %+v", g), run(Generic, 0), want, 1e-4)
		checkClose(t, fmt.Sprintf("windows %+v", g), windowsFor(g, in, weights, bias, e, out), want, 1e-4)
	}
}

// inColumns returns weights [taps][channels] in the layout of the set.
func inColumns(s *Set, weights []float32, channels int) (packed []float32) {
	for first, count := range s.DepthwiseColumns(channels) {
		for at := first; at < len(weights); at += channels {
			packed = append(packed, weights[at:][:count]...)
		}
	}
	return packed
}

// windowsFor computes the same as DepthwiseRows, by Depthwise.
func windowsFor(g DepthwiseRows, in, weights, bias []float32, e Epilogue, out []float32) []float32 {
	taps, positions := g.Kernel[0]*g.Kernel[1], g.OutHeight*g.OutWidth
	from, to := make([]int32, taps*positions), make([]int32, positions)
	for p := range positions {
		to[p] = int32(4 * g.Channels * p)
		for t := range taps {
			y := p/g.OutWidth*g.Stride[0] - g.Skip[0] + t/g.Kernel[1]
			x := p%g.OutWidth*g.Stride[1] - g.Skip[1] + t%g.Kernel[1]
			from[t*positions+p] = -1
			if y >= 0 && y < g.Height && x >= 0 && x < g.Width {
				from[t*positions+p] = int32(4 * g.Channels * (y*g.Width + x))
			}
		}
	}
	got := slices.Clone(out)
	w := NewWindow(from, to, taps, g.Channels, g.Channels)
	Generic.Depthwise(w, got, in, weights, bias, Epilogue{}, 0, positions)
	for i, v := range got {
		got[i] = e.applyTo(i, v)
	}
	return got
}

// TestDepthwiseRowsInRings checks that rows in a ring buffer are the same as in a whole image.
func TestDepthwiseRowsInRings(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for _, stride := range []int{1, 2} {
		g := rowGeometry(24, 13, 10, [2]int{3, 3}, [2]int{stride, stride}, [4]int{1, 1, 1, 1})
		in, weights := guarded(r, g.Height*g.Width*24), guarded(r, 9*24)
		want := make([]float32, g.OutHeight*g.OutWidth*24)
		ring := g
		ring.InRing, ring.OutRing = 3, 2
		held, made := make([]float32, 3*g.Width*24), make([]float32, 2*g.OutWidth*24)
		for _, s := range Sets() {
			weights := inColumns(s, weights, 24)
			s.DepthwiseRows(NewDepthwiseRows(g), want, in, weights, nil, Epilogue{}, 0, g.OutHeight)
			for y := range g.OutHeight {
				for i := max(0, y*stride-1); i < min(y*stride+2, g.Height); i++ {
					copy(held[i%3*g.Width*24:][:g.Width*24], in[i*g.Width*24:])
				}
				s.DepthwiseRows(NewDepthwiseRows(ring), made, held, weights, nil, Epilogue{}, y, y+1)
				if row := g.OutWidth * 24; !sameBits(made[y%2*row:][:row], want[y*row:][:row]) {
					t.Errorf("%s: stride %d, row %d: differs", s.Name, stride, y)
				}
			}
		}
	}
}

func BenchmarkDepthwiseRows(b *testing.B) {
	for _, c := range []struct{ channels, side, kernel, stride int }{
		{32, 112, 3, 1}, {96, 112, 3, 2}, {144, 56, 3, 1}, {144, 56, 3, 2}, {192, 28, 3, 1}, {384, 14, 3, 1},
		{576, 14, 3, 1}, {960, 7, 3, 1}, {240, 14, 5, 1},
	} {
		r := rand.New(rand.NewPCG(1, 1))
		p := c.kernel / 2
		g := NewDepthwiseRows(rowGeometry(c.channels, c.side, c.side, [2]int{c.kernel, c.kernel},
			[2]int{c.stride, c.stride}, [4]int{p, p, p, p}))
		in, out := guarded(r, c.side*c.side*c.channels), guarded(r, g.OutHeight*g.OutWidth*c.channels)
		weights, bias := guarded(r, c.kernel*c.kernel*c.channels), guarded(r, c.channels)
		for _, s := range Sets() {
			name := fmt.Sprintf("%dx%d/%dby%d/%s", c.side, c.channels, c.kernel, c.stride, s.Name)
			b.Run(name, func(b *testing.B) {
				for b.Loop() {
					s.DepthwiseRows(g, out, in, weights, bias, Epilogue{Relu: true, Most: 6}, 0, g.OutHeight)
				}
				reportRate(b, s, float64(2*c.kernel*c.kernel*len(out)))
			})
		}
	}
}

// BenchmarkDepthwiseRowsFar is like BenchmarkDepthwiseRows but with so many images that they do not
// fit in a near cache.
func BenchmarkDepthwiseRowsFar(b *testing.B) {
	const all = 1 << 21 // values
	for _, c := range []struct{ channels, side, kernel, stride int }{
		{144, 56, 3, 1}, {192, 28, 3, 1}, {384, 14, 3, 1}, {576, 14, 3, 1}, {960, 7, 3, 1}, {120, 32, 5, 1},
	} {
		r := rand.New(rand.NewPCG(1, 1))
		p := c.kernel / 2
		g := NewDepthwiseRows(rowGeometry(c.channels, c.side, c.side, [2]int{c.kernel, c.kernel},
			[2]int{c.stride, c.stride}, [4]int{p, p, p, p}))
		size := c.side * c.side * c.channels
		in, out := guarded(r, all), guarded(r, all)
		weights, bias := guarded(r, c.kernel*c.kernel*c.channels), guarded(r, c.channels)
		for _, s := range Sets() {
			b.Run(fmt.Sprintf("%dx%d/%dby%d/%s", c.side, c.channels, c.kernel, c.stride, s.Name), func(b *testing.B) {
				at := 0
				for b.Loop() {
					if at += size; at+size > all {
						at = 0
					}
					s.DepthwiseRows(g, out[at:][:size], in[at:][:size], weights, bias,
						Epilogue{Relu: true, Most: 6}, 0, g.OutHeight)
				}
				reportRate(b, s, float64(2*c.kernel*c.kernel*size))
			})
		}
	}
}
