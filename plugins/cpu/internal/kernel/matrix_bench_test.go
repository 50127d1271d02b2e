package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// matrixShapes are 1 by 1 and strided layers of resnet18 and resnet50.
var matrixShapes = []struct{ side, taps, in, out int }{
	{56, 1, 64, 256}, {56, 1, 256, 64}, {28, 1, 512, 128}, {14, 1, 256, 1024}, {7, 1, 512, 2048},
	{14, 9, 128, 128},
}

// BenchmarkMatrix measures products by matrix units, on machines that have them.
func BenchmarkMatrix(b *testing.B) {
	for _, s := range matrixShapes {
		w := benchWindow(s.side*s.side, s.taps, s.in, s.out)
		for _, parts := range []int{1, 3} {
			c := newMatrixCase(rand.New(rand.NewPCG(1, 1)), w, parts, 0, w.inNeed)
			c.finish = ScaledEpilogue{}
			in := make([]uint16, len(c.in))
			for _, set := range matrixSets() {
				set.NarrowBF16(in, c.in)
				b.Run(fmt.Sprintf("%dx%dx%dx%d/%d/%s", s.side, s.taps, s.in, s.out, parts, set.Name), func(b *testing.B) {
					spare := new(MatrixWorkspace)
					for b.Loop() {
						if parts == 1 {
							set.MatrixBF16(c.Matrix, 0, c.Panels(), c.out, in, c.packed, ScaledEpilogue{}, 0, c.Positions(), spare)
						} else {
							set.MatrixF32(c.Matrix, 0, c.Panels(), c.out, c.in, c.packed, c.weights, nil,
								Epilogue{}, 0, c.Positions(), spare)
						}
					}
					rate := 2 * float64(c.Positions()*s.taps*s.in*s.out) * float64(b.N) / b.Elapsed().Seconds()
					b.ReportMetric(rate/1e9, "GFLOP/s")
				})
			}
		}
	}
}

// benchWindow returns windows with taps that read neighbouring positions.
func benchWindow(positions, taps, in, out int) *Window {
	ins, outs := make([]int32, taps*positions), make([]int32, positions)
	for p := range positions {
		for t := range taps {
			ins[t*positions+p] = int32(4 * in * ((p + t) % positions))
		}
		outs[p] = int32(4 * out * p)
	}
	return NewWindow(ins, outs, taps, in, out)
}

// BenchmarkMatrixStage measures the staging of positions before they are multiplied. It
// needs no matrix units.
func BenchmarkMatrixStage(b *testing.B) {
	for _, s := range stagingSets() {
		for _, parts := range []int{1, 3} {
			w := benchWindow(14*14, 9, 128, 128)
			c := newMatrixCase(rand.New(rand.NewPCG(1, 1)), w, parts, 0, w.inNeed)
			spare, in := new(MatrixWorkspace), make([]uint16, len(c.in))
			spare.stage(c.Matrix, MatrixPositions)
			b.Run(fmt.Sprintf("%d/%s", parts, s.Name), func(b *testing.B) {
				for b.Loop() {
					if parts == 1 {
						s.gather(c.Matrix, spare.aligned, in, 20, 20+MatrixPositions)
					} else {
						s.split(c.Matrix, spare.aligned, c.in, c.weights, 20, 20+MatrixPositions, spare)
					}
				}
				values := float64(MatrixPositions*c.Steps()*tileValues) * float64(b.N)
				b.ReportMetric(values/b.Elapsed().Seconds()/1e9, "Gvalues/s")
			})
		}
	}
}
