//go:build !purego

package kernel

var elementsNEON = elements{lanes: 16, relu: reluNEON, reluGradient: reluGradientNEON, relu6: relu6NEON,
	relu6Gradient: relu6GradientNEON, add: addNEON}
