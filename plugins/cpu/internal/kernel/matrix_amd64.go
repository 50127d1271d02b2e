//go:build !purego

package kernel

// The sums of two tiles of positions by two of channels, and the four tiles of their operands, use all
// available tile registers.
var matrixAMX = matrixKernels{
	products: map[int][2][2]matrixProduct{
		1: {{matrixProduct1x1x1, matrixProduct1x1x2}, {matrixProduct1x2x1, matrixProduct1x2x2}},
		3: {{matrixProduct3x1x1, matrixProduct3x1x2}, {matrixProduct3x2x1, matrixProduct3x2x2}},
	},
	gather: matrixGather, split: matrixSplit,
	store: matrixStore,
}
