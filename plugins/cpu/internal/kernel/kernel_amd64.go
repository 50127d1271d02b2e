//go:build !purego

package kernel

import "golang.org/x/sys/cpu"

// native returns the sets with assembly that this machine can run.
func native() []*Set {
	var sets []*Set
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL && cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		sets = append(sets, &Set{Name: "avx512", Class: "fma", fused: true,
			window: windowAVX512, gradient: gradientAVX512, denseGradient: denseGradientAVX512,
			normColumns: normColumnsAVX512, sumColumns: sumColumnsAVX512,
			doubleSums: doubleSumsAVX512, elements: &elementsAVX512,
			activations: &activationsAVX512, doubles: &doublesAVX512,
			depthwise: depthwiseAVX512, depthwiseGradients: depthwiseGradientsAVX512,
			depthwiseRows: depthwiseRowsAVX512,
			gathers:       &gathersAVX512, shuffles: &shufflesAVX512, pools: &poolsAVX512,
			resample: &resampleKernelAVX2, directs: &directsAVX512,
			winograd: &winogradAVX512, winogradGradients: winogradGradientsAVX512, fetch: fetchLines, peak: peakAVX512,
			lanes: 16, int8: int8AVX512(), tableInt8: tableInt8()})
		withBF16(sets[0], bf16Instructions(), cpu.X86.HasAMXBF16)
		if bf16Instructions() && matrixUnits() {
			amx := *sets[0]
			amx.Name, amx.Class, amx.matrix = "amx", "amx", &matrixAMX
			sets = append([]*Set{&amx}, sets...)
		}
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		sets = append(sets, &Set{Name: "avx2", Class: "fma", fused: true,
			window: windowAVX2, gradient: gradientAVX2, stagedGradient: &stagedGradientAVX2,
			normColumns: normColumnsAVX2, sumColumns: sumColumnsAVX2,
			doubleSums: doubleSumsAVX2, normHalves: normHalvesAVX2,
			sumHalves: sumHalvesAVX2, elements: &elementsAVX2, activations: &activationsAVX2,
			doubles:   &doublesAVX2,
			depthwise: depthwiseAVX2, depthwiseGradients: depthwiseGradientsAVX2, depthwiseRows: depthwiseRowsAVX2,
			gathers: &gathersAVX2, shuffles: &shufflesAVX2, pools: &poolsAVX2,
			resample: &resampleKernelAVX2, directs: &directsAVX2,
			winograd: &winogradAVX2, winogradGradients: winogradGradientsAVX2, fetch: fetchLines, peak: peakAVX2,
			lanes: 8, int8: int8AVX2(),
			bf16: &bf16AVX2, pairs: pairsAVX2, pairsGradients: pairsGradientsAVX2,
			directPairs: directPairsAVX2})
	}
	return sets
}

// bf16Instructions reports whether the processor has instructions for bfloat16, and the instructions
// for words and for shorter vectors that all such processors have.
func bf16Instructions() bool {
	return cpu.X86.HasAVX512BF16 && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL
}

// withBF16 adds the kernels for bfloat16 to a set of AVX-512. On processors with matrix
// units the instruction for pairs is slower than multiply-adds.
func withBF16(s *Set, instructions, matrices bool) {
	s.bf16, s.pairs, s.pairsGradients = &bf16AVX2, pairsAVX512, pairsGradientsAVX512
	s.directPairs, s.normHalves, s.sumHalves = directPairsAVX512, normHalvesAVX2, sumHalvesAVX2
	if instructions {
		s.bf16, s.normHalves, s.sumHalves = &bf16AVX512, normHalvesAVX512, sumHalvesAVX512
	}
	if instructions && !matrices {
		s.pairs, s.pairsGradients = pairsAVX512BF16, pairsGradientsAVX512BF16
		s.directPairs = directPairsAVX512BF16
	}
}
