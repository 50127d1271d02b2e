package ref

import (
	"slices"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
)

// reduce computes sums, means, extremes and products over axes of the shape.
func reduce(c *call) {
	x, y := c.in(0), c.out(0)
	axes := c.Ints("axes")
	to := make([]int, x.size)
	walk(x.typ.Shape, func(i int, at []int) {
		target := 0
		for axis, n := range x.typ.Shape {
			if !slices.Contains(axes, axis) {
				target = target*n + at[axis]
			}
		}
		to[i] = target
	})
	first, add := class.Reduction(c.Op)
	for n := range y.lead {
		acc := y.block(n)
		for i := range acc {
			acc[i] = first
		}
		for i, v := range x.block(n) {
			acc[to[i]] = add(acc[to[i]], v)
		}
	}
	if c.Op == graph.ReduceMean {
		for i := range y.f {
			y.f[i] /= float64(x.size / y.size)
		}
	}
}

func broadcastTo(c *call) {
	c.gather(broadcastIndex(c.in(0).typ.Shape, c.out(0).typ.Shape), 0)
}

// sumRows computes the sum of the rows of each replica.
func sumRows(c *call) {
	x, y := c.in(0), c.out(0)
	for n := range x.lead {
		sum := y.block(c.owner[n])
		for i, v := range x.block(n) {
			sum[i] += v
		}
	}
}

// channelSum computes, for each replica and channel, the sum over rows and trailing axes.
func channelSum(c *call) {
	x, y := c.in(0), c.out(0)
	for n := range x.lead {
		sum := y.block(c.owner[n])
		eachChannel(x, n, func(ch, i int) { sum[ch] += x.block(n)[i] })
	}
}
