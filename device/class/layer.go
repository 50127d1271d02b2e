package class

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Product is one of the three products of a layer.
type Product int

// The products of a layer. A transposed convolution is the Backward product of
// the convolution with the same weight.
const (
	Forward  Product = iota // the result
	Backward                // the gradient for the input
	Weights                 // the gradient for the weight
)

// Layer is the shape of a product with a weight. Choose selects an algorithm for it. A dense
// layer is a convolution with a kernel of 1 by 1 over an image of one pixel. If its operand has
// leading axes, the image has one pixel for each of their positions.
type Layer struct {
	graph.Window
	Product Product
	Dense   bool
	C, H, W int // channels, height and width of the convolution's input
	O       int // channels of its output
	OH, OW  int
}

// LayerOf returns the layer of a node of fn, and whether the node is a product
// with a weight.
func LayerOf(fn *graph.Function, n *graph.Node) (Layer, bool) {
	shape := func(v graph.Value) []int { return fn.Values[v].Type.Shape }
	switch n.Op {
	case graph.Conv:
		return convolution(Forward, fn.WindowOf(n), shape(n.In[0]), shape(n.Out[0])), true
	case graph.ConvGradInput, graph.ConvTranspose:
		return convolution(Backward, fn.WindowOf(n), shape(n.Out[0]), shape(n.In[0])), true
	case graph.ConvGradWeight:
		return convolution(Weights, fn.WindowOf(n), shape(n.In[0]), shape(n.In[1])), true
	case graph.Dense:
		return dense(Forward, shape(n.In[0]), shape(n.Out[0])), true
	case graph.DenseGradInput:
		return dense(Backward, shape(n.Out[0]), shape(n.In[0])), true
	case graph.DenseGradWeight:
		return dense(Weights, shape(n.In[0]), shape(n.In[1])), true
	}
	return Layer{}, false
}

func convolution(p Product, w graph.Window, in, out []int) Layer {
	return Layer{Window: w, Product: p, C: in[0], H: in[1], W: in[2], O: out[0], OH: out[1], OW: out[2]}
}

func dense(p Product, in, out []int) Layer {
	pixel := graph.Window{Kernel: [2]int{1, 1}, Stride: [2]int{1, 1}, Dilation: [2]int{1, 1}, Groups: 1}
	leading := len(in) - 1
	n := tensor.Count(in[:leading])
	return Layer{Window: pixel, Product: p, Dense: leading == 0, C: in[leading], H: n, W: 1, O: out[leading],
		OH: n, OW: 1}
}

// Flipped returns the convolution with stride 1 that computes the gradient for the input of
// l. Its kernel is turned by 180 degrees, and input and output channels are exchanged. Flipped
// returns false if this convolution does not exist: the stride of l is not 1, or its padding
// exceeds the extent of the kernel.
func (l Layer) Flipped() (Layer, bool) {
	f := l
	f.Product = Forward
	f.C, f.H, f.W, f.O, f.OH, f.OW = l.O, l.OH, l.OW, l.C, l.H, l.W
	for i := range f.Pad {
		f.Pad[i] = (l.Kernel[i%2]-1)*l.Dilation[i%2] - l.Pad[i]
		if f.Pad[i] < 0 {
			return l, false
		}
	}
	return f, l.Stride == [2]int{1, 1}
}

// Channel returns the output channel that element i of the weight belongs to.
func (l Layer) Channel(i int) int {
	taps := l.Kernel[0] * l.Kernel[1]
	o, k := i/taps/(l.C/l.Groups), i/taps%(l.C/l.Groups)
	if l.Product == Backward {
		return o/(l.O/l.Groups)*(l.C/l.Groups) + k
	}
	return o
}

// straight reports whether the kernel moves by one pixel and reads neighbouring pixels with
// all their channels.
func (l Layer) straight() bool {
	return l.Groups == 1 && l.Stride == [2]int{1, 1} && l.Dilation == [2]int{1, 1}
}

// Depthwise reports whether every channel has a separate kernel.
func (l Layer) Depthwise() bool { return l.Groups > 1 && l.Groups == l.C && l.Groups == l.O }

// alongRows reports whether a depthwise convolution has a kernel of 3 or 5 columns and a
// horizontal stride of 1 or 2, and the centre column of the kernel is always inside the image.
func (l Layer) alongRows() bool {
	side := l.Kernel[1] / 2
	right := (l.OW-1)*l.Stride[1] - l.Pad[1] + l.Kernel[1] - l.W
	return (l.Kernel[1] == 3 || l.Kernel[1] == 5) && (l.Stride[1] == 1 || l.Stride[1] == 2) &&
		l.Dilation == [2]int{1, 1} && l.OW > 0 && l.Pad[1] >= 0 && l.Pad[1] <= side && right <= side
}

// Narrow reports whether the input has so few channels that a row of the kernel
// is read as one contiguous run of a padded image.
func (l Layer) Narrow() bool {
	return l.C < 8 && l.Groups == 1 && l.Dilation[1] == 1 && l.Kernel[1] > 1
}

// lanes is the number of float32 channels in the widest registers.
const lanes = 16

// direct reports whether the layer is suitable for Direct. The 16 output channels fill one
// register, so that a value of the input is loaded once for each row of the kernel.
func (l Layer) direct() bool {
	return l.straight() && l.Kernel[1] == 3 && l.O == lanes && l.C%8 == 0 && l.OW > 1
}

// tiles returns the Winograd algorithm of a layer, or ImplicitGEMM if it uses no tiles. Layers
// with many channels use small tiles, which limit the size of the transformed weights. Layers
// with only 16 input channels use small tiles, which limit the errors of their short sums. With
// dilation, images are large compared to the weights, so layers with up to 512*512 pairs of
// channels use large tiles, and larger ones use no tiles.
func (l Layer) tiles() Algorithm {
	const large, largest = 256 * 256, 512 * 512
	pairs, small := l.C*l.O, l.straight() && (l.C*l.O > large || l.C == lanes)
	switch {
	case l.C%lanes != 0 || l.O%lanes != 0:
	case l.five() && l.isCheaper(Winograd5):
		return Winograd5
	case !l.phased() || l.C == lanes && !l.straight():
	case small && min(l.H, l.W) >= 2:
		return Winograd2
	case !small && l.straight() && min(l.H, l.W) >= 4, !l.straight() && pairs <= largest &&
		l.isCheaper(Winograd4):
		return Winograd4
	}
	return ImplicitGEMM
}

// five reports whether l is a convolution of 5 by 5 with stride 1 and padding 2.
func (l Layer) five() bool {
	return l.straight() && l.Kernel == [2]int{5, 5} && l.Pad == [4]int{2, 2, 2, 2}
}

// phased reports whether l consists of phases. It does if it is a convolution of 3 by 3 with
// stride 1, and with dilation and padding equal to one number d in both directions. For
// 0 <= py, px < d, the pixels (py+d*y, px+d*x) of input and output form a convolution with
// dilation 1 and padding 1: phase (py, px). There are d*d phases.
func (l Layer) phased() bool {
	d := l.Dilation[0]
	return l.Groups == 1 && l.Kernel == [2]int{3, 3} && l.Stride == [2]int{1, 1} && l.Dilation[1] == d &&
		l.Pad == [4]int{d, d, d, d}
}

// Phase returns the convolution that computes one of the phases of l: see phased. There are Dilation[0]
// by Dilation[0] phases, and all have the size of the first, which is the largest. A smaller phase is
// padded with zeros.
func (l Layer) Phase() Layer {
	p, d := l, l.Dilation[0]
	p.H, p.W, p.OH, p.OW = ceil(l.H, d), ceil(l.W, d), ceil(l.OH, d), ceil(l.OW, d)
	p.Dilation = [2]int{1, 1}
	for i := range p.Pad {
		p.Pad[i] /= d
	}
	return p
}

// isCheaper reports whether the tiles of all phases need at most two thirds of the multiplications of a
// direct computation. Multiplications by pixels outside of the image do not count in the direct
// computation. If phases are small, these are a large part.
func (l Layer) isCheaper(a Algorithm) bool {
	d, p, t := l.Dilation[0], l.Phase(), a.Tiles()
	tiles := func(n int) int { return d * ceil(n, t.Side) * t.Tile() } // inputs of all tiles along n pixels
	inside := func(n int) int {                                        // taps of n pixels inside the image
		return t.Kernel*n - d*t.Border()*(t.Border()+1)
	}
	return 3*tiles(p.H)*tiles(p.W) <= 2*inside(l.H)*inside(l.W)
}
