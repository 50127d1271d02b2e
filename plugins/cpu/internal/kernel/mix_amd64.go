//go:build !purego

package kernel

var mixesAVX2 = mixKernel{4, mixAVX2}
