package convolution

import (
	"fmt"
	"math"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// One geometry serves the three products of a convolution, which read and write the same
// images with the same windows:
//
//	forward    y [H'][W'][O]  = windows of x [H][W][C] * weight
//	backward   dx [H][W][C]   = windows of dy [H'][W'][O] * weight, turned   (phases)
//	gradient   dweight        = windows of x, transposed, * dy
//
// For example kernel 3x3, stride 2, padding 1: the result at (y, x) reads
//
//	row    2y-1  2y  2y+1         x: . . o . . o . .       every other column begins a window
//	column 2x-1  2x  2x+1            |_____|               rows and columns outside are -1
//	                                     |_____|

// Geometry is the geometry of a convolution from an input [H][W][C] to an output [H'][W'][O]. It is the
// same for the convolution and for both gradients.
type Geometry struct {
	graph.Window
	c, h, w   int // input
	o, oh, ow int // output
	taps      int // kh*kw
	cg, og    int // channels of one group
}

// MostOffsets limits the length of offset tables. An offset has four bytes.
const MostOffsets = 1 << 27

// NewGeometry returns the geometry of a convolution with window w between images of these shapes.
func NewGeometry(w graph.Window, in, out []int) *Geometry {
	return &Geometry{Window: w, c: in[0], h: in[1], w: in[2], o: out[0], oh: out[1], ow: out[2],
		taps: w.Kernel[0] * w.Kernel[1], cg: in[0] / w.Groups, og: out[0] / w.Groups}
}

// TooLarge returns the reason why the tables of offsets of a product cannot be built, or
// "".
func (g *Geometry) TooLarge(p class.Product) string {
	const mostWeights = 1 << 28
	image := max(float64(g.c)*float64(g.h)*float64(g.w), float64(g.o)*float64(g.oh)*float64(g.ow))
	if image*4 > math.MaxInt32 {
		return "an image of more than 2 GiB"
	}
	padded := float64(g.h+g.Pad[0]+g.Pad[2]) * float64(g.w+g.Pad[1]+g.Pad[3]) * float64(g.c)
	if offsets := g.offsets(p); offsets > MostOffsets || padded*4 > math.MaxInt32 {
		return fmt.Sprintf("a window of too many taps over too many positions: %.3g, at most %d are supported",
			offsets, MostOffsets)
	}
	if float64(g.taps)*float64(g.cg)*float64(g.o) > mostWeights {
		return "more than 2^28 weights"
	}
	return ""
}

// offsets returns the length of the tables of offsets of a product: taps times positions. For an input
// pixel, only the taps of its phase are counted.
func (g *Geometry) offsets(p class.Product) float64 {
	forward := float64(g.taps) * float64(g.oh) * float64(g.ow)
	if p == class.Forward {
		return forward
	}
	of := func(axis, length int) (n float64) {
		for k := range g.Kernel[axis] {
			first := ((k*g.Dilation[axis]-g.Pad[axis])%g.Stride[axis] + g.Stride[axis]) % g.Stride[axis]
			n += float64((length - first + g.Stride[axis] - 1) / g.Stride[axis])
		}
		return n
	}
	backward := of(0, g.h) * of(1, g.w)
	if p == class.Backward {
		return backward
	}
	return max(forward, backward)
}

// narrow reports whether the images of the convolution should be padded first: see class.Layer.Narrow.
func (g *Geometry) narrow() bool { return class.Layer{Window: g.Window, C: g.c}.Narrow() }

// byLines reports whether a row of the kernel should be read as one run of a padded line. With few
// channels, finding the run of a tap takes longer than multiplying it. The order of the sum does not
// change.
func (g *Geometry) byLines() bool {
	const few = 16
	return g.c <= few && g.Groups == 1 && g.Dilation[1] == 1 && g.Kernel[1] > 1
}

// Input returns the offset in bytes of the input of output position (y, x) at tap (i, j),
// or -1 for padding.
func (g *Geometry) Input(y, x, i, j int) int32 {
	iy, ix := y*g.Stride[0]-g.Pad[0]+i*g.Dilation[0], x*g.Stride[1]-g.Pad[1]+j*g.Dilation[1]
	if iy < 0 || iy >= g.h || ix < 0 || ix >= g.w {
		return -1
	}
	return int32(4 * g.c * (iy*g.w + ix))
}

// Needs returns the range of input positions that positions [from, to) of the output read, in whole rows.
func (g *Geometry) Needs(from, to int) (first, last int) {
	top := from/g.ow*g.Stride[0] - g.Pad[0]
	bottom := (to-1)/g.ow*g.Stride[0] - g.Pad[0] + (g.Kernel[0]-1)*g.Dilation[0] + 1
	return min(max(top, 0), g.h) * g.w, min(max(bottom, 0), g.h) * g.w
}

// forward returns the windows of the convolution itself: one geometry for all
// groups. Weights are [O][C/groups][kh][kw].
func (g *Geometry) forward() *kernel.Window {
	positions := g.oh * g.ow
	in, out := make([]int32, g.taps*positions), make([]int32, positions)
	for p := range positions {
		out[p] = int32(4 * g.o * p)
		for t := range g.taps {
			in[t*positions+p] = g.Input(p/g.ow, p%g.ow, t/g.Kernel[1], t%g.Kernel[1])
		}
	}
	return kernel.NewWindow(in, out, g.taps, g.cg, g.og)
}

// forwardAt returns the offsets of the weights of one group, for the windows that forward returns.
func (g *Geometry) forwardAt(group int) (offsets []int, step int) {
	for t := range g.taps {
		for k := range g.cg {
			offsets = append(offsets, (group*g.og*g.cg+k)*g.taps+t)
		}
	}
	return offsets, g.cg * g.taps
}

// paddedWidth returns the width of a padded image.
func (g *Geometry) paddedWidth() int { return g.w + g.Pad[1] + g.Pad[3] }

// paddedHeight returns the height of a padded image.
func (g *Geometry) paddedHeight() int { return g.h + g.Pad[0] + g.Pad[2] }

// paddedLen returns the number of values in a padded image.
func (g *Geometry) paddedLen() int { return g.paddedHeight() * g.paddedWidth() * g.c }

// A padded image has its zeros in memory, so that taps need no bounds check, at the cost of a
// copy. This is faster if runs are short: few channels, or many taps for each of them (narrow).
//
// 	0 0 0 0 0
// 	0 a b c 0      paddedWidth = left + w + right
// 	0 d e f 0
// 	0 0 0 0 0

// pad copies an image into the middle of a padded one and clears its border.
func (g *Geometry) pad(padded, image []float32) {
	row, paddedRow := g.w*g.c, g.paddedWidth()*g.c
	left := g.Pad[1] * g.c
	clear(padded[:g.Pad[0]*paddedRow])
	for y := range g.h {
		line := padded[(y+g.Pad[0])*paddedRow:][:paddedRow]
		clear(line[:left])
		copy(line[left:], image[y*row:(y+1)*row])
		clear(line[left+row:])
	}
	clear(padded[(g.h+g.Pad[0])*paddedRow : g.paddedLen()])
}

// paddedRows writes rows [from, to) of a padded image to the worker's private memory. ring is the number of
// rows in the ring buffer of the image, and paddedRing that in the ring buffer of the padded image. 0 means
// that all rows are stored.
func (g *Geometry) paddedRows(w *run.Worker, image []float32, ring, paddedRing, from, to int) []float32 {
	if ring == 0 {
		ring = g.h
	}
	if paddedRing == 0 {
		paddedRing = g.paddedHeight()
	}
	paddedRow, left := g.paddedWidth()*g.c, g.Pad[1]*g.c
	padded := w.Floats(paddedRing * paddedRow)
	for y := from; y < to; y++ {
		line := padded[y%paddedRing*paddedRow:][:paddedRow]
		source := y - g.Pad[0]
		if source < 0 || source >= g.h {
			clear(line)
			continue
		}
		clear(line[:left])
		copy(line[left:], image[source%ring*g.w*g.c:][:g.w*g.c])
		clear(line[left+g.w*g.c:])
	}
	return padded
}

// sees returns the number of rows of a padded image that the given number of rows of the result read.
func (g *Geometry) sees(rows int) int {
	return (rows-1)*g.Stride[0] + (g.Kernel[0]-1)*g.Dilation[0] + 1
}

// nearRows returns the number of rows of the result to compute together, so that the part
// of the padded image that they read stays in a near cache.
func (g *Geometry) nearRows() int {
	const bytes = 32 << 10
	return max(1, (bytes/(4*g.paddedWidth()*g.c)-g.sees(1))/g.Stride[0]+1)
}

// narrowForward returns the windows of the convolution over padded images. A tap is then a whole row of the
// kernel, and reads a run of kw*C values.
func (g *Geometry) narrowForward() *kernel.Window {
	positions := g.oh * g.ow
	in, out := make([]int32, g.Kernel[0]*positions), make([]int32, positions)
	for p := range positions {
		out[p] = int32(4 * g.o * p)
		for i := range g.Kernel[0] {
			y, x := p/g.ow*g.Stride[0]+i*g.Dilation[0], p%g.ow*g.Stride[1]
			in[i*positions+p] = int32(4 * g.c * (y*g.paddedWidth() + x))
		}
	}
	return kernel.NewWindow(in, out, g.Kernel[0], g.Kernel[1]*g.c, g.o)
}

// narrowAt returns the offsets of the weights for the window that narrowForward returns.
func (g *Geometry) narrowAt() (offsets []int, step int) {
	for i := range g.Kernel[0] {
		for j := range g.Kernel[1] {
			for c := range g.c {
				offsets = append(offsets, c*g.taps+i*g.Kernel[1]+j)
			}
		}
	}
	return offsets, g.c * g.taps
}

// With stride 2 an input pixel is read only by taps of the same parity:
//
//	kernel   0 1 2        phase (0,0): taps 4            1 of 9
//	         3 4 5        phase (0,1): taps 3 5          2
//	         6 7 8        phase (1,0): taps 1 7          2
//	                      phase (1,1): taps 0 2 6 8      4       (padding 1)

// phase is the positions of the input that use the same taps of the kernel. Their rows have the same
// remainder modulo the stride, and so have their columns.
type phase struct {
	window *kernel.Window
	taps   []int // numbers of the taps
}

// backward returns the windows of the gradient for the input, one for each phase. They read the gradient of
// the output.
func (g *Geometry) backward() []phase {
	var phases []phase
	for ry := range min(g.Stride[0], g.h) {
		for rx := range min(g.Stride[1], g.w) {
			phases = append(phases, g.phase(ry, rx))
		}
	}
	return phases
}

// phase returns the phase with the input positions (ry + n*sh, rx + m*sw) for all n and m.
func (g *Geometry) phase(ry, rx int) phase {
	var f phase
	for t := range g.taps {
		i, j := t/g.Kernel[1], t%g.Kernel[1]
		if (ry+g.Pad[0]-i*g.Dilation[0])%g.Stride[0] == 0 && (rx+g.Pad[1]-j*g.Dilation[1])%g.Stride[1] == 0 {
			f.taps = append(f.taps, t)
		}
	}
	var out []int32
	for y := ry; y < g.h; y += g.Stride[0] {
		for x := rx; x < g.w; x += g.Stride[1] {
			out = append(out, int32(4*g.c*(y*g.w+x)))
		}
	}
	in := make([]int32, 0, len(f.taps)*len(out))
	for _, t := range f.taps {
		for _, o := range out {
			p := int(o) / 4 / g.c
			in = append(in, g.output(p/g.w, p%g.w, t/g.Kernel[1], t%g.Kernel[1]))
		}
	}
	f.window = kernel.NewWindow(in, out, len(f.taps), g.og, g.cg)
	return f
}

// output returns the byte offset of the output that tap (i, j) reads from input (y, x), or -1 if it would
// be outside the image. The tap must belong to the phase of the input.
func (g *Geometry) output(y, x, i, j int) int32 {
	oy, ox := y+g.Pad[0]-i*g.Dilation[0], x+g.Pad[1]-j*g.Dilation[1]
	if oy < 0 || ox < 0 || oy/g.Stride[0] >= g.oh || ox/g.Stride[1] >= g.ow {
		return -1
	}
	return int32(4 * g.o * (oy/g.Stride[0]*g.ow + ox/g.Stride[1]))
}

// backwardAt returns the offsets of the weights of a phase, for one group.
func (g *Geometry) backwardAt(f phase, group int) (offsets []int, step int) {
	for _, t := range f.taps {
		for o := range g.og {
			offsets = append(offsets, (group*g.og+o)*g.cg*g.taps+t)
		}
	}
	return offsets, g.taps
}
