package encode

import (
	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/objects/cells"
	"github.com/bnctl/bnctl/tensor"
)

// Names of the outputs of a detector with non-maximum suppression, and of their length.
const (
	boxesName, scoresName, labelsName = "boxes", "scores", "labels"
	lengthName                        = "boxes_found"
)

// farthest is the limit of coordinates, as in suppress.Corners.Limited.
const farthest = 1 << 60

// suppressed decodes the prediction of a detector for one picture, and writes its boxes as outputs,
// from the highest score to the lowest: corners [K,4] in pixels of the input, scores [K] and classes
// [K]. They are the boxes that cells.Grid.Detections finds.
func (w *writer) suppressed(o cells.Options) {
	v := w.f.Outputs[0].Value
	boxes, score, byClass := w.predicted(w.name(v), w.f.Values[v].Type.Shape)
	selected := w.step("NonMaxSuppression", "selected", []string{boxes, byClass, w.ints("most", o.Most),
		w.scalar("overlap", float64(o.Overlap)), w.scalar("least", float64(o.Score))})
	column := func(name string, k int64) string {
		at := w.initializer(w.takenNames.Free(name+".column"), tensor.Scalar(k))
		return w.step("Gather", name, []string{selected, at}, onnxpb.IntAttr("axis", 1))
	}
	class, position := column("class", 1), column("position", 2)
	at := position
	if score == byClass { // each class of a slot has a score
		slots := w.initializer(w.takenNames.Free("slots"), tensor.Scalar(int64(w.f.Values[v].Type.Shape[1])))
		at = w.step("Add", "score.at", []string{w.step("Mul", "class.first", []string{class, slots}), position})
	}
	flat := w.step("Reshape", "score.flat", []string{score, w.ints("score.shape", -1)})
	scores := w.step("Gather", "score.selected", []string{flat, at})
	found := w.step("Shape", "found", []string{scores})
	count := w.step("Min", "count", []string{found, w.ints("most", o.Most)})
	order := w.takenNames.Free("order")
	w.g.Node = append(w.g.Node, &onnxpb.NodeProto{OpType: "TopK", Name: order,
		Input: []string{scores, count}, Output: []string{scoresName, order}})
	rows := w.step("Reshape", "corners.rows", []string{boxes, w.ints("corners.shape", -1, 4)})
	w.add("Gather", []string{rows, w.step("Gather", "position.ordered", []string{position, order})}, boxesName)
	w.add("Gather", []string{class, order}, labelsName)
	w.g.Output = append(w.g.Output, listInfo(boxesName, tensor.F32, 4), listInfo(scoresName, tensor.F32),
		listInfo(labelsName, tensor.I64))
}

// step adds a node with one result under an unused name.
func (w *writer) step(op, name string, in []string, attrs ...*onnxpb.AttributeProto) string {
	return w.add(op, in, w.takenNames.Free(name), attrs...)
}

// predicted decodes a prediction [1,R,A]. It returns the names of corners [1,A,4] in
// pixels, of scores, and of scores by class [1,C,A]. The scores are [1,1,A], or the scores
// by class if a slot may have several classes.
func (w *writer) predicted(x string, shape []int) (boxes, score, byClass string) {
	if form := w.m.BoxForm(); form != graph.YOLOXForm {
		return w.anchored(x, shape, form)
	}
	return w.decoded(x, shape)
}

// decoded decodes a prediction [1,5+C,A]. It returns the names of corners [1,A,4] in pixels, scores
// [1,1,A], and scores by class [1,C,A]. A cell has a score for its most probable class, the first one
// of equals, and -1 for the other classes.
func (w *writer) decoded(x string, shape []int) (boxes, score, byClass string) {
	grid, err := cells.New(w.m.PictureSides())
	if err != nil || len(shape) != 2 || grid.Len() != shape[1] {
		w.fail("the cells of its output %v are not those of its input", shape)
		return "", "", ""
	}
	classes := shape[0] - cells.Fields
	fields := []string{"offset", "size", "object", "classes"}
	for i, name := range fields {
		fields[i] = w.takenNames.Free(name)
	}
	axis := onnxpb.IntAttr("axis", 1)
	w.g.Node = append(w.g.Node, &onnxpb.NodeProto{OpType: "Split", Name: fields[0], Output: fields,
		Input: []string{x, w.ints("fields", 2, 2, 1, classes)}, Attribute: []*onnxpb.AttributeProto{axis}})
	best := w.step("ReduceMax", "class.best", fields[3:], onnxpb.IntsAttr("axes", 1))
	score = w.step("Mul", "score", []string{w.step("Sigmoid", "object.probability", fields[2:3]),
		w.step("Sigmoid", "class.probability", []string{best})})
	numbers := tensor.New(tensor.I64, 1, classes, 1)
	for i := range classes {
		numbers.I64()[i] = int64(i)
	}
	is := w.step("Equal", "class.is", []string{w.step("ArgMax", "class.number", fields[3:], axis),
		w.initializer(w.takenNames.Free("class.numbers"), numbers)})
	byClass = w.step("Where", "score.class", []string{is, score, w.scalar("score.none", -1)})
	return w.corners(grid, fields[0], fields[1]), score, byClass
}

// corners converts the centres and sizes of boxes to corners [1,A,4] in pixels.
func (w *writer) corners(grid *cells.Grid, offset, size string) string {
	n := grid.Len()
	positions, sides := tensor.New(tensor.F32, 1, 2, n), tensor.New(tensor.F32, 1, 1, n)
	halves := tensor.New(tensor.F32, 1, 1, n)
	for i := range n {
		column, row, side := grid.Position(i)
		positions.F32()[i], positions.F32()[n+i] = float32(column), float32(row)
		sides.F32()[i], halves.F32()[i] = float32(side), float32(side)/2
	}
	constant := func(name string, t tensor.Tensor) string {
		return w.initializer(w.takenNames.Free(name), t)
	}
	centre := w.step("Mul", "centre", []string{w.step("Add", "centre.cells",
		[]string{offset, constant("cells", positions)}), constant("sides", sides)})
	half := w.step("Mul", "half", []string{w.step("Exp", "size.exp", []string{size}),
		constant("sides.half", halves)})
	low, high := w.step("Sub", "low", []string{centre, half}), w.step("Add", "high", []string{centre, half})
	limited := w.step("Clip", "corners.limited", []string{
		w.step("Concat", "corners", []string{low, high}, onnxpb.IntAttr("axis", 1)),
		w.scalar("farthest.low", -farthest), w.scalar("farthest.high", farthest)})
	return w.step("Transpose", "corners.last", []string{limited}, onnxpb.IntsAttr("perm", 0, 2, 1))
}

// listInfo declares a list with an open length. shape is the shape of its elements.
func listInfo(name string, d tensor.DType, shape ...int) *onnxpb.ValueInfoProto {
	dims := []*onnxpb.TensorShapeProto_Dimension{{DimParam: proto.String(lengthName)}}
	for _, n := range shape {
		dims = append(dims, &onnxpb.TensorShapeProto_Dimension{DimValue: proto.Int64(int64(n))})
	}
	return &onnxpb.ValueInfoProto{Name: name, Type: &onnxpb.TypeProto{
		TensorType: &onnxpb.TypeProto_Tensor{ElemType: int32(onnxpb.Number(d)),
			Shape: &onnxpb.TensorShapeProto{Dim: dims}}}}
}
