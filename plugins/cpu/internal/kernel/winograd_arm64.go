//go:build !purego

package kernel

import "github.com/bnctl/bnctl/device/class"

// The 32 vector registers hold the sums of 6 tiles by 16 channels (24 registers), four values of each tile
// (6), and half of the weights (2).
var (
	winogradNEON = winogradKernels{
		forms: map[class.Tiles]winogradForm{
			tiles2x3: {winogradInputNEONt4, winogradOutputNEONf2x3, winogradWeightsNEONf2x3},
			tiles4x3: {winogradInputNEONt6, winogradOutputNEONf4x3, winogradWeightsNEONf4x3},
			tiles2x5: {winogradInputNEONt6, winogradOutputNEONf2x5, winogradWeightsNEONf2x5},
		},
		products: []winogradProducts{{Lanes, []winogradProduct{winogradProductNEONp1, winogradProductNEONp2,
			winogradProductNEONp3, winogradProductNEONp4, winogradProductNEONp5, winogradProductNEONp6}}},
		spread:    winogradSpreadNEON,
		maxAtOnce: 32,
	}
	winogradGradientsNEON = winogradGradients{
		tiles2x3: {winogradGradientNEONf2x3, winogradTapsNEONf2x3},
		tiles4x3: {winogradGradientNEONf4x3, winogradTapsNEONf4x3},
		tiles2x5: {winogradGradientNEONf2x5, winogradTapsNEONf2x5},
	}
)
