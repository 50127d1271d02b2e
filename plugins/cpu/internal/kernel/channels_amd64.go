//go:build !purego

package kernel

var columnsAVX512 = columns{
	lanes: 16, sums: sumsAVX512, sizes: sizesAVX512, deviations: deviationsAVX512,
	gradientSums: gradientSumsAVX512,
	maskedSums:   maskedSumsAVX512, maskedSumsPlus: maskedSumsPlusAVX512,
	normalise: normaliseAVX512, normaliseRelu: normaliseReluAVX512, normalisePlus: normalisePlusAVX512,
	normalisePlusRelu: normalisePlusReluAVX512, normaliseGradient: normaliseGradientAVX512,
}

var columnsAVX2 = columns{
	lanes: 8, sums: sumsAVX2, sizes: sizesAVX2, deviations: deviationsAVX2, gradientSums: gradientSumsAVX2,
	maskedSums: maskedSumsAVX2, maskedSumsPlus: maskedSumsPlusAVX2,
	normalise: normaliseAVX2, normaliseRelu: normaliseReluAVX2, normalisePlus: normalisePlusAVX2,
	normalisePlusRelu: normalisePlusReluAVX2, normaliseGradient: normaliseGradientAVX2,
}
