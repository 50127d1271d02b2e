package class

import "math"

// The error of a Winograd tile is relative to its largest value, that of a chain
// to what the window sees. They are of one size unless a few values outweigh the
// others: what follows finds that out, of one tile, one output channel, one channel
// of a replica. What fails is computed by ImplicitGEMM.
//
// Values must be within 2^50 of 1, which leaves room for the transforms. Sizes are
// absolute values; the largest of some is found by their bits, above which is NaN.

// TileLeast and TileMost bound the largest value of what tiles compute.
const (
	TileLeast = 0x1p-50
	TileMost  = 0x1p50
)

// within reports whether values of which this is the largest are within bounds.
func within(most float32) bool { return most >= TileLeast && most <= TileMost }

// EvenTile reports whether the values of a tile lie close enough together. Every
// window of three by three sees one whole block of two by two pixels (BlockOf): the
// sizes of the values of each block, of which least is the smallest sum, must add
// up to at least the largest value of all its blocks.
func EvenTile(least, most float32) bool { return most == 0 || within(most) && least >= most }

// BlockOf returns the first of the two rows, or columns, of block b in an image of
// n: blocks begin at odd ones, and those at the border are moved inside.
func BlockOf(b, n int) int { return min(max(2*b-1, 0), n-2) }

// EvenWeights reports whether an output channel has weights for tiles: those of
// each tap, of which sizes are the sums, must not be outweighed by the largest.
func EvenWeights(sizes [9]float32, most float32) bool {
	const share = 0.25
	if most == 0 {
		return true
	}
	even := within(most)
	for _, s := range sizes {
		even = even && s >= share*most
	}
	return even
}

// EvenChannel reports whether nothing outweighs the rest of a channel of a replica,
// of which these are the sum and the largest of the sizes: then tiles compute its
// gradients.
func EvenChannel(size, most float32) bool {
	const share = 8
	return most == 0 || within(most) && share*most <= size
}

// BlockSize returns the sum and the largest of the sizes of a block: the values of
// its upper two pixels and of its lower two, each [pixel][channel] and as long as a
// multiple of 16. Each of 16 lanes sums a value of the upper and one of the lower,
// step by step, and the lanes are added in halves.
func BlockSize(upper, lower []float32) (sum float32, most uint32) {
	var all [lanes]float32
	for k := 0; k < len(upper); k += lanes {
		for i := range all {
			x, y := sizeBits(upper[k+i]), sizeBits(lower[k+i])
			all[i] += math.Float32frombits(x)
			all[i] += math.Float32frombits(y)
			most = max(most, x, y)
		}
	}
	for n := lanes / 2; n > 0; n /= 2 {
		for i := range n {
			all[i] += all[i+n]
		}
	}
	return all[0], most
}

// sizeBits returns the bits of the absolute value of v.
func sizeBits(v float32) uint32 { return math.Float32bits(v) &^ (1 << 31) }
