package class

import "github.com/bnctl/bnctl/device"

// Algorithm is a way of computing a product of a layer. It determines the order of the
// sums, and therefore the bits of the result.
type Algorithm int

// The algorithms.
const (
	ImplicitGEMM Algorithm = iota
	Direct
	Winograd2
	Winograd4
	Winograd5
	Depthwise
	DepthwiseRows
	Dot2
	DirectDot2
	Matrix
)

var algorithms = [...]string{ImplicitGEMM: "implicit GEMM", Direct: "direct",
	Winograd2: "Winograd F(2x2, 3x3)", Winograd4: "Winograd F(4x4, 3x3)", Winograd5: "Winograd F(2x2, 5x5)",
	Depthwise: "depthwise", DepthwiseRows: "depthwise by rows",
	Dot2: "implicit GEMM, dot2", DirectDot2: "direct, dot2", Matrix: "matrix units"}

// String returns the name of the algorithm.
func (a Algorithm) String() string { return algorithms[a] }

// Tiles returns the tiles of the algorithm, or the zero Tiles if the algorithm has no tiles.
func (a Algorithm) Tiles() Tiles { return winogradTiles[a] }

// winogradTiles are the tiles of the Winograd algorithms.
var winogradTiles = map[Algorithm]Tiles{
	Winograd2: {Side: 2, Kernel: 3}, Winograd4: {Side: 4, Kernel: 3}, Winograd5: {Side: 2, Kernel: 5},
}

// Choose returns the algorithm of a layer at a precision in a class. It depends
// on shapes alone, and every device of the class uses it.
func Choose(l Layer, precision, class string) Algorithm {
	fused, bf16 := class != Generic, precision == device.BF16
	switch {
	case l.Depthwise():
		return l.depthwise()
	case l.Product == Weights:
		return l.weights(fused, bf16)
	}
	// run is the number of channels that a tap multiplies, and width is the number of channels
	// of the result, both per group.
	run, width := l.C/l.Groups, l.O/l.Groups
	by := l // the forward convolution that computes the product
	if l.Product == Backward {
		run, width = width, run
		if back, ok := l.Flipped(); ok {
			by = back
		}
	}
	if l.Product == Forward && l.Narrow() {
		run += run % 2 // an odd number of channels is padded with a channel of zeros
	}
	pairs := bf16 && fused && run > 0 && run%2 == 0
	matrices := class == AMX && l.matrices(run, width, bf16)
	straight := fused && (l.Product == Forward || by.Product == Forward)
	switch {
	case straight && by.direct() && pairs && !matrices:
		return DirectDot2
	case matrices:
		return Matrix
	case straight && by.tiles() == Winograd4 && (!pairs || by.straight() && by.H%4 == 0 && by.W%4 == 0):
		return Winograd4
	case straight && by.tiles() != ImplicitGEMM && !pairs:
		return by.tiles()
	case straight && by.direct() && !pairs:
		return Direct
	case pairs:
		return Dot2
	}
	return ImplicitGEMM
}

// depthwise returns the algorithm of a depthwise convolution, in every class.
func (l Layer) depthwise() Algorithm {
	by, ok := l, l.Product == Forward
	if l.Product == Backward {
		by, ok = l.Flipped()
	}
	if ok && by.alongRows() {
		return DepthwiseRows
	}
	return Depthwise
}

// weights returns the algorithm that computes the gradient for the weight.
func (l Layer) weights(fused, bf16 bool) Algorithm {
	switch {
	case !fused || l.Dense:
		return ImplicitGEMM
	case bf16:
		return Dot2
	case l.tiles() == Winograd5:
		return Winograd5
	case l.straight() && l.tiles() != ImplicitGEMM && min(l.OH, l.OW) >= 4:
		return Winograd4
	case l.direct():
		return Direct
	}
	return ImplicitGEMM
}

// matrices reports whether matrix units compute a product on a device that has matrix
// units. In float32 the values are split into parts first, which costs as much as about
// 60 multiply-adds for each value. A kernel of 3 by 3 with stride 1 uses Winograd tiles
// instead.
func (l Layer) matrices(run, width int, bf16 bool) bool {
	const widest, wideBF16, step = 128, 32, 32
	switch {
	case l.Dense || l.Groups != 1 || run == 0 || run%step != 0:
		return false
	case bf16:
		return width >= wideBF16
	}
	return width >= widest && (l.Kernel == [2]int{1, 1} || l.Stride != [2]int{1, 1})
}
