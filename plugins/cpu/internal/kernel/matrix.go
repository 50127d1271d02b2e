package kernel

import "fmt"

// Matrix is a Window whose sums matrix units compute: those of AMX multiply 16
// positions by 16 channels over 32 values at once, from bfloat16. All values of
// a position, taps outside and values of a run inside, are one row, padded with
// zeros to whole steps of 32.
//
// With Parts 1 both operands are rounded to bfloat16. With Parts 3 they are
// float32, each the sum of three bfloat16: x1 = bf16(x), x2 = bf16(x - x1),
// x3 = x - x1 - x2; of the nine products the six largest are added, x1y3, x1y2,
// x2y2, x2y1, x3y1, x1y1 step by step. What is left out is below 2^-25 of a
// product. The order of sums is that of multiplyTiles.
type Matrix struct {
	*Window
	Parts int
}

// A tile holds 16 rows of 32 bfloat16: 16 positions, or the pairs of 16
// channels.
const (
	tileRows   = 16
	tileValues = 32
	tileLen    = tileRows * tileValues
)

// MatrixPositions is how many positions tiles treat together.
const MatrixPositions = 2 * tileRows

// Steps returns how many steps of 32 values a row has.
func (m Matrix) Steps() int { return (m.Taps*m.Run + tileValues - 1) / tileValues }

// blocks returns the number of blocks of Lanes channels.
func (m Matrix) blocks() int { return padded(m.Width) / Lanes }

// PackedLen returns the number of bfloat16 that packed weights take.
func (m Matrix) PackedLen() int { return m.blocks() * m.blockLen() }

// blockLen returns the number of bfloat16 of a block of channels.
func (m Matrix) blockLen() int { return m.Steps() * m.Parts * tileLen }

// tile returns where the tile of a block of channels, a step and a part begins
// in packed weights. Two blocks lie together, [Steps][Parts][2], so that
// kernels read what they need in one row; a last one alone, [Steps][Parts].
func (m Matrix) tile(block, step, part int) int {
	first, n := block/2*2, 2
	if first+1 == m.blocks() {
		n = 1
	}
	return first*m.blockLen() + ((step*m.Parts+part)*n+block-first)*tileLen
}

// Pack fills the parts of packed that belong to one panel; src, at, step and by
// are those of Window.Pack. A tile holds 16 pairs of values, each of 16 channels:
// [16 pairs][16 channels][2]. It returns the extent of these weights.
func (m Matrix) Pack(panel int, packed []uint16, src []float32, at []int, step int, by []float64) Extent {
	first, width, real := m.panel(panel)
	extent := noExtent
	for c := first; c < first+width; c += Lanes {
		for k := range m.Steps() * tileValues {
			for j := range Lanes {
				var v float32
				if k < len(at) && c+j < first+real {
					v = src[at[k]+(c+j)*step]
					if by != nil {
						v = float32(float64(v) * by[c+j])
					}
				}
				extent.add(v)
				i := k%tileValues/2*tileValues + 2*j + k%2
				for p := range m.Parts {
					b := bf16(v)
					packed[m.tile(c/Lanes, k/tileValues, p)+i] = b
					v -= widened(b)
				}
			}
		}
	}
	return extent
}

// Matrix computes positions [from, to) of panels [first, last) for one image as
// Window does, with packed weights of this extent. What follows a sum is with
// one part what follows one of Pairs, with three that of Window. With three
// parts it leaves out the positions whose operands are too large, too small or not finite and
// returns them: Window must compute them. Which they are depends on the values
// of the position and on the extent alone. They are valid until the next call.
func (s *Set) Matrix(m Matrix, first, last int, out, in []float32, packed []uint16, weights Extent, f Finish,
	from, to int, spare *MatrixScratch) (apart []int32) {
	if len(in) < m.inNeed || len(out) < m.outNeed || len(packed) < m.PackedLen() || from < 0 || to > m.Positions() ||
		f.Bias != nil && len(f.Bias) < m.BiasLen() || f.lacks(m.outNeed) ||
		(f.Scale != nil || f.Round) && m.Parts != 1 || f.Scale != nil && (f.Bias == nil || len(f.Scale) < m.BiasLen()) {
		panic(fmt.Sprintf("kernel.Matrix: image of %d values, want %d; result of %d, want %d; weights of %d, want %d; "+
			"scale of %d, bias of %d, want %d; %d parts; positions [%d, %d) of %d", len(in), m.inNeed, len(out), m.outNeed,
			len(packed), m.PackedLen(), len(f.Scale), len(f.Bias), m.BiasLen(), m.Parts, from, to, m.Positions()))
	}
	spare.apart = spare.apart[:0]
	for from < to {
		staged, n := spare.stage(m, to-from)
		each := m.Steps() * m.Parts * tileValues
		for p := from; p < from+n; p += MatrixPositions {
			s.stageTiles(m, staged[(p-from)*each:], in, weights, p, min(p+MatrixPositions, from+n), spare)
		}
		for panel := first; panel < last; panel++ {
			for p := from; p < from+n; p += MatrixPositions {
				c := matrixCall{out, packed, f, p, min(p+MatrixPositions, from+n)}
				s.matrixPanel(m, panel, &c, staged[(p-from)*each:], spare)
			}
		}
		from += n
	}
	return spare.apart
}
