package ref

import "github.com/bnctl/bnctl/device/detection"

// detect computes the boxes of each row: see package detection.
func detect(c *call) {
	x, limits, y := c.in(0), c.in(1), c.out(0)
	var anchors []float32
	if a := c.in(2); a != nil {
		anchors = floats(a.f)
	}
	d := detection.NodeDetector(c.Node, anchors)
	found := make([]float32, y.size)
	for i := range y.lead {
		d.Run(found, detection.Ordered(floats(x.block(i)), x.typ.Shape[1]), floats(limits.block(i)))
		widen(y.block(i), found)
	}
}
