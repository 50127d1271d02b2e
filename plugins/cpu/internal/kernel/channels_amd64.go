//go:build !purego

package kernel

// Walks over the columns of 1, 2 and 4 vectors, in rows of float32.
var (
	columnsAVX512x4 = columns[float32]{
		lanes:             64,
		sums:              sumsAVX512x4,
		sizes:             sizesAVX512x4,
		deviations:        deviationsAVX512x4,
		gradientSums:      gradientSumsAVX512x4,
		maskedSums:        maskedSumsAVX512x4,
		maskedSumsPlus:    maskedSumsPlusAVX512x4,
		normalise:         normaliseAVX512x4,
		normalisePlus:     normalisePlusAVX512x4,
		normaliseGradient: normaliseGradientAVX512x4,
	}
	columnsAVX512x2 = columns[float32]{
		lanes:             32,
		sums:              sumsAVX512x2,
		sizes:             sizesAVX512x2,
		deviations:        deviationsAVX512x2,
		gradientSums:      gradientSumsAVX512x2,
		maskedSums:        maskedSumsAVX512x2,
		maskedSumsPlus:    maskedSumsPlusAVX512x2,
		normalise:         normaliseAVX512x2,
		normalisePlus:     normalisePlusAVX512x2,
		normaliseGradient: normaliseGradientAVX512x2,
	}
	columnsAVX512x1 = columns[float32]{
		lanes:             16,
		sums:              sumsAVX512x1,
		sizes:             sizesAVX512x1,
		deviations:        deviationsAVX512x1,
		gradientSums:      gradientSumsAVX512x1,
		maskedSums:        maskedSumsAVX512x1,
		maskedSumsPlus:    maskedSumsPlusAVX512x1,
		normalise:         normaliseAVX512x1,
		normalisePlus:     normalisePlusAVX512x1,
		normaliseGradient: normaliseGradientAVX512x1,
	}
	columnsAVX2 = columns[float32]{
		lanes:             8,
		sums:              sumsAVX2x1,
		sizes:             sizesAVX2x1,
		deviations:        deviationsAVX2x1,
		gradientSums:      gradientSumsAVX2x1,
		maskedSums:        maskedSumsAVX2x1,
		maskedSumsPlus:    maskedSumsPlusAVX2x1,
		normalise:         normaliseAVX2x1,
		normalisePlus:     normalisePlusAVX2x1,
		normaliseGradient: normaliseGradientAVX2x1,
	}
)

// The same in rows of bfloat16; those of AVX-512 want its instructions for that.
var (
	halvesAVX512x4 = columns[uint16]{
		lanes:             64,
		sums:              sumsHalfAVX512BF16x4,
		deviations:        deviationsHalfAVX512BF16x4,
		gradientSums:      gradientSumsHalfAVX512BF16x4,
		maskedSums:        maskedSumsHalfAVX512BF16x4,
		maskedSumsPlus:    maskedSumsPlusHalfAVX512BF16x4,
		normalise:         normaliseHalfAVX512BF16x4,
		normalisePlus:     normalisePlusHalfAVX512BF16x4,
		normaliseGradient: normaliseGradientHalfAVX512BF16x4,
	}
	halvesAVX512x2 = columns[uint16]{
		lanes:             32,
		sums:              sumsHalfAVX512BF16x2,
		deviations:        deviationsHalfAVX512BF16x2,
		gradientSums:      gradientSumsHalfAVX512BF16x2,
		maskedSums:        maskedSumsHalfAVX512BF16x2,
		maskedSumsPlus:    maskedSumsPlusHalfAVX512BF16x2,
		normalise:         normaliseHalfAVX512BF16x2,
		normalisePlus:     normalisePlusHalfAVX512BF16x2,
		normaliseGradient: normaliseGradientHalfAVX512BF16x2,
	}
	halvesAVX512x1 = columns[uint16]{
		lanes:             16,
		sums:              sumsHalfAVX512BF16x1,
		deviations:        deviationsHalfAVX512BF16x1,
		gradientSums:      gradientSumsHalfAVX512BF16x1,
		maskedSums:        maskedSumsHalfAVX512BF16x1,
		maskedSumsPlus:    maskedSumsPlusHalfAVX512BF16x1,
		normalise:         normaliseHalfAVX512BF16x1,
		normalisePlus:     normalisePlusHalfAVX512BF16x1,
		normaliseGradient: normaliseGradientHalfAVX512BF16x1,
	}
	halvesAVX2 = columns[uint16]{
		lanes:             8,
		sums:              sumsHalfAVX2x1,
		deviations:        deviationsHalfAVX2x1,
		gradientSums:      gradientSumsHalfAVX2x1,
		maskedSums:        maskedSumsHalfAVX2x1,
		maskedSumsPlus:    maskedSumsPlusHalfAVX2x1,
		normalise:         normaliseHalfAVX2x1,
		normalisePlus:     normalisePlusHalfAVX2x1,
		normaliseGradient: normaliseGradientHalfAVX2x1,
	}
)

var (
	columnsOfAVX512 = []*columns[float32]{&columnsAVX512x4, &columnsAVX512x2, &columnsAVX512x1, &columnsAVX2}
	columnsOfAVX2   = []*columns[float32]{&columnsAVX2}
	halvesOfAVX512  = []*columns[uint16]{&halvesAVX512x4, &halvesAVX512x2, &halvesAVX512x1, &halvesAVX2}
	halvesOfAVX2    = []*columns[uint16]{&halvesAVX2}
)
