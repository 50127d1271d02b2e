//go:build !purego

package kernel

// 5 tiles by 16 channels fill the registers as windows do. Kernels are
// transformed by the definition, in float64 and once for all images.
var (
	winogradNEON = winogradKernels{
		forms: map[int]winogradForm{
			2: {input: winogradInputNEONf2, output: winogradOutputNEONf2},
			4: {input: winogradInputNEONf4, output: winogradOutputNEONf4},
		},
		products: []winogradProducts{{Lanes, []winogradProduct{winogradProductNEONp1, winogradProductNEONp2,
			winogradProductNEONp3, winogradProductNEONp4, winogradProductNEONp5}}},
		spread: winogradSpreadNEON,
	}
	winogradGradientsNEON = winogradGradients{
		2: {spreadOut: winogradGradientNEONf2}, 4: {spreadOut: winogradGradientNEONf4},
	}
)
