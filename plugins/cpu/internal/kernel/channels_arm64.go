//go:build !purego

package kernel

// Walks over rows of float32, over the columns of 4 vectors and of 1.
var (
	normColumnsNEON = []*normColumns[float32]{
		{extent: extent{lanes: 16}, normalise: normaliseNEONx4,
			normalisePlus: normalisePlusNEONx4, normaliseGradient: normaliseGradientNEONx4},
		{extent: extent{lanes: 4}, normalise: normaliseNEONx1,
			normalisePlus: normalisePlusNEONx1, normaliseGradient: normaliseGradientNEONx1},
	}
	sumColumnsNEON = []*sumColumns[float32]{
		{extent: extent{lanes: 16}, sums: sumsNEONx4, sizes: sizesNEONx4,
			deviations: deviationsNEONx4, gradientSums: gradientSumsNEONx4,
			maskedSums: maskedSumsNEONx4, maskedSumsPlus: maskedSumsPlusNEONx4},
		{extent: extent{lanes: 4}, sums: sumsNEONx1, sizes: sizesNEONx1,
			deviations: deviationsNEONx1, gradientSums: gradientSumsNEONx1,
			maskedSums: maskedSumsNEONx1, maskedSumsPlus: maskedSumsPlusNEONx1},
	}
)
