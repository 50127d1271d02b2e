package class

import "math"

// The error of a Winograd tile is relative to its largest value, that of a chain
// to what the window sees. They are of one size unless a few values outweigh the
// others: what follows finds that out, of one tile, one output channel, one channel
// of a replica. What fails is computed by ImplicitGEMM.
//
// Values must be within 2^50 of 1, which leaves room for the transforms. Sizes are
// absolute values; the largest of some is found by their bits, above which is NaN.

// TileLeast and TileMost are the bounds of the largest absolute value in
// operands of Winograd tiles.
const (
	TileLeast = 0x1p-50
	TileMost  = 0x1p50
)

// within reports whether values of which this is the largest are within bounds.
func within(most float32) bool { return most >= TileLeast && most <= TileMost }

// EvenTile reports whether a Winograd tile is computed as such: its values must not
// differ too much in size. Every window of three by three sees one whole block of
// two by two pixels (BlockOf). least is the smallest sum of the absolute values of
// a block; it must be at least most, the largest absolute value of all blocks,
// which must be within bounds.
func EvenTile(least, most float32) bool { return most == 0 || within(most) && least >= most }

// BlockOf returns the first of the two rows (or columns) of block b in an image of
// n rows (or columns). Blocks begin at odd indices; those at the border are moved
// inside.
func BlockOf(b, n int) int { return min(max(2*b-1, 0), n-2) }

// EvenWeights reports whether the weights of an output channel are suitable for
// Winograd tiles: sizes has, for each of the nine taps, the sum of the absolute
// weights, which must be at least a quarter of most, the largest absolute
// weight of the channel.
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

// EvenChannel reports whether Winograd tiles compute the gradients of a channel:
// its largest absolute value, most, is within bounds and at most an eighth of size,
// the sum of the absolute values of the channel in a chunk of a replica.
func EvenChannel(size, most float32) bool {
	const share = 8
	return most == 0 || within(most) && share*most <= size
}

// BlockSize returns the sum of the absolute values of a block of two by two pixels,
// and the bits of the largest. upper has its upper two pixels and lower its lower
// two, each [pixel][channel], with a length that is a multiple of 16. There are 16
// partial sums: each adds a value of upper, then one of lower, and so on; then the
// partial sums are added pairwise, the first half to the second.
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
