//go:build !purego

package kernel

var (
	doublesAVX512 = doubles{8, expDoublesAVX512}
	doublesAVX2   = doubles{4, expDoublesAVX2}
)
