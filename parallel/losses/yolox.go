package losses

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/step"
)

// YOLOX is the loss of YOLOX for an output of the form of Boxes. The prediction determines
// which cell is assigned to which object (SimOTA). The loss is the sum of the binary cross-entropies
// of the presence of an object in each cell. In cells with an object it also has the binary
// cross-entropies of the classes, with the overlap of the prediction as target, and 5*(1 - IoU^2) of
// the box. The sum is divided by the number of cells with an object in the whole batch, which is
// added up over the replicas.
const YOLOX = "yolox"

// OutputPositives has the moments of a mask over the cells: 1 for a cell with an object, otherwise
// 0.
const OutputPositives = step.OutputPositives // whole f64[3]

// yoloxLoss adds the nodes of YOLOX.
func (t *tape) yoloxLoss(outputs graph.Value, shape []int) (n Nodes, err error) {
	if len(shape) != 2 || shape[0] <= rowsOfBox+1 {
		return n, notBoxes(t, outputs)
	}
	s, err := t.newSimOTA(outputs, shape)
	if err != nil {
		return n, err
	}
	s.assign()
	mask := t.assigned(s)
	n.Of, n.Hits, n.Partners = "moments", graph.None, graph.None
	n.Positives = t.op(graph.Moments, "loss.positives", []graph.Value{mask})
	inverse := t.inversePositives(mask)
	raw := t.rows("loss.box.raw", outputs, 0, rowsOfBox)
	l := t.binaryCrossEntropy("loss", t.rows("loss.logits", outputs, rowsOfBox, shape[0]))
	boxes := t.overlapElements(raw, shape[1])
	n.Sum = t.op(graph.Moments, "loss.moments", []graph.Value{
		t.op(graph.Concat, "loss.all", []graph.Value{boxes, l.elements}, "axis", 0)})
	n.Seed = func(name string, of graph.Value) graph.Value {
		if of != outputs {
			t.Builder.Fail(fmt.Errorf("graph %s: auxiliary heads have no loss of boxes", t.From.Name))
			return graph.None
		}
		grads, err := graph.Gradient(t.Builder, map[graph.Value]graph.Value{
			boxes: t.op(graph.Mul, name+".boxes", []graph.Value{mask, inverse})}, []graph.Value{raw})
		if err != nil {
			t.Builder.Fail(err)
			return graph.None
		}
		logits := t.op(graph.Mul, name+".logits", []graph.Value{l.slope, inverse})
		return t.op(graph.Concat, name, []graph.Value{grads[raw], logits}, "axis", 0)
	}
	return n, nil
}

// assigned computes the inputs of the loss from the assignment of SimOTA, so that the host need not
// provide them. It returns InputMask.
func (t *tape) assigned(s *simOTA) (mask graph.Value) {
	mask = s.reduce(graph.ReduceMax, "mask", s.match, 0)
	corners := s.op(graph.MatMul, "corners", []graph.Value{s.columns("objects", 0, 4), s.match},
		"transpose_a", true)
	side, origin := t.rows("assign.target.side", s.cells, 2, 3), t.rows("assign.target.origin", s.cells, 0, 2)
	corner := func(name string, from int, beyond float64) graph.Value {
		at := s.two(graph.Div, name+".cells", t.rows("assign."+name+".pixels", corners, from, from+2), side)
		at = s.two(graph.Mul, name+".masked", s.two(graph.Sub, name+".offset", at, origin), mask)
		return s.two(graph.Add, name, at, s.affine(name+".beyond", mask, -beyond, beyond))
	}
	boxes := s.op(graph.Concat, "boxes", []graph.Value{corner("target.low", 0, -0.5),
		corner("target.high", 2, 0.5)}, "axis", 0)
	overlap := s.reduce(graph.ReduceSum, "overlap", s.two(graph.Mul, "matched", s.match, s.overlaps), 0)
	classes := s.op(graph.MatMul, "class.of", []graph.Value{
		t.input(InputClasses, []int{s.count[0], s.count[1]}), s.match}, "transpose_a", true)
	truth := s.two(graph.Mul, "truth", classes, overlap)
	rest := s.two(graph.Mul, "background", s.affine("empty", mask, -1, 1),
		t.rows("assign.ignored", s.cells, 4, 5))
	t.inputs[InputBoxes], t.inputs[InputMask] = boxes, mask
	t.inputs[InputPositive] = s.op(graph.Concat, "positive", []graph.Value{mask, truth}, "axis", 0)
	t.inputs[InputNegative] = s.op(graph.Concat, "negative", []graph.Value{rest,
		s.two(graph.Sub, "others.classes", mask, truth)}, "axis", 0)
	return mask
}

// inversePositives returns 1/max(1, cells with an object) of the whole batch, [1], or of a replica if
// replicas have separate gradients.
func (t *tape) inversePositives(mask graph.Value) graph.Value {
	flat := t.op(graph.ReduceSum, "loss.cells", []graph.Value{mask}, "axes", []int{0, 1})
	count := t.op(graph.SumRows, "loss.cells.sum", []graph.Value{
		t.op(graph.Reshape, "loss.cells.flat", []graph.Value{flat}, "shape", []int{1})})
	if !t.perReplica {
		count = t.op(graph.AllReduce, "loss.cells.all", []graph.Value{count})
	}
	some := t.op(graph.Clip, "loss.cells.some", []graph.Value{count}, "min", 1.0, "max", 1e30)
	return t.op(graph.Div, "loss.inverse", []graph.Value{
		t.op(graph.Affine, "loss.one", []graph.Value{some}, "by", 0.0, "add", 1.0), some})
}

// overlapElements returns 5*(1 - IoU^2) for each cell, [1, A]: 0 in cells without an object.
func (t *tape) overlapElements(raw graph.Value, cells int) graph.Value {
	b := t.boxParts(raw, cells)
	iou := b.op(graph.Div, "iou", b.common, b.union)
	return t.op(graph.Affine, "loss.box.elements", []graph.Value{b.op(graph.Mul, "square", iou, iou)},
		"by", -boxWeight, "add", boxWeight)
}
