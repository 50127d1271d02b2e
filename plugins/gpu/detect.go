package gpu

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// detectOps are the operations at the end of networks that detect objects.
var detectOps = map[graph.Op]func(c *compiler){graph.Detect: buildDetect}

// detectForms are the forms of graph.Detect, by their number in the kernels. RetinaNetV2Form is missing,
// because it has the boxes of RetinaNetForm.
var detectForms = []graph.BoxForm{graph.YOLOXForm, graph.FCOSForm, graph.RetinaNetForm, graph.SSDForm,
	graph.CornersForm}

// buildDetect computes the boxes of rows in three launches: corners and scores of all slots, a list of the
// candidates of each group that compete, and the boxes of each picture.
func buildDetect(c *compiler) {
	x, limits, anchors, y := c.in(0), c.in(1), c.in(2), c.out(0)
	if anchors == nil {
		anchors = x // never read
	}
	form, slots := graph.BoxForm(c.node.Text("form")), x.Shape[1]
	fields := form.BoxRows()
	classes := x.Shape[0] - fields
	if form == graph.RetinaNetV2Form {
		form = graph.RetinaNetForm
	}
	height, width := 0., 0.
	if size := c.node.Ints("size"); len(size) > 0 {
		height, width = float64(size[0]), float64(size[1])
	}
	starts := append(slices.Clone(c.node.Ints("starts")), slots)
	groups, byClass, largest := len(starts)-1, 0, 0
	for g := range groups {
		largest = max(largest, (starts[g+1]-starts[g])*classes)
	}
	if groups == 0 {
		groups, byClass, largest = classes, 1, slots
	}
	listed := largest
	if before := c.node.Int("before"); before > 0 {
		listed = min(listed, before)
	}
	boxes, scores := c.temp(graph.Rows, 16*slots), c.temp(graph.Rows, 4*slots*classes)
	bad := c.temp(graph.Rows, 4*slots)
	lists, counts := c.temp(graph.Rows, 4*groups*listed), c.temp(graph.Rows, 4*groups)
	c.launch("detect_scores", graph.Rows, slots, x, anchors, boxes, scores, bad, slots, x.Shape[0], fields,
		slices.Index(detectForms, form), height, width)
	c.launch("detect_candidates", graph.Rows, groups*Threads, scores, limits, c.table(starts), lists, counts,
		groups, slots, classes, byClass, listed)
	c.launch("detect_boxes", graph.Rows, Threads, boxes, scores, limits, bad, lists, counts, y, groups, slots,
		classes, listed, c.node.Int("most"))
}
