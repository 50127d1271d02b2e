package class_test

import (
	"testing"

	"github.com/bnctl/bnctl/device/class"
)

// TestBlocksOfTiles checks two assumptions of EvenTile along one side of an image. First, the blocks of a
// tile contain all inputs of the tile that are inside the image. Second, the window of each output of the
// tile contains a whole block. With a kernel of 5 by 5, this is the block at the tile's outputs.
func TestBlocksOfTiles(t *testing.T) {
	for _, a := range []class.Algorithm{class.Winograd2, class.Winograd4, class.Winograd5} {
		g := a.Tiles()
		for n := g.Kernel; n < 24; n++ {
			for at := 0; at < n; at += g.Side {
				blocks := g.BlocksOf(at, n)
				in := func(i int) bool { // whether one of the blocks contains pixel i
					for b := blocks.From; b < blocks.To; b++ {
						if first := g.BlockOf(b, n); i == first || i == first+1 {
							return true
						}
					}
					return false
				}
				for i := max(0, at-g.Border()); i < min(n, at-g.Border()+g.Tile()); i++ {
					if !in(i) {
						t.Errorf("%+v at %d of %d: input %d is in none of blocks %+v", g, at, n, i, blocks)
					}
				}
				for y := at; y < min(at+g.Side, n); y++ {
					sees := func(b int) bool {
						first := g.BlockOf(b, n)
						return first >= max(0, y-g.Border()) && first+1 <= min(n-1, y+g.Border())
					}
					seen := g.Kernel == 5 && sees(at/2)
					for b := blocks.From; b < blocks.To && g.Kernel == 3; b++ {
						seen = seen || sees(b)
					}
					if !seen {
						t.Errorf("%+v at %d of %d: output %d sees no whole block of %+v", g, at, n, y, blocks)
					}
				}
				if last := g.BlockOf(g.BlockCount(n)-1, n); last != n-2 {
					t.Errorf("%+v: the last block of %d begins at %d", g, n, last)
				}
			}
		}
	}
}
