package operations

import (
	"github.com/bnctl/bnctl/device/detection"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// detectOps are the operations at the end of networks that detect objects.
var detectOps = map[graph.Op]plan.Builder{graph.Detect: buildDetect}

// buildDetect computes the boxes of each row with the arithmetic of package detection.
func buildDetect(c *plan.Compiler) run.Action {
	x, limits, anchors, y := c.In(0), c.In(1), c.In(2), c.Out(0)
	strides := x.Strides()
	node := c.Node()
	return &run.ByRows{Row: func(f *run.Frame, w *run.Worker, i, _, _ int) {
		var corners []float32
		if anchors != nil {
			corners = f.F32(anchors)
		}
		p := detection.Prediction{Values: f.At(x, w, i), Rows: x.Shape[0], Row: strides[0], Slot: strides[1]}
		detection.NodeDetector(node, corners).Run(f.At(y, w, i), p, f.At(limits, w, i))
	}}
}
