package class

import "math"

// The error of a Winograd tile is proportional to the tile's largest value. The error of a
// chain is proportional to the values in its window. The two errors are similar unless a few
// values are much larger than all others. The functions below detect this for one tile, one
// output channel, or one channel of a replica, and ImplicitGEMM is used in its place.
//
// Absolute values must be between 2^-50 and 2^50, so that the transforms do not overflow. The
// largest absolute value is found by comparing bits, so NaN is larger than all numbers.

// TileLeast and TileMost are the bounds of the largest absolute value in
// operands of Winograd tiles.
const (
	TileLeast = 0x1p-50
	TileMost  = 0x1p50
)

// within reports whether the largest absolute value is within the bounds.
func within(largest float32) bool { return largest >= TileLeast && largest <= TileMost }

// EvenTile reports whether a tile is computed with the Winograd algorithm: its absolute values must not
// differ too much. largest is the largest absolute value of all blocks of two by two pixels (Tiles.BlockOf)
// that contain inputs of the tile. It must be within bounds. sum is a lower bound of the sum of the absolute
// values in the window of any output, and must be at least largest. Every window of three by three contains
// a whole block, so sum is the smallest sum of a block. With a kernel of five by five all windows contain
// the block at the tile's outputs, so sum is the sum of that block.
func EvenTile(sum, largest float32) bool { return largest == 0 || within(largest) && sum >= largest }

// BlockOf returns the first of the two rows (or columns) of block b in an image of n rows
// (or columns). Blocks begin at odd indices, or at even indices with a kernel of five by
// five. Blocks at the border are moved inside the image.
func (g Tiles) BlockOf(b, n int) int { return min(max(2*b-g.Border()%2, 0), n-2) }

// BlockCount returns the number of blocks along n rows (or columns).
func (g Tiles) BlockCount(n int) int { return (n + g.Border()%2 + 1) / 2 }

// Blocks is the range of blocks that contain the inputs of a tile, along one side: From <= b < To.
type Blocks struct{ From, To int }

// BlocksOf returns the blocks of a tile, in an image of n rows (or columns). The outputs of the
// tile begin at row (or column) start, which is even.
func (g Tiles) BlocksOf(start, n int) Blocks {
	before := g.Border() / 2
	return Blocks{max(0, start/2-before), min(start/2+g.Side/2+1, g.BlockCount(n))}
}

// Even reports whether the tile with outputs that begin at (y, x) is an EvenTile. rows and columns are
// the ranges of the blocks that contain its inputs, and sizeOf returns the BlockSize of a block.
func (g Tiles) Even(y, x int, rows, columns Blocks, sizeOf func(by, bx int) (sum float32, peak uint32)) bool {
	least, peak := float32(math.Inf(1)), uint32(0)
	for by := rows.From; by < rows.To; by++ {
		for bx := columns.From; bx < columns.To; bx++ {
			sum, largest := sizeOf(by, bx)
			peak = max(peak, largest)
			if g.Kernel == 3 || by == y/2 && bx == x/2 {
				least = min(least, sum)
			}
		}
	}
	return EvenTile(least, math.Float32frombits(peak))
}

// EvenWeights reports whether the weights of an output channel are suitable for Winograd tiles. sizes has
// the sum of the absolute weights of each tap of the kernel, and largest is the largest absolute weight of
// the channel. Each sum must be at least largest/4, and largest must be within bounds.
func EvenWeights(sizes []float32, largest float32) bool {
	const least = 0.25
	if largest == 0 {
		return true
	}
	even := within(largest)
	for _, s := range sizes {
		even = even && s >= least*largest
	}
	return even
}

// EvenChannel reports whether Winograd tiles may compute the gradient for a weight in a channel. size is the
// sum of the absolute values of the channel in a chunk of a replica, and largest is the largest of them.
// largest must be within bounds and at most size/8.
func EvenChannel(size, largest float32) bool {
	const ratio = 8
	return largest == 0 || within(largest) && ratio*largest <= size
}

// MinTiles returns the number of tiles that a chunk needs at least if tiles are to compute its gradient
// for the weight. With fewer tiles, ImplicitGEMM computes it, because with a kernel of 5 by 5 the errors
// of a few tiles are larger than the errors of a short chain.
func (g Tiles) MinTiles() int {
	if g.Kernel == 5 {
		return 256
	}
	return 0
}

// BlockSize returns the sum of the absolute values of a block of two by two pixels,
// and the bits of the largest one. upper has the block's upper two pixels and lower the
// lower two, each as [pixel][channel] with a length that is a multiple of 16. There
// are 16 partial sums. Sum i adds upper[i], lower[i], upper[i+16], lower[i+16] and so on. Then the
// second half of the partial sums is added to the first half until one is left.
func BlockSize(upper, lower []float32) (sum float32, largest uint32) {
	var all [lanes]float32
	for k := 0; k < len(upper); k += lanes {
		for i := range all {
			x, y := sizeBits(upper[k+i]), sizeBits(lower[k+i])
			all[i] += math.Float32frombits(x)
			all[i] += math.Float32frombits(y)
			largest = max(largest, x, y)
		}
	}
	for n := lanes / 2; n > 0; n /= 2 {
		for i := range n {
			all[i] += all[i+n]
		}
	}
	return all[0], largest
}

// sizeBits returns the bits of the absolute value of v.
func sizeBits(v float32) uint32 { return math.Float32bits(v) &^ (1 << 31) }
