//go:build !purego

package kernel

// Walks over rows of float32 that normalise: over many columns, and over the columns of
// 4, 2 and 1 vectors.
var (
	normAVX512Wide = normColumns[float32]{
		extent: extent{lanes: 16, minChannels: 80}, normalise: normaliseAVX512wide,
		normalisePlus: normalisePlusAVX512wide, normaliseGradient: normaliseGradientAVX512wide,
	}
	normAVX512x4 = normColumns[float32]{
		extent: extent{lanes: 64}, normalise: normaliseAVX512x4,
		normalisePlus: normalisePlusAVX512x4, normaliseGradient: normaliseGradientAVX512x4,
	}
	normAVX512x2 = normColumns[float32]{
		extent: extent{lanes: 32}, normalise: normaliseAVX512x2,
		normalisePlus: normalisePlusAVX512x2, normaliseGradient: normaliseGradientAVX512x2,
	}
	normAVX512x1 = normColumns[float32]{
		extent: extent{lanes: 16}, normalise: normaliseAVX512x1,
		normalisePlus: normalisePlusAVX512x1, normaliseGradient: normaliseGradientAVX512x1,
	}
	normAVX512Masked = normColumns[float32]{
		extent: extent{lanes: 16, masked: true}, normalise: normaliseAVX512masked,
		normalisePlus: normalisePlusAVX512masked, normaliseGradient: normaliseGradientAVX512masked,
	}
	normAVX2Wide = normColumns[float32]{
		extent: extent{lanes: 8, minChannels: 24}, normalise: normaliseAVX2wide,
		normalisePlus: normalisePlusAVX2wide, normaliseGradient: normaliseGradientAVX2wide,
	}
	normAVX2x1 = normColumns[float32]{
		extent: extent{lanes: 8}, normalise: normaliseAVX2x1,
		normalisePlus: normalisePlusAVX2x1, normaliseGradient: normaliseGradientAVX2x1,
	}
)

// Walks like those above, over rows of bfloat16. The AVX-512 functions use its instructions for bfloat16.
var (
	normHalfAVX512Wide = normColumns[uint16]{
		extent: extent{lanes: 16, minChannels: 80}, normalise: normaliseHalfAVX512BF16wide,
		normalisePlus: normalisePlusHalfAVX512BF16wide, normaliseGradient: normaliseGradientHalfAVX512BF16wide,
	}
	normHalfAVX512x4 = normColumns[uint16]{
		extent: extent{lanes: 64}, normalise: normaliseHalfAVX512BF16x4,
		normalisePlus: normalisePlusHalfAVX512BF16x4, normaliseGradient: normaliseGradientHalfAVX512BF16x4,
	}
	normHalfAVX512x2 = normColumns[uint16]{
		extent: extent{lanes: 32}, normalise: normaliseHalfAVX512BF16x2,
		normalisePlus: normalisePlusHalfAVX512BF16x2, normaliseGradient: normaliseGradientHalfAVX512BF16x2,
	}
	normHalfAVX512x1 = normColumns[uint16]{
		extent: extent{lanes: 16}, normalise: normaliseHalfAVX512BF16x1,
		normalisePlus: normalisePlusHalfAVX512BF16x1, normaliseGradient: normaliseGradientHalfAVX512BF16x1,
	}
	normHalfAVX2Wide = normColumns[uint16]{
		extent: extent{lanes: 8, minChannels: 24}, normalise: normaliseHalfAVX2wide,
		normalisePlus: normalisePlusHalfAVX2wide, normaliseGradient: normaliseGradientHalfAVX2wide,
	}
	normHalfAVX2x1 = normColumns[uint16]{
		extent: extent{lanes: 8}, normalise: normaliseHalfAVX2x1,
		normalisePlus: normalisePlusHalfAVX2x1, normaliseGradient: normaliseGradientHalfAVX2x1,
	}
)

// The walks of each set of kernels. The first walk that supports some of the channels is used.
var (
	normColumnsAVX512 = []*normColumns[float32]{&normAVX512Masked, &normAVX512Wide, &normAVX512x4, &normAVX512x2,
		&normAVX512x1, &normAVX2x1}
	normColumnsAVX2  = []*normColumns[float32]{&normAVX2Wide, &normAVX2x1}
	normHalvesAVX512 = []*normColumns[uint16]{&normHalfAVX512Wide, &normHalfAVX512x4, &normHalfAVX512x2,
		&normHalfAVX512x1, &normHalfAVX2x1}
	normHalvesAVX2 = []*normColumns[uint16]{&normHalfAVX2Wide, &normHalfAVX2x1}
)
