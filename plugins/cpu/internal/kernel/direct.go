package kernel

import "fmt"

// Direct is the geometry of a row of a direct convolution with a kernel of
// width DirectWidth, stride 1 and dilation 1 along the row, and Lanes output
// channels. It reads an image that is padded already:
//
//	out[p][c] = sum over i, k, j of in[i][p+j][k] * weight[i][k][j][c]  (+ bias[c])
//
// i counts the rows of the kernel, k the values of a pixel, j the columns of
// the kernel. The sum is one chain in this order from +0. A Window would
// compute the same with another order of the chain, and slower: here every
// value of the input is fetched once for all columns of the kernel.
type Direct struct {
	Rows     int // rows of the kernel
	Run      int // values of a pixel
	RowStep  int // distance in values between the rows of the image that two rows of the kernel read
	GradStep int // distance in values between two positions of the result
}

// DirectWidth is the width of the kernel of a direct convolution.
const DirectWidth = 3

// PackedLen returns the number of values of the weights, [Rows][Run][DirectWidth][Lanes].
func (t Direct) PackedLen() int { return t.Rows * t.Run * DirectWidth * Lanes }

// check panics unless an image and a result hold a row of the given number of
// positions.
func (t Direct) check(in, out, count int) {
	wantIn := (t.Rows-1)*t.RowStep + (count+DirectWidth-1)*t.Run
	wantOut := (count-1)*t.GradStep + Lanes
	if t.Rows < 1 || count < 1 || in < wantIn || out < wantOut {
		panic(fmt.Sprintf("kernel.Direct: %d positions of %+v: image of %d values, want %d; result of %d, want %d",
			count, t, in, wantIn, out, wantOut))
	}
}

// directTiles is the assembly for direct convolutions.
type directTiles struct {
	tiles    []sizedDirect
	values   int // number of values of a pixel that gradient processes at a time
	channels int // number of channels that gradient processes at a time
	gradient func(sum *float32, sumStep int, in *float32, inStep int, grad *float32, gradStep int, count int)
}

// sizedDirect is the micro-kernel for a register block of the given number of
// positions.
type sizedDirect struct {
	positions int
	tile      func(out *float32, outStep int, in *float32, inStep int, rowStep int, rows int, run int,
		w *float32, bias *float32, plus *float32, most *float32)
}

// Direct computes count positions of a row. in begins at the first pixel that the first position reads, and
// out begins at the result of the first position. bias is nil or has Lanes values.
func (s *Set) Direct(t Direct, out, in, packed, bias []float32, e Epilogue, count int) {
	t.check(len(in), len(out), count)
	if e.lacks((count-1)*t.GradStep + Lanes) {
		panic(fmt.Sprintf("kernel.Direct: %d positions of %+v: %d values to add", count, t, len(e.Plus)))
	}
	packed = packed[:t.PackedLen()]
	if bias != nil {
		bias = bias[:Lanes]
	}
	if s.directs == nil {
		for p := range count {
			t.generic(out[p*t.GradStep:][:Lanes], in[p*t.Run:], packed, bias, e.From(p*t.GradStep), s.fused)
		}
		return
	}
	for p := 0; p < count; {
		i := 0
		for s.directs.tiles[i].positions > count-p {
			i++
		}
		end := e.From(p * t.GradStep)
		plus, most := end.assembly()
		s.directs.tiles[i].tile(&out[p*t.GradStep], 4*t.GradStep, &in[p*t.Run], 4*t.Run, 4*t.RowStep, t.Rows, t.Run,
			first(packed), first(bias), plus, most)
		p += s.directs.tiles[i].positions
	}
}

// generic computes one position. It is the definition in plain Go.
func (t Direct) generic(out, in, packed, bias []float32, e Epilogue, fused bool) {
	var acc [Lanes]float32
	for i := range t.Rows {
		for k := range t.Run {
			for j := range DirectWidth {
				w := packed[((i*t.Run+k)*DirectWidth+j)*Lanes:][:Lanes]
				if v := in[i*t.RowStep+j*t.Run+k]; fused {
					addFused(acc[:], w, v)
				} else {
					addRounded(acc[:], w, v)
				}
			}
		}
	}
	for c, b := range bias {
		acc[c] += b
	}
	for c, v := range acc {
		out[c] = e.applyTo(c, v)
	}
}

// DirectGradient adds to sums, [DirectWidth][Run][Lanes], for one row of the
// kernel the products of a row of at least two positions:
//
//	sums[j][k][c] += sum over p of in[p+j][k] * grad[p][c]
//
// Every element is one chain over p, which continues from call to call. in
// begins at the first pixel that the first position reads in this row.
func (s *Set) DirectGradient(t Direct, sums, in, grad []float32, count int) {
	t.Rows = 1
	t.check(len(in), len(grad), count)
	if count < 2 || len(sums) < DirectWidth*t.Run*Lanes {
		panic(fmt.Sprintf("kernel.DirectGradient: %d positions, %d sums", count, len(sums)))
	}
	k := 0
	if s.directs != nil {
		for ; k+s.directs.values <= t.Run; k += s.directs.values {
			for c := 0; c < Lanes; c += s.directs.channels {
				s.directs.gradient(&sums[k*Lanes+c], 4*t.Run*Lanes, &in[k], 4*t.Run, &grad[c], 4*t.GradStep, count)
			}
		}
	}
	for p := 0; p < count && k < t.Run; p++ {
		t.gradient(sums, in[p*t.Run:], grad[p*t.GradStep:][:Lanes], k, s.fused)
	}
}

// gradient adds the products of one position with the values from k on. It is the definition in plain Go.
func (t Direct) gradient(sums, in, grad []float32, k int, fused bool) {
	for j := range DirectWidth {
		for i := k; i < t.Run; i++ {
			row := sums[(j*t.Run+i)*Lanes:][:Lanes]
			if v := in[j*t.Run+i]; fused {
				addFused(row, grad, v)
			} else {
				addRounded(row, grad, v)
			}
		}
	}
}
