//go:build !purego

package kernel

var (
	shufflesAVX512 = shuffleKernel{16, shuffleAVX512, shuffleThreeAVX512, everySecondAVX512}
	shufflesAVX2   = shuffleKernel{8, shuffleAVX2, shuffleThreeAVX2, everySecondAVX2}
)
