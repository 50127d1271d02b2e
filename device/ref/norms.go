package ref

import (
	"math"

	"github.com/bnctl/bnctl/device/collective"
)

// sqrt32 returns the correctly rounded f32 square root. The float64 root has more than twice
// the digits, so rounding twice gives the same result as rounding once (Figueroa 1995).
func sqrt32(x float32) float32 { return float32(math.Sqrt(float64(x))) }

// sumSquares adds the squares of all elements. The sums of blocks of 1024 elements are added along the
// canonical tree.
func sumSquares(c *call) {
	const block = 1024
	x := c.in(0).f
	var sum func(n collective.Node) float64
	sum = func(n collective.Node) float64 {
		if n.Leaf() {
			return blockSquares(x[n.From*block : min(n.To*block, len(x))])
		}
		left, right := n.Children()
		return sum(left) + sum(right)
	}
	c.out(0).f[0] = sum(collective.Root(max(1, (len(x)+block-1)/block)))
}

// blockSquares adds up squares in eight float64 lanes, which are combined in pairs.
func blockSquares(x []float64) float64 {
	var lane [8]float64
	for i, v := range x {
		lane[i%8] += float64(v * v)
	}
	return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]))
}

// trustRatio computes eta*|w| / (|g| + weight_decay*|w| + eps) in float64. The result is 1 if a norm is 0.
func trustRatio(c *call) {
	a, b := math.Sqrt(c.in(0).f[0]), math.Sqrt(c.in(1).f[0])
	c.out(0).f[0] = 1
	if a != 0 && b != 0 {
		c.out(0).f[0] = float64(c.Float("eta")*a) / (b + float64(c.Float("weight_decay")*a) + c.Float("eps"))
	}
}

// clipFactor computes min(1, max/(norm + 1e-6)) in float64.
func clipFactor(c *call) {
	c.out(0).f[0] = min(1, c.Float("max")/(math.Sqrt(c.in(0).f[0])+1e-6))
}
