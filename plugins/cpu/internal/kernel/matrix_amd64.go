//go:build !purego

package kernel

// Two tiles of positions by two of channels, and the same number of operands, use all
// available tiles.
var matrixAMX = matrixKernels{
	products: map[int][2][2]matrixProduct{
		1: {{matrixProduct1x1x1, matrixProduct1x1x2}, {matrixProduct1x2x1, matrixProduct1x2x2}},
		3: {{matrixProduct3x1x1, matrixProduct3x1x2}, {matrixProduct3x2x1, matrixProduct3x2x2}},
	},
	gather: matrixGather, split: matrixSplit,
	store: matrixStore,
}
