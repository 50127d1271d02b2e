//go:build !purego

package kernel

var resampleKernelAVX2 = resampleKernel{4, resampleAVX2, averageAVX2}
