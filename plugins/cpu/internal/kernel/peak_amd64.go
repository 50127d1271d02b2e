//go:build !purego

package kernel

//go:noescape
func peakAVX512(n int)

//go:noescape
func peakAVX2(n int)
