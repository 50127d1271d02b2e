package operations

import (
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// squaresBlock is the number of elements in a block of a sum of squares.
const squaresBlock = 1024

// buildSumSquares sums blocks of elements, and adds the sums along the canonical tree.
func buildSumSquares(c *plan.Compiler) run.Action {
	x, y := c.In(0), c.Out(0)
	blocks := max(1, (x.Count+squaresBlock-1)/squaresBlock)
	partials := c.Temp(8*blocks, 0, 0)
	return run.Whole(func(f *run.Frame) error {
		all, elements := run.Temp[float64](f, partials, blocks), f.F32(x)
		f.EachSpan(blocks*squaresBlock, func(_ *run.Worker, from, to int) {
			for i := (from + squaresBlock - 1) / squaresBlock; i*squaresBlock < to; i++ {
				all[i] = squares(elements[min(i*squaresBlock, x.Count):min((i+1)*squaresBlock, x.Count)])
			}
		})
		addAlongTree(collective.Root(blocks), func(to, from int) { all[to] += all[from] })
		f.F64(y)[0] = all[0]
		return nil
	})
}

// squares returns the sum of the squares of one block: eight lanes in float64,
// combined in pairs.
func squares(x []float32) float64 {
	var lane [8]float64
	for ; len(x) >= len(lane); x = x[len(lane):] {
		for i, v := range (*[len(lane)]float32)(x) {
			lane[i] += float64(float64(v) * float64(v))
		}
	}
	for i, v := range x {
		lane[i] += float64(float64(v) * float64(v))
	}
	return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]))
}
