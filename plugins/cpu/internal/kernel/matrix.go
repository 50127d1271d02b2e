package kernel

import "fmt"

// Matrix is a Window with sums computed by matrix units: AMX multiplies 16
// positions by 16 channels over 32 values at once, from bfloat16. Runs are
// whole steps of 32 values; all runs of a position, one after the other, are a
// row.
//
// With one term both operands are bfloat16. With three they are float32, each the sum of three
// bfloat16: x1 = bf16(x), x2 = bf16(x - x1), x3 = x - x1 - x2. The six largest of the nine products
// are added, in the order of termOrder, step by step. The omitted terms are below 2^-25 of a product.
// The order of sums is defined by multiplyTiles.
type Matrix struct {
	*Window
	Terms int
	even  int // bytes of bfloat16 between positions, if this distance is constant; else 0
}

// A tile holds 16 rows of 32 bfloat16. Each row is a position, or it has a pair of weights for each of 16
// channels.
const (
	tileRows   = 16
	tileValues = 32
	tileLen    = tileRows * tileValues
)

// MatrixPositions is the number of positions that tiles process together.
const MatrixPositions = 2 * tileRows

// MatrixSuits reports whether matrix units can compute windows with runs of this length.
func MatrixSuits(run int) bool { return run > 0 && run%tileValues == 0 }

// NewMatrix returns a Matrix that computes a window from operands of one or three terms.
func NewMatrix(w *Window, terms int) *Matrix {
	if !MatrixSuits(w.Run) || termOrder[terms] == nil {
		panic(fmt.Sprintf("kernel.NewMatrix: a run of %d values, %d terms", w.Run, terms))
	}
	m := &Matrix{Window: w, Terms: terms}
	if w.Taps == 1 && len(w.In) > 1 {
		m.even = int(w.In[1]-w.In[0]) / 2
		for p := 1; p < len(w.In); p++ {
			if w.In[p-1] < 0 || w.In[p]-w.In[p-1] != int32(2*m.even) {
				m.even = 0
				break
			}
		}
	}
	return m
}

// Steps returns the number of steps of 32 values in a row.
func (m *Matrix) Steps() int { return m.Taps * m.Run / tileValues }

// blocks returns the number of blocks of Lanes channels.
func (m *Matrix) blocks() int { return padded(m.Width) / Lanes }

// PackedLen returns the number of bfloat16 values in packed weights.
func (m *Matrix) PackedLen() int { return m.blocks() * m.blockLen() }

// blockLen returns the number of bfloat16 of a block of channels.
func (m *Matrix) blockLen() int { return m.Steps() * m.Terms * tileLen }

// tile returns the index, in packed weights, of the tile for a block of channels, a step and a term. Two
// blocks are stored together, [Steps][Terms][2], so that kernels read them in order. If their number is
// odd, the last one is stored alone, [Steps][Terms].
func (m *Matrix) tile(block, step, term int) int {
	first, n := block/2*2, 2
	if first+1 == m.blocks() {
		n = 1
	}
	return first*m.blockLen() + ((step*m.Terms+term)*n+block-first)*tileLen
}

// PackMatrix fills the range of packed that belongs to one panel. offsets, step and factor have the same
// meaning as in Pack. A tile holds 16 pairs of values, each of 16 channels: [16 pairs][16 channels][2]. If
// the weights have three terms, PackMatrix returns their extent.
func (s *Set) PackMatrix(m *Matrix, panel int, packed []uint16, src []float32, offsets []int, step int,
	factor Factor) Extent {
	channel, width, real := m.panel(panel)
	lanes, staged := noLanes, make([]uint16, 3*2*tileLen)
	var row [tileValues]float32
	for c := 0; c < width; c += Lanes { // few channels at a time, so that their rows of src stay in the cache
		clear(row[:])
		for k := 0; k < m.Taps*m.Run; k += 2 {
			for h := range 2 {
				gatherChannels(&row, h, src[offsets[k+h]+(channel+c)*step:], min(real-c, Lanes), step, channel+c, factor)
			}
			pair := k % tileValues / 2 * tileValues
			if m.Terms == 1 {
				s.NarrowBF16(packed[m.tile((channel+c)/Lanes, k/tileValues, 0)+pair:][:tileValues], row[:])
				continue
			}
			s.splitRow(staged, row[:], &lanes)
			for p := range m.Terms {
				copy(packed[m.tile((channel+c)/Lanes, k/tileValues, p)+pair:][:tileValues], staged[2*p*tileLen:])
			}
		}
	}
	return lanes.extent()
}

// gatherChannels sets value h of a pair, for channels [channel, channel+lanes).
func gatherChannels(row *[tileValues]float32, h int, src []float32, lanes, step, channel int, factor Factor) {
	var values [Lanes]float32
	for j := range lanes {
		values[j] = src[j*step]
	}
	factor.Apply(values[:lanes], channel)
	for j, v := range values[:lanes] {
		row[2*j+h] = v
	}
}

// MatrixBF16 computes positions [from, to) of panels [first, last) for one image of
// bfloat16. The byte offsets of its runs are half of the offsets in In. The steps after a
// sum are the same as for Pairs.
func (s *Set) MatrixBF16(m *Matrix, first, last int, out []float32, in, packed []uint16, f ScaledEpilogue,
	from, to int, spare *MatrixWorkspace) {
	if m.Terms != 1 || m.lacks(len(in), out, packed, &f, from, to) ||
		f.Scale != nil && (f.Bias == nil || len(f.Scale) < m.BiasLen()) {
		m.misused(1, len(in), out, packed, &f, from, to)
	}
	spare.outside = spare.outside[:0]
	each := m.Steps() * tileValues
	for from < to {
		n := spare.stage(m, to-from)
		c := matrixCall{m, out, packed, f}
		for p := from; p < from+n; p += MatrixPositions {
			if !s.inPlace(m, p, from+n) {
				s.gather(m, spare.aligned[(p-from)*each:], in, p, min(p+MatrixPositions, from+n))
			}
		}
		for panel := first; panel < last; panel++ {
			for p := from; p < from+n; p += MatrixPositions {
				a := matrixTiles{spare.aligned[(p-from)*each:], 2 * tileValues, 2 * tileLen, 4 * tileLen}
				if s.inPlace(m, p, from+n) {
					a = matrixTiles{in[int(m.In[p])/4:], m.even, tileRows * m.even, 2 * tileValues}
				}
				s.matrixPanel(&c, panel, a, p, min(p+MatrixPositions, from+n), spare)
			}
		}
		from += n
	}
}

// inPlace reports whether tiles read positions from p on directly from the image. There are no positions
// from end on.
func (s *Set) inPlace(m *Matrix, p, end int) bool {
	return s.matrix != nil && m.even > 0 && p+MatrixPositions <= end
}

// MatrixF32 computes positions [from, to) of panels [first, last) for one image, like Window. weights is
// the extent of the packed weights. MatrixF32 skips positions with operands that are too large, too small
// or not finite, and returns these positions, which Window must compute. The choice depends only on the
// values of the position and on the extent. The result is valid until the next call.
func (s *Set) MatrixF32(m *Matrix, first, last int, out, in []float32, packed []uint16, weights Extent,
	bias []float32, e Epilogue, from, to int, spare *MatrixWorkspace) (apart []int32) {
	f := ScaledEpilogue{Bias: bias, Epilogue: e}
	if m.Terms != 3 || m.lacks(len(in), out, packed, &f, from, to) {
		m.misused(3, len(in), out, packed, &f, from, to)
	}
	spare.outside = spare.outside[:0]
	each := m.Steps() * m.Terms * tileValues
	for from < to {
		n := spare.stage(m, to-from)
		c := matrixCall{m, out, packed, f}
		for p := from; p < from+n; p += MatrixPositions {
			s.split(m, spare.aligned[(p-from)*each:], in, weights, p, min(p+MatrixPositions, from+n), spare)
		}
		for panel := first; panel < last; panel++ {
			for p := from; p < from+n; p += MatrixPositions {
				a := matrixTiles{spare.aligned[(p-from)*each:], 2 * tileValues, 2 * tileLen, 3 * 4 * tileLen}
				s.matrixPanel(&c, panel, a, p, min(p+MatrixPositions, from+n), spare)
			}
		}
		from += n
	}
	return spare.outside
}

// lacks reports whether an operand has too few values for positions [from, to).
func (m *Matrix) lacks(in int, out []float32, packed []uint16, f *ScaledEpilogue, from, to int) bool {
	return in < m.inNeed || len(out) < m.outNeed || len(packed) < m.PackedLen() ||
		from < 0 || to > m.Positions() || f.Bias != nil && len(f.Bias) < m.BiasLen() || f.lacks(m.outNeed)
}

// misused panics with a description of the operands.
func (m *Matrix) misused(terms, in int, out []float32, packed []uint16, f *ScaledEpilogue, from, to int) {
	panic(fmt.Sprintf("kernel.Matrix: %d terms, want %d; image of %d values, want %d; result of %d, want %d; "+
		"weights of %d, want %d; scale of %d, bias of %d, want %d; %d to be added; positions [%d, %d) of %d", terms,
		m.Terms, in, m.inNeed, len(out), m.outNeed, len(packed), m.PackedLen(), len(f.Scale), len(f.Bias),
		m.BiasLen(), len(f.Plus), from, to, m.Positions()))
}
