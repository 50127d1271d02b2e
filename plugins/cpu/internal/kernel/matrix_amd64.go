//go:build !purego

package kernel

// Two tiles of positions by two of channels, and as many of operands, are all
// tiles that there are.
var matrixAMX = matrixKernels{
	products: map[int][2][2]matrixProduct{
		1: {{matrixProduct1x1x1, matrixProduct1x1x2}, {matrixProduct1x2x1, matrixProduct1x2x2}},
		3: {{matrixProduct3x1x1, matrixProduct3x1x2}, {matrixProduct3x2x1, matrixProduct3x2x2}},
	},
	gather: matrixGather, split: matrixSplit,
	store: matrixStore,
}
