package class

import "math"

// The error of a Winograd tile is relative to its largest value, the error of a chain to
// the values in the window. They are of one size unless a few values outweigh the others.
// The functions below detect that for one tile, one output channel, or one channel of a
// replica. Such tiles are computed by ImplicitGEMM.
//
// Values must be within 2^50 of 1, which leaves room for the transforms. Sizes are absolute
// values. The largest of several is found by comparing bits; NaN is above all numbers.

// TileLeast and TileMost are the bounds of the largest absolute value in
// operands of Winograd tiles.
const (
	TileLeast = 0x1p-50
	TileMost  = 0x1p50
)

// within reports whether values up to most are within bounds.
func within(most float32) bool { return most >= TileLeast && most <= TileMost }

// EvenTile reports whether a Winograd tile is computed as a tile: its values must not
// differ too much in size. least is a lower bound of the sum of absolute values that any
// output of the tile sees. It must be at least most, the largest absolute value of all
// blocks of two by two pixels (Tiles.BlockOf) in which the tile has inputs, and most must
// be within bounds. Every window of three by three sees one whole block: least is the
// smallest sum of a block. With a kernel of five by five all windows of a tile see the
// block at its outputs: least is the sum of that block.
func EvenTile(least, most float32) bool { return most == 0 || within(most) && least >= most }

// BlockOf returns the first of the two rows (or columns) of block b in an image of
// n rows (or columns). Blocks begin at odd indices, with a kernel of five by five at even
// ones; those at the border are moved inside.
func (g Tiles) BlockOf(b, n int) int { return min(max(2*b-g.Border()%2, 0), n-2) }

// BlockCount returns the number of blocks along n rows (or columns).
func (g Tiles) BlockCount(n int) int { return (n + g.Border()%2 + 1) / 2 }

// Blocks is the range of blocks in which a tile has inputs, along one side: From <= b < To.
type Blocks struct{ From, To int }

// BlocksOf returns the blocks of a tile with outputs that begin at row (or column) at, an
// even number, of an image of n.
func (g Tiles) BlocksOf(at, n int) Blocks {
	before := g.Border() / 2
	return Blocks{max(0, at/2-before), min(at/2+g.Side/2+1, g.BlockCount(n))}
}

// Even reports whether the tile with outputs that begin at (y, x) is an EvenTile. rows and
// columns are the blocks in which it has inputs, and sizeOf returns the BlockSize of each.
func (g Tiles) Even(y, x int, rows, columns Blocks, sizeOf func(by, bx int) (sum float32, most uint32)) bool {
	least, most := float32(math.Inf(1)), uint32(0)
	for by := rows.From; by < rows.To; by++ {
		for bx := columns.From; bx < columns.To; bx++ {
			sum, largest := sizeOf(by, bx)
			most = max(most, largest)
			if g.Kernel == 3 || by == y/2 && bx == x/2 {
				least = min(least, sum)
			}
		}
	}
	return EvenTile(least, math.Float32frombits(most))
}

// EvenWeights reports whether the weights of an output channel are suitable for
// Winograd tiles: sizes has, for each tap of the kernel, the sum of the absolute
// weights, which must be at least a quarter of most, the largest absolute
// weight of the channel.
func EvenWeights(sizes []float32, most float32) bool {
	const least = 0.25
	if most == 0 {
		return true
	}
	even := within(most)
	for _, s := range sizes {
		even = even && s >= least*most
	}
	return even
}

// EvenChannel reports whether Winograd tiles compute the gradients of a channel:
// its largest absolute value, most, is within bounds and at most an eighth of size,
// the sum of the absolute values of the channel in a chunk of a replica.
func EvenChannel(size, most float32) bool {
	const ratio = 8
	return most == 0 || within(most) && ratio*most <= size
}

// MinTiles returns the minimum number of tiles in a chunk for which the gradient of a
// weight uses tiles. With fewer, it uses ImplicitGEMM: with a kernel of 5 by 5 the errors
// of single tiles weigh more than those of a short chain.
func (g Tiles) MinTiles() int {
	if g.Kernel == 5 {
		return 256
	}
	return 0
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
