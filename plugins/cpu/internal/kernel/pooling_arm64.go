//go:build !purego

package kernel

var poolsNEON = pools{16, maxPoolNEON, maxPoolGradientNEON}
