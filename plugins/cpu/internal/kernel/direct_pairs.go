package kernel

import "fmt"

// sizedDirectPairs is the assembly of DirectPairs for the given number of positions.
type sizedDirectPairs struct {
	positions int
	tile      func(out *byte, outStep int, in *uint16, inStep int, rowStep int, rows int, pairs int,
		w *uint16, scale *float32, bias *float32, plus *float32, most *float32, as int)
}

// DirectPairs is like Direct but with operands of bfloat16. It multiplies two values of a pixel at a time,
// with the roundings of Pairs. The sum is one chain: over the rows of the kernel, then the pairs,
// then the columns of the kernel; in a pair the second value comes before the first. Run
// must be even. Weights are
// [Rows][Run/2][DirectWidth][Lanes][2]: see DirectPairsAt.
func (s *Set) DirectPairs(t Direct, out []float32, in, packed []uint16, f ScaledEpilogue, count int) {
	directPairsInto(s, t, out, in, packed, f, count)
}

// DirectPairsHalf is like DirectPairs but with results rounded to bfloat16 of two bytes each.
func (s *Set) DirectPairsHalf(t Direct, out, in, packed []uint16, f ScaledEpilogue, count int) {
	directPairsInto(s, t, out, in, packed, f, count)
}

// directPairsInto does the same as DirectPairs for results of either size.
func directPairsInto[T float32 | uint16](s *Set, t Direct, out []T, in, packed []uint16, f ScaledEpilogue,
	count int) {
	t.check(len(in), len(out), count)
	if t.Run%2 != 0 || f.lacks((count-1)*t.GradStep+Lanes) || f.Bias != nil && len(f.Bias) < Lanes ||
		f.Scale != nil && (f.Bias == nil || len(f.Scale) < Lanes) {
		panic(fmt.Sprintf("kernel.DirectPairs: %d positions of %+v: scale of %d, bias of %d, %d values to add",
			count, t, len(f.Scale), len(f.Bias), len(f.Plus)))
	}
	packed = packed[:t.PackedLen()]
	if s.directPairs == nil {
		for p := range count {
			at := f
			at.Epilogue = f.Epilogue.From(p * t.GradStep)
			var sums [Lanes]float32
			t.genericPairs(&sums, in[p*t.Run:], packed)
			for c, v := range sums {
				store(&out[p*t.GradStep+c], at.apply(c, c, v))
			}
		}
		return
	}
	for p := 0; p < count; {
		i := 0
		for s.directPairs[i].positions > count-p {
			i++
		}
		end := f.Epilogue.From(p * t.GradStep)
		plus, most := end.assembly()
		s.directPairs[i].tile(asBytes(&out[p*t.GradStep]), 4*t.GradStep, &in[p*t.Run], 2*t.Run, 2*t.RowStep,
			t.Rows, t.Run/2, &packed[0], first(f.Scale), first(f.Bias), plus, most, storedAs[T](&f))
		p += s.directPairs[i].positions
	}
}

// DirectPairsAt reorders the offsets of the weights of a direct convolution, from (row,
// value, column) as in Pack to the order of pairs.
func (t Direct) DirectPairsAt(offsets []int) []int {
	paired := make([]int, len(offsets))
	for i := range t.Rows {
		for k := range t.Run {
			for j := range DirectWidth {
				paired[((i*t.Run+k/2*2)*DirectWidth+j*2)+k%2] = offsets[(i*t.Run+k)*DirectWidth+j]
			}
		}
	}
	return paired
}

// genericPairs computes the sums of one position. It is the definition in plain Go.
func (t Direct) genericPairs(acc *[Lanes]float32, in, packed []uint16) {
	for i := range t.Rows {
		for k := 0; k < t.Run; k += 2 {
			for j := range DirectWidth {
				w := packed[((i*t.Run+k)/2*DirectWidth+j)*Lanes*2:][:2*Lanes]
				for _, half := range []int{1, 0} {
					v := widened(in[i*t.RowStep+j*t.Run+k+half])
					for c := range acc {
						acc[c] = fuseFlushed(v, widened(w[2*c+half]), acc[c])
					}
				}
			}
		}
	}
}
