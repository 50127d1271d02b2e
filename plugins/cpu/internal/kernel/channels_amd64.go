//go:build !purego

package kernel

// Walks over rows of float32: wide ones, and over the columns of 4, 2 and 1
// vectors.
var (
	columnsAVX512Wide = columns[float32]{
		lanes: 16, wide: 80,
		sums: sumsAVX512wide, sizes: sizesAVX512wide, deviations: deviationsAVX512wide,
		gradientSums: gradientSumsAVX512wide, maskedSums: maskedSumsAVX512wide,
		maskedSumsPlus: maskedSumsPlusAVX512wide, normalise: normaliseAVX512wide,
		normalisePlus: normalisePlusAVX512wide, normaliseGradient: normaliseGradientAVX512wide,
	}
	columnsAVX512x4 = columns[float32]{
		lanes: 64,
		sums:  sumsAVX512x4, sizes: sizesAVX512x4, deviations: deviationsAVX512x4,
		gradientSums: gradientSumsAVX512x4, maskedSums: maskedSumsAVX512x4,
		maskedSumsPlus: maskedSumsPlusAVX512x4, normalise: normaliseAVX512x4,
		normalisePlus: normalisePlusAVX512x4, normaliseGradient: normaliseGradientAVX512x4,
	}
	columnsAVX512x2 = columns[float32]{
		lanes: 32,
		sums:  sumsAVX512x2, sizes: sizesAVX512x2, deviations: deviationsAVX512x2,
		gradientSums: gradientSumsAVX512x2, maskedSums: maskedSumsAVX512x2,
		maskedSumsPlus: maskedSumsPlusAVX512x2, normalise: normaliseAVX512x2,
		normalisePlus: normalisePlusAVX512x2, normaliseGradient: normaliseGradientAVX512x2,
	}
	columnsAVX512x1 = columns[float32]{
		lanes: 16,
		sums:  sumsAVX512x1, sizes: sizesAVX512x1, deviations: deviationsAVX512x1,
		gradientSums: gradientSumsAVX512x1, maskedSums: maskedSumsAVX512x1,
		maskedSumsPlus: maskedSumsPlusAVX512x1, normalise: normaliseAVX512x1,
		normalisePlus: normalisePlusAVX512x1, normaliseGradient: normaliseGradientAVX512x1,
	}
	columnsAVX2Wide = columns[float32]{
		lanes: 8, wide: 24,
		sums: sumsAVX2wide, sizes: sizesAVX2wide, deviations: deviationsAVX2wide,
		gradientSums: gradientSumsAVX2wide, maskedSums: maskedSumsAVX2wide,
		maskedSumsPlus: maskedSumsPlusAVX2wide, normalise: normaliseAVX2wide,
		normalisePlus: normalisePlusAVX2wide, normaliseGradient: normaliseGradientAVX2wide,
	}
	columnsAVX2x1 = columns[float32]{
		lanes: 8,
		sums:  sumsAVX2x1, sizes: sizesAVX2x1, deviations: deviationsAVX2x1,
		gradientSums: gradientSumsAVX2x1, maskedSums: maskedSumsAVX2x1,
		maskedSumsPlus: maskedSumsPlusAVX2x1, normalise: normaliseAVX2x1,
		normalisePlus: normalisePlusAVX2x1, normaliseGradient: normaliseGradientAVX2x1,
	}
)

// The same over rows of bfloat16; those of AVX-512 take its instructions for that.
var (
	halvesAVX512Wide = columns[uint16]{
		lanes: 16, wide: 80,
		sums: sumsHalfAVX512BF16wide, deviations: deviationsHalfAVX512BF16wide,
		gradientSums: gradientSumsHalfAVX512BF16wide, maskedSums: maskedSumsHalfAVX512BF16wide,
		maskedSumsPlus: maskedSumsPlusHalfAVX512BF16wide, normalise: normaliseHalfAVX512BF16wide,
		normalisePlus:     normalisePlusHalfAVX512BF16wide,
		normaliseGradient: normaliseGradientHalfAVX512BF16wide,
	}
	halvesAVX512x4 = columns[uint16]{
		lanes: 64,
		sums:  sumsHalfAVX512BF16x4, deviations: deviationsHalfAVX512BF16x4,
		gradientSums: gradientSumsHalfAVX512BF16x4, maskedSums: maskedSumsHalfAVX512BF16x4,
		maskedSumsPlus: maskedSumsPlusHalfAVX512BF16x4, normalise: normaliseHalfAVX512BF16x4,
		normalisePlus:     normalisePlusHalfAVX512BF16x4,
		normaliseGradient: normaliseGradientHalfAVX512BF16x4,
	}
	halvesAVX512x2 = columns[uint16]{
		lanes: 32,
		sums:  sumsHalfAVX512BF16x2, deviations: deviationsHalfAVX512BF16x2,
		gradientSums: gradientSumsHalfAVX512BF16x2, maskedSums: maskedSumsHalfAVX512BF16x2,
		maskedSumsPlus: maskedSumsPlusHalfAVX512BF16x2, normalise: normaliseHalfAVX512BF16x2,
		normalisePlus:     normalisePlusHalfAVX512BF16x2,
		normaliseGradient: normaliseGradientHalfAVX512BF16x2,
	}
	halvesAVX512x1 = columns[uint16]{
		lanes: 16,
		sums:  sumsHalfAVX512BF16x1, deviations: deviationsHalfAVX512BF16x1,
		gradientSums: gradientSumsHalfAVX512BF16x1, maskedSums: maskedSumsHalfAVX512BF16x1,
		maskedSumsPlus: maskedSumsPlusHalfAVX512BF16x1, normalise: normaliseHalfAVX512BF16x1,
		normalisePlus:     normalisePlusHalfAVX512BF16x1,
		normaliseGradient: normaliseGradientHalfAVX512BF16x1,
	}
	halvesAVX2Wide = columns[uint16]{
		lanes: 8, wide: 24,
		sums: sumsHalfAVX2wide, deviations: deviationsHalfAVX2wide,
		gradientSums: gradientSumsHalfAVX2wide, maskedSums: maskedSumsHalfAVX2wide,
		maskedSumsPlus: maskedSumsPlusHalfAVX2wide, normalise: normaliseHalfAVX2wide,
		normalisePlus: normalisePlusHalfAVX2wide, normaliseGradient: normaliseGradientHalfAVX2wide,
	}
	halvesAVX2x1 = columns[uint16]{
		lanes: 8,
		sums:  sumsHalfAVX2x1, deviations: deviationsHalfAVX2x1, gradientSums: gradientSumsHalfAVX2x1,
		maskedSums: maskedSumsHalfAVX2x1, maskedSumsPlus: maskedSumsPlusHalfAVX2x1,
		normalise: normaliseHalfAVX2x1, normalisePlus: normalisePlusHalfAVX2x1,
		normaliseGradient: normaliseGradientHalfAVX2x1,
	}
)

// The walks of a set; the first that treats some of the channels is taken.
var (
	columnsAVX512 = []*columns[float32]{&columnsAVX512Wide, &columnsAVX512x4, &columnsAVX512x2, &columnsAVX512x1,
		&columnsAVX2x1}
	columnsAVX2  = []*columns[float32]{&columnsAVX2Wide, &columnsAVX2x1}
	halvesAVX512 = []*columns[uint16]{&halvesAVX512Wide, &halvesAVX512x4, &halvesAVX512x2, &halvesAVX512x1,
		&halvesAVX2x1}
	halvesAVX2 = []*columns[uint16]{&halvesAVX2Wide, &halvesAVX2x1}
)
