package ref

import "math"

// sqrt32 returns the correctly rounded f32 root: that of float64 has more than
// twice the digits, so the second rounding does no harm (Figueroa 1995).
func sqrt32(x float32) float32 { return float32(math.Sqrt(float64(x))) }

// sumSquares: eight lanes in float64, combined in pairs.
func sumSquares(c *call) {
	var lane [8]float64
	for i, v := range c.in(0).f {
		lane[i%8] += float64(v * v)
	}
	c.out(0).f[0] = ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]))
}

// trustRatio: eta*|w| / (|g| + weight_decay*|w| + eps), in float64; 1 if a norm is 0.
func trustRatio(c *call) {
	a, b := math.Sqrt(c.in(0).f[0]), math.Sqrt(c.in(1).f[0])
	c.out(0).f[0] = 1
	if a != 0 && b != 0 {
		c.out(0).f[0] = float64(c.Float("eta")*a) / (b + float64(c.Float("weight_decay")*a) + c.Float("eps"))
	}
}

// clipFactor: min(1, max/(norm + 1e-6)), in float64.
func clipFactor(c *call) {
	c.out(0).f[0] = min(1, c.Float("max")/(math.Sqrt(c.in(0).f[0])+1e-6))
}
