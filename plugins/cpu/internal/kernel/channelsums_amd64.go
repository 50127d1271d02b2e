//go:build !purego

package kernel

// Assembly that sums the columns of float32 rows. It processes many columns, or the columns of 4, 2 or 1
// vectors.
var (
	sumAVX512Wide = sumColumns[float32]{
		extent: extent{lanes: 16, minChannels: 80}, sums: sumsAVX512wide, sizes: sizesAVX512wide,
		deviations: deviationsAVX512wide, gradientSums: gradientSumsAVX512wide,
		maskedSums: maskedSumsAVX512wide, maskedSumsPlus: maskedSumsPlusAVX512wide,
	}
	sumAVX512x4 = sumColumns[float32]{
		extent: extent{lanes: 64}, sums: sumsAVX512x4, sizes: sizesAVX512x4,
		deviations: deviationsAVX512x4, gradientSums: gradientSumsAVX512x4,
		maskedSums: maskedSumsAVX512x4, maskedSumsPlus: maskedSumsPlusAVX512x4,
		blocks: &sumBlocks[float32]{momentBlocksAVX512x4, gradientBlocksAVX512x4, maskedBlocksAVX512x4,
			maskedBlocksPlusAVX512x4},
	}
	sumAVX512x2 = sumColumns[float32]{
		extent: extent{lanes: 32}, sums: sumsAVX512x2, sizes: sizesAVX512x2,
		deviations: deviationsAVX512x2, gradientSums: gradientSumsAVX512x2,
		maskedSums: maskedSumsAVX512x2, maskedSumsPlus: maskedSumsPlusAVX512x2,
		blocks: &sumBlocks[float32]{momentBlocksAVX512x2, gradientBlocksAVX512x2, maskedBlocksAVX512x2,
			maskedBlocksPlusAVX512x2},
	}
	sumAVX512x1 = sumColumns[float32]{
		extent: extent{lanes: 16}, sums: sumsAVX512x1, sizes: sizesAVX512x1,
		deviations: deviationsAVX512x1, gradientSums: gradientSumsAVX512x1,
		maskedSums: maskedSumsAVX512x1, maskedSumsPlus: maskedSumsPlusAVX512x1,
		blocks: &sumBlocks[float32]{momentBlocksAVX512x1, gradientBlocksAVX512x1, maskedBlocksAVX512x1,
			maskedBlocksPlusAVX512x1},
	}
	sumAVX512Masked = sumColumns[float32]{
		extent: extent{lanes: 16, masked: true}, sums: sumsAVX512masked, sizes: sizesAVX512masked,
		deviations: deviationsAVX512masked, gradientSums: gradientSumsAVX512masked,
		maskedSums: maskedSumsAVX512masked, maskedSumsPlus: maskedSumsPlusAVX512masked,
	}
	sumAVX2Wide = sumColumns[float32]{
		extent: extent{lanes: 8, minChannels: 24}, sums: sumsAVX2wide, sizes: sizesAVX2wide,
		deviations: deviationsAVX2wide, gradientSums: gradientSumsAVX2wide,
		maskedSums: maskedSumsAVX2wide, maskedSumsPlus: maskedSumsPlusAVX2wide,
	}
	sumAVX2x2 = sumColumns[float32]{
		extent: extent{lanes: 16}, sums: sumsAVX2x2, sizes: sizesAVX2x2,
		deviations: deviationsAVX2x2, gradientSums: gradientSumsAVX2x2,
		maskedSums: maskedSumsAVX2x2, maskedSumsPlus: maskedSumsPlusAVX2x2,
		blocks: &sumBlocks[float32]{momentBlocksAVX2x2, gradientBlocksAVX2x2, maskedBlocksAVX2x2,
			maskedBlocksPlusAVX2x2},
	}
	sumAVX2x1 = sumColumns[float32]{
		extent: extent{lanes: 8}, sums: sumsAVX2x1, sizes: sizesAVX2x1,
		deviations: deviationsAVX2x1, gradientSums: gradientSumsAVX2x1,
		maskedSums: maskedSumsAVX2x1, maskedSumsPlus: maskedSumsPlusAVX2x1,
		blocks: &sumBlocks[float32]{momentBlocksAVX2x1, gradientBlocksAVX2x1, maskedBlocksAVX2x1,
			maskedBlocksPlusAVX2x1},
	}
)

// Walks like those above, over rows of bfloat16. The AVX-512 functions use its instructions for bfloat16.
var (
	sumHalfAVX512Wide = sumColumns[uint16]{
		extent: extent{lanes: 16, minChannels: 80}, sums: sumsHalfAVX512BF16wide,
		deviations: deviationsHalfAVX512BF16wide, gradientSums: gradientSumsHalfAVX512BF16wide,
		maskedSums: maskedSumsHalfAVX512BF16wide, maskedSumsPlus: maskedSumsPlusHalfAVX512BF16wide,
	}
	sumHalfAVX512x4 = sumColumns[uint16]{
		extent: extent{lanes: 64}, sums: sumsHalfAVX512BF16x4,
		deviations: deviationsHalfAVX512BF16x4, gradientSums: gradientSumsHalfAVX512BF16x4,
		maskedSums: maskedSumsHalfAVX512BF16x4, maskedSumsPlus: maskedSumsPlusHalfAVX512BF16x4,
	}
	sumHalfAVX512x2 = sumColumns[uint16]{
		extent: extent{lanes: 32}, sums: sumsHalfAVX512BF16x2,
		deviations: deviationsHalfAVX512BF16x2, gradientSums: gradientSumsHalfAVX512BF16x2,
		maskedSums: maskedSumsHalfAVX512BF16x2, maskedSumsPlus: maskedSumsPlusHalfAVX512BF16x2,
	}
	sumHalfAVX512x1 = sumColumns[uint16]{
		extent: extent{lanes: 16}, sums: sumsHalfAVX512BF16x1,
		deviations: deviationsHalfAVX512BF16x1, gradientSums: gradientSumsHalfAVX512BF16x1,
		maskedSums: maskedSumsHalfAVX512BF16x1, maskedSumsPlus: maskedSumsPlusHalfAVX512BF16x1,
	}
	sumHalfAVX2Wide = sumColumns[uint16]{
		extent: extent{lanes: 8, minChannels: 24}, sums: sumsHalfAVX2wide,
		deviations: deviationsHalfAVX2wide, gradientSums: gradientSumsHalfAVX2wide,
		maskedSums: maskedSumsHalfAVX2wide, maskedSumsPlus: maskedSumsPlusHalfAVX2wide,
	}
	sumHalfAVX2x2 = sumColumns[uint16]{
		extent: extent{lanes: 16}, sums: sumsHalfAVX2x2,
		deviations: deviationsHalfAVX2x2, gradientSums: gradientSumsHalfAVX2x2,
		maskedSums: maskedSumsHalfAVX2x2, maskedSumsPlus: maskedSumsPlusHalfAVX2x2,
	}
	sumHalfAVX2x1 = sumColumns[uint16]{
		extent: extent{lanes: 8}, sums: sumsHalfAVX2x1,
		deviations: deviationsHalfAVX2x1, gradientSums: gradientSumsHalfAVX2x1,
		maskedSums: maskedSumsHalfAVX2x1, maskedSumsPlus: maskedSumsPlusHalfAVX2x1,
	}
)

// The walks of each set of kernels. The first walk that supports some of the channels is used.
var (
	sumColumnsAVX512 = []*sumColumns[float32]{&sumAVX512Masked, &sumAVX512Wide, &sumAVX512x4, &sumAVX512x2,
		&sumAVX512x1, &sumAVX2x1}
	sumColumnsAVX2  = []*sumColumns[float32]{&sumAVX2Wide, &sumAVX2x2, &sumAVX2x1}
	sumHalvesAVX512 = []*sumColumns[uint16]{&sumHalfAVX512Wide, &sumHalfAVX512x4, &sumHalfAVX512x2,
		&sumHalfAVX512x1, &sumHalfAVX2x1}
	sumHalvesAVX2 = []*sumColumns[uint16]{&sumHalfAVX2Wide, &sumHalfAVX2x2, &sumHalfAVX2x1}
)

// Walks that add in float64.
var (
	doubleSumsAVX512 = append([]*doubleSums{{extent{lanes: 64}, doubleSumsAVX512x4},
		{extent{lanes: 32}, doubleSumsAVX512x2}, {extent{lanes: 16}, doubleSumsAVX512x1}}, doubleSumsAVX2[1:]...)
	doubleSumsAVX2 = []*doubleSums{{extent{lanes: 16}, doubleSumsAVX2x2}, {extent{lanes: 8}, doubleSumsAVX2x1}}
)
