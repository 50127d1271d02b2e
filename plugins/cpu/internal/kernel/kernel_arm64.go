//go:build !purego

package kernel

// native returns the sets that have assembly. Every arm64 processor has NEON. For functions without
// assembly, the set uses the definition.
func native() []*Set {
	return []*Set{{Name: "neon", Class: "fma", fused: true, window: windowNEON, gradient: gradientNEON,
		depthwise: depthwiseNEON, depthwiseGradients: depthwiseGradientsNEON,
		elements: &elementsNEON, activations: &activationsNEON, directs: &directsNEON,
		normColumns: normColumnsNEON, sumColumns: sumColumnsNEON, pools: &poolsNEON,
		winograd: &winogradNEON, winogradGradients: winogradGradientsNEON,
		int8: int8OfARM64(), tableInt8: tableInt8NEON}}
}
