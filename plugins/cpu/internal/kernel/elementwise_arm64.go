//go:build !purego

package kernel

var elementsNEON = elements{16, reluNEON, reluGradientNEON, relu6NEON, relu6GradientNEON, addNEON, nil}
