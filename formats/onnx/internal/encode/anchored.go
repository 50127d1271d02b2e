package encode

import (
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/objects/anchors"
	"github.com/bnctl/bnctl/tensor"
)

// anchored does the same as predicted for detectors of package anchors. Its results score
// and byClass are both the scores by class.
func (w *writer) anchored(x string, shape []int, form graph.BoxForm) (boxes, score, byClass string) {
	height, width := w.m.PictureSides()
	slots, err := anchors.New(form, height, width)
	if err != nil || len(shape) != 2 || slots.Len() != shape[1] {
		w.fail("the slots of its output %v are not those of its input", shape)
		return "", "", ""
	}
	grid := slots.(*anchors.Grid)
	pieces := []string{"first", "second", "logits"}
	counts := []int{2, 2, shape[0] - 4}
	if form == graph.FCOSForm {
		pieces, counts = []string{"first", "second", "centre.logit", "logits"}, []int{2, 2, 1, shape[0] - 5}
	}
	for i, name := range pieces {
		pieces[i] = w.takenNames.Free(name)
	}
	axis := onnxpb.IntAttr("axis", 1)
	w.g.Node = append(w.g.Node, &onnxpb.NodeProto{OpType: "Split", Name: pieces[0], Output: pieces,
		Input: []string{x, w.ints("fields", counts...)}, Attribute: []*onnxpb.AttributeProto{axis}})
	logits := pieces[len(pieces)-1]
	switch form {
	case graph.FCOSForm:
		score = w.step("Sqrt", "score", []string{w.step("Mul", "score.square", []string{
			w.step("Sigmoid", "centre.probability", pieces[2:3]), w.step("Sigmoid", "probability", pieces[3:])})})
	case graph.SSDForm:
		all := w.step("Softmax", "probability", []string{logits}, axis)
		background := []string{w.takenNames.Free("background"), w.takenNames.Free("score")}
		w.g.Node = append(w.g.Node, &onnxpb.NodeProto{OpType: "Split", Name: background[0], Output: background,
			Input: []string{all, w.ints("classes", 1, shape[0]-5)}, Attribute: []*onnxpb.AttributeProto{axis}})
		score = background[1]
	default:
		score = w.step("Sigmoid", "score", []string{logits})
	}
	return w.anchorCorners(grid, form, pieces[0], pieces[1]), score, score
}

// anchorCorners converts the first four rows of a prediction to corners [1,A,4] in pixels, and
// clips them to the border of the input.
func (w *writer) anchorCorners(grid *anchors.Grid, form graph.BoxForm, first, second string) string {
	n, units := grid.Len(), grid.Units()
	centres, sides, halves := tensor.New(tensor.F32, 1, 2, n), tensor.New(tensor.F32, 1, 2, n),
		tensor.New(tensor.F32, 1, 2, n)
	for i := range n {
		a := grid.Anchor(i)
		for axis := range 2 {
			side := float64(a[axis+2]) - float64(a[axis])
			centres.F32()[axis*n+i] = float32(float64(a[axis]) + float64(side/2))
			sides.F32()[axis*n+i] = float32(side / units[axis])
			halves.F32()[axis*n+i] = float32(side / 2)
		}
	}
	constant := func(name string, t tensor.Tensor) string { return w.initializer(w.takenNames.Free(name), t) }
	middle, of := constant("centres", centres), constant("sides", sides)
	from, half := middle, ""
	if form == graph.FCOSForm { // distances to the sides
		half = w.step("Mul", "far", []string{second, of})
	} else {
		from = w.step("Add", "centre", []string{w.step("Mul", "centre.offset", []string{first, of}), middle})
		logs := w.step("Min", "size.limited", []string{
			w.step("Mul", "size", []string{second, w.scalar("size.unit", 1/units[2])}),
			w.scalar("size.most", tensor.Log(1000./16))})
		half = w.step("Mul", "half", []string{w.step("Exp", "size.exp", []string{logs}),
			constant("halves", halves)})
		first = ""
	}
	near := half
	if first != "" {
		near = w.step("Mul", "near", []string{first, of})
	}
	corners := w.step("Concat", "corners", []string{w.step("Sub", "low", []string{from, near}),
		w.step("Add", "high", []string{from, half})}, onnxpb.IntAttr("axis", 1))
	x, y := float32(grid.Width), float32(grid.Height)
	inside := w.step("Min", "corners.inside", []string{
		w.step("Max", "corners.positive", []string{corners, w.scalar("border.low", 0)}),
		constant("border.high", tensor.Of([]float32{x, y, x, y}, 1, 4, 1))})
	return w.step("Transpose", "corners.last", []string{inside}, onnxpb.IntsAttr("perm", 0, 2, 1))
}
