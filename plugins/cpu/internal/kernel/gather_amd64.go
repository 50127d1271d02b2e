//go:build !purego

package kernel

var (
	gathersAVX512 = gatherKernels{16, gatherAVX512, gatherScaledAVX512, scatterAVX512, &gathersAVX2}
	gathersAVX2   = gatherKernels{8, gatherAVX2, gatherScaledAVX2, scatterAVX2, nil}
)
