package kernel

import "math"

// Sums over the positions of every channel have one order. Positions are divided into
// blocks of BlockPositions; the last block may be shorter. Within a block float32 is added
// in the order of the positions, beginning with 0, every operation rounded. The sums of
// blocks are added in float64, in their order, beginning with 0. So all sets have the same
// bits, without a long chain of float64.

// BlockPositions is the number of positions that are summed in float32 before they are
// added in float64.
const BlockPositions = 64

// sumColumns is the assembly for walks that sum rows of T, all in float32.
type sumColumns[T float32 | uint16] struct {
	extent
	sums         func(sum *float32, x *T, channels, count int)
	sizes        func(size, most *float32, x *T, channels, count int)
	deviations   func(sum, squares, shift *float32, x *T, channels, count int)
	gradientSums func(s1, s2, shift *float32, x, dy *T, channels, count int)
	maskedSums   func(s1, s2, shift *float32, x, dx, dy, y *T, most T, channels, count int)

	maskedSumsPlus func(s1, s2, shift *float32, x, dx, dy, y, plus *T, most T, channels, count int)

	blocks *sumBlocks[T] // may be nil
}

// sumBlocks is the assembly that sums whole blocks and adds their sums in float64, for
// exactly lanes channels.
type sumBlocks[T float32 | uint16] struct {
	moments    func(t1, t2, first *float64, x *T, channels, count int)
	gradient   func(s1, s2 *float64, shift *float32, x, dy *T, channels, count int)
	masked     func(s1, s2 *float64, shift *float32, x, dx, dy, y *T, most T, channels, count int)
	maskedPlus func(s1, s2 *float64, shift *float32, x, dx, dy, y, plus *T, most T, channels, count int)
}

// blocksOf returns the assembly for whole blocks of n channels and the number of blocks of
// values that it processes, or nil and 0.
func (s *Set) blocksOf(n, values int) (k *sumBlocks[float32], count int) {
	if k, treated := widest(s.sumColumns, 0, n, n); treated == n && n > 0 && k.blocks != nil {
		return k.blocks, values / (BlockPositions * n)
	}
	return nil, 0
}

// treatsBlocks reports whether there is assembly for whole blocks of n channels.
func (s *Set) treatsBlocks(n int) bool {
	k, _ := s.blocksOf(n, 0)
	return k != nil
}

// SumWorkspace is memory for the sums of blocks.
type SumWorkspace struct {
	single []float32
	double []float64
}

// singles returns three times n float32, not cleared.
func (r *SumWorkspace) singles(n int) (a, b, c []float32) {
	if len(r.single) < 3*n {
		r.single = make([]float32, 3*n)
	}
	return r.single[:n], r.single[n : 2*n], r.single[2*n : 3*n]
}

// doubles returns n float64, not cleared.
func (r *SumWorkspace) doubles(n int) []float64 {
	if len(r.double) < n {
		r.double = make([]float64, n)
	}
	return r.double[:n]
}

// eachBlock calls do for every block of values, except for the given number of first blocks. A row has n
// channels.
func eachBlock(first, n, values int, do func(from, to int)) {
	for from := first * BlockPositions * n; from < values; from += BlockPositions * n {
		do(from, min(from+BlockPositions*n, values))
	}
}

// widenInto adds x, converted to float64, to sum.
func widenInto(sum []float64, x []float32) {
	sum = sum[:len(x)]
	for c, v := range x {
		sum[c] += float64(v)
	}
}

// totals sets sum to the sums of blocks. add adds values [from, to) to the sums of a block.
func totals(sum []float64, values int, r *SumWorkspace, add func(partial []float32, from, to int)) {
	partial, _, _ := r.singles(len(sum))
	clear(sum)
	eachBlock(0, len(sum), values, func(from, to int) {
		clear(partial)
		add(partial, from, to)
		widenInto(sum, partial)
	})
}

// Sums sets sum, per channel, to the sum of the values of x.
func (s *Set) Sums(sum []float64, x []float32, r *SumWorkspace) { s.SomeSums(sum, x, len(sum), 0, r) }

// SomeSums computes Sums only for channels [first, first+len(sum)) of rows with n channels.
func (s *Set) SomeSums(sum []float64, x []float32, n, first int, r *SumWorkspace) {
	partial, _, _ := r.singles(len(sum))
	clear(sum)
	eachBlock(0, n, len(x), func(from, to int) {
		clear(partial)
		s.addSums(partial, x[from:to], n, first)
		widenInto(sum, partial)
	})
	widenSums(sum, x, n, first)
}

// addSums adds the values of the channels [first, first+len(sum)) of rows of n channels to sum, in order.
func (s *Set) addSums(sum, x []float32, n, first int) {
	from, left := someColumns(s.sumColumns, first, first+len(sum), n, len(x),
		func(k *sumColumns[float32], c, at, count int) { k.sums(&sum[c-first], &x[at], n, count) })
	for p := range left {
		for i, v := range x[p*n+from : p*n+first+len(sum)] {
			sum[from-first+i] += v
		}
	}
}

// Sizes adds, per channel, the absolute values of x to size, in order, and updates largest, their maximum so
// far. NaN counts as larger than all others.
func (s *Set) Sizes(size, largest, x []float32) {
	n := len(size)
	largest = largest[:n]
	from, left := eachColumns(s.sumColumns, n, len(x), func(k *sumColumns[float32], c, at, count int) {
		k.sizes(&size[c], &largest[c], &x[at], n, count)
	})
	for p := range left {
		for i, v := range x[p*n+from : (p+1)*n] {
			bits := math.Float32bits(v) &^ (1 << 31)
			size[from+i] += math.Float32frombits(bits)
			largest[from+i] = math.Float32frombits(max(math.Float32bits(largest[from+i]), bits))
		}
	}
}
