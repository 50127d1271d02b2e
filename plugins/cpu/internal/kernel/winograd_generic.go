package kernel

import "github.com/bnctl/bnctl/device/class"

// inputGeneric transforms one tile of the input: first its columns, then the rows of the result.
func (g Winograd) inputGeneric(v []float32, freq int, in []float32, rowStep int) {
	n := g.Tile()
	var half [class.MostTile][class.MostTile]float32
	var d, t [class.MostTile]float32
	for c := range g.In {
		for x := range n {
			for y := range n {
				d[y] = in[y*rowStep+x*g.In+c]
			}
			g.TransformInput(t[:], d[:])
			for i := range n {
				half[i][x] = t[i]
			}
		}
		for i := range n {
			g.TransformInput(t[:], half[i][:])
			for j := range n {
				v[(i*n+j)*freq+c] = t[j]
			}
		}
	}
}

// productGeneric computes the products of one panel for all tiles.
func (g Winograd) productGeneric(m, v, packed []float32, total, panel int) {
	width, step := g.PanelWidth(panel), g.weightStep(panel)
	vTile, vFreq := g.inSteps(total)
	mTile, mFreq := g.outSteps(total)
	for f := range g.Frequencies() {
		for t := range total {
			sums, x := m[f*mFreq+t*mTile:][:width], v[f*vFreq+t*vTile:]
			for from := 0; from < g.In; from += g.Block() {
				var chain [WinogradLanes]float32
				for k := from; k < from+g.Block(); k++ {
					addFused(chain[:width], packed[f*step+k*width:][:width], x[k])
				}
				for o := range sums {
					if from == 0 {
						sums[o] = chain[o]
					} else {
						sums[o] += chain[o]
					}
				}
			}
		}
	}
}

// outputGeneric computes the outputs of one tile: first along its rows, then along the columns of the
// result.
func (g Winograd) outputGeneric(out []float32, rowStep, step int, m []float32, freq int, bias []float32,
	e Epilogue) {
	n := g.Tile()
	var half [class.MostTile][class.MostTile]float32 // of the first pass, [column of the output][row of m]
	var d, t [class.MostTile]float32
	for o, b := range bias {
		for i := range n {
			for j := range n {
				d[j] = m[(i*n+j)*freq+o]
			}
			g.TransformOutput(t[:], d[:])
			for x := range g.Side {
				half[x][i] = t[x]
			}
		}
		for x := range g.Side {
			g.TransformOutput(t[:], half[x][:])
			for y := range g.Side {
				i := y*rowStep + x*step + o
				out[i] = e.applyTo(i, t[y]+b)
			}
		}
	}
}

// weightsGeneric transforms n kernels. step is the distance between frequencies, and tapStep between taps.
func (g Winograd) weightsGeneric(packed []float32, step int, taps []float32, tapStep, n int) {
	kernel := make([]float32, g.Taps())
	var u [class.MostTile * class.MostTile]float32
	for k := range n {
		for t := range kernel {
			kernel[t] = taps[t*tapStep+k]
		}
		g.TransformWeights(u[:], kernel)
		for f := range g.Frequencies() {
			packed[f*step+k] = u[f]
		}
	}
}
