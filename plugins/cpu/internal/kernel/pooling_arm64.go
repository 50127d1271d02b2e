//go:build !purego

package kernel

var poolsNEON = pools{lanes: 16, max: maxPoolNEON, gradient: maxPoolGradientNEON}
