//go:build !purego

package kernel

import "golang.org/x/sys/cpu"

// native returns the sets made of assembly that this machine can run.
func native() []*Set {
	var sets []*Set
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		sets = append(sets, &Set{Name: "avx512", Class: "fma", fused: true,
			window: windowAVX512, gradient: gradientAVX512,
			columns: []*columns{&columnsAVX512, &columnsAVX2}, elements: &elementsAVX512,
			depthwise: depthwiseAVX512, pools: &poolsAVX512, strips: &stripsAVX512,
			winograd: &winogradAVX512, winogradGradients: winogradGradientsAVX512, peak: peakAVX512, lanes: 16})
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		sets = append(sets, &Set{Name: "avx2", Class: "fma", fused: true,
			window: windowAVX2, gradient: gradientAVX2,
			columns: []*columns{&columnsAVX2}, elements: &elementsAVX2,
			depthwise: depthwiseAVX2, pools: &poolsAVX2, strips: &stripsAVX2,
			winograd: &winogradAVX2, winogradGradients: winogradGradientsAVX2, peak: peakAVX2, lanes: 8})
	}
	return sets
}
