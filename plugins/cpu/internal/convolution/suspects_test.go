package convolution

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/tensor"
)

// A suspect is a tile that must be computed by windows. For any range of rows of tiles, inspect finds the
// same suspects as suspectsOf, which looks at one tile at a time and is the definition.
func TestSuspectsOfOneTile(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 22))
	for _, a := range []class.Algorithm{class.Winograd2, class.Winograd4, class.Winograd5} {
		shape := a.Tiles()
		for _, size := range [][2]int{{8, 12}, {9, 11}, {24, 20}, {23, 22}} {
			images := nearTheLeast(r, 6, 32, size[0], size[1])
			for image := range 6 {
				x := pixels(images.Rows(image, image+1))
				if image == 5 { // some tiles are 0, and one has a value much larger than all others
					clear(x[:len(x)/3])
					x[len(x)-100] = 1
				}
				for _, kernels := range append(kernel.Sets(), kernel.Generic) {
					k := tilesToInspect(kernels, shape, 32, size[0], size[1])
					want := k.suspectsOf(x)
					for from := range k.k.rows {
						for to := from + 1; to <= k.k.rows; to++ {
							k.suspects = k.suspects[:0]
							k.padded(x, from, to)
							k.inspect(from, to, from*k.k.columns)
							got, within := k.suspects, []int{}
							for _, tile := range want {
								if tile >= from*k.k.columns && tile < to*k.k.columns {
									within = append(within, tile)
								}
							}
							if !slices.Equal(got, within) && len(got)+len(within) > 0 {
								t.Errorf("%s, %+v, image %d of %v, rows [%d, %d): suspects %v, want %v", kernels.Name, shape,
									image, size, from, to, got, within)
							}
						}
					}
				}
			}
		}
	}
}

// nearTheLeast fills images with values near the smallest that tiles accept.
func nearTheLeast(r *rand.Rand, n, channels, high, wide int) tensor.Tensor {
	x := tensor.New(tensor.F32, n, channels, high, wide)
	for i := range x.F32() {
		image, row, column := i/(channels*high*wide), i/wide%high, i%wide
		size := 1.1 + 0.1*r.Float32()
		if image%4 == 0 || image%4 == 1 && column < wide/2 || image%4 == 2 && row >= high/2 {
			size -= 0.3
		}
		x.F32()[i] = size * class.TileLeast * float32(1-2*r.IntN(2))
	}
	return x
}

// pixels returns an image as kernels read it, (H, W, C).
func pixels(x tensor.Tensor) []float32 {
	channels, place := x.Shape[1], x.Shape[2]*x.Shape[3]
	out := make([]float32, len(x.F32()))
	for i, v := range x.F32() {
		out[i%place*channels+i/place] = v
	}
	return out
}

// tilesToInspect returns a block of tiles for which inspect can be called.
func tilesToInspect(kernels *kernel.Set, shape class.Tiles, channels, high, wide int) *tiles {
	g := kernel.Winograd{Tiles: shape, In: channels, Out: channels}
	one := graph.Window{Dilation: [2]int{1, 1}}
	k := &winograd{g: &Geometry{Window: one, h: high, w: wide, c: channels}, Winograd: g}
	k.phases = newPhases(k.g, shape.Side)
	return &tiles{k: k, frame: &run.Frame{Kernels: kernels}}
}

// padded copies the part of image x that rows [from, to) of tiles read, with padding, to t.paddedRows.
func (t *tiles) padded(x []float32, from, to int) {
	t.paddedRows = make([]float32, ((to-from)*t.k.Side+2*t.k.Border())*t.k.paddedStep())
	t.pad(tileOperands{in: stored{float: x}}.in, 0, from, to)
}

// suspectsOf returns the suspects of an image, found by looking at every tile alone.
func (t *tiles) suspectsOf(x []float32) (suspects []int) {
	size := func(by, bx int) (sum, largest float64) {
		for i := range 4 * t.k.g.c {
			y, column := t.k.BlockOf(by, t.k.g.h)+i/(2*t.k.g.c), t.k.BlockOf(bx, t.k.g.w)+i/t.k.g.c%2
			v := math.Abs(float64(x[(y*t.k.g.w+column)*t.k.g.c+i%t.k.g.c]))
			sum, largest = sum+v, max(largest, v)
		}
		return sum, largest
	}
	for tile := range t.k.rows * t.k.columns {
		y, left := tile/t.k.columns*t.k.Side, tile%t.k.columns*t.k.Side
		rows, columns := t.k.BlocksOf(y, t.k.g.h), t.k.BlocksOf(left, t.k.g.w)
		largest, least := 0.0, math.Inf(1)
		for by := rows.From; by < rows.To; by++ {
			for bx := columns.From; bx < columns.To; bx++ {
				sum, most := size(by, bx)
				largest, least = max(largest, most), min(least, sum)
			}
		}
		if t.k.Winograd.Kernel == 5 {
			least, _ = size(y/2, left/2)
		}
		if largest > 0 && !(largest >= class.TileLeast && largest <= class.TileMost && least >= largest) {
			suspects = append(suspects, tile)
		}
	}
	return suspects
}
