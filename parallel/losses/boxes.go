package losses

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
)

// Boxes is the loss of a detector in which the labels alone determine which cell predicts which
// object. So the host knows, before the step, the assignment and the number of cells with an object
// in the whole batch. The loss is a sum over the cells, divided by that number. For
// graph.YOLOXForm, f32 [5+C, A] in the units of package objects/cells, the sum consists of the
// binary cross-entropies of the logits of objects and classes, and of 5*(1 - GIoU) of the box of
// each cell with an object. See fcosLoss, retinaNetLoss and ssdLoss for the other forms.
const Boxes = "boxes"

// The training function for Boxes has these inputs, which are f32 rows. InputPositive and
// InputNegative are [1+C, A] in this loss.
const (
	InputBoxes = "boxes" // [4, A]: corners of the assigned box
	InputMask  = "mask"  // [1, A]: 1 for a cell with an object, otherwise 0
)

// rowsOfBox is the number of rows of a cell before its logits: centre, width and height.
const rowsOfBox = 4

// boxWeight is the weight of the loss of a box.
const boxWeight = 5.0

// cellLoss returns Boxes for an output of graph.YOLOXForm. Its elements are [2+C, A]: the loss of the
// box, of the presence of an object, and of each class.
func (t *tape) cellLoss(outputs graph.Value, shape []int) (n Nodes, err error) {
	if len(shape) != 2 || shape[0] <= rowsOfBox+1 {
		return n, notBoxes(t, outputs)
	}
	n.Of, n.Hits, n.Partners, n.Positives = "moments", graph.None, graph.None, graph.None
	inverse := t.inverse()
	logits := t.rows("loss.logits", outputs, rowsOfBox, shape[0])
	l, boxes := t.binaryCrossEntropy("loss", logits), t.boxElements(outputs, shape[1], boxWeight)
	all := t.op(graph.Concat, "loss.all", []graph.Value{boxes, l.elements}, "axis", 0)
	n.Sum = t.op(graph.Moments, "loss.moments", []graph.Value{all})
	n.Seed = func(name string, of graph.Value) graph.Value {
		return t.gradient(of, outputs, func() map[graph.Value]graph.Value {
			return map[graph.Value]graph.Value{
				logits: t.op(graph.Mul, name+".logits", []graph.Value{l.slope, inverse}),
				boxes: t.op(graph.Mul, name+".boxes", []graph.Value{
					t.input(InputMask, []int{1, shape[1]}), inverse}),
			}
		})
	}
	return n, nil
}

// boxParts holds the intermediate values of the losses of boxes for all cells: [1, A], or [2, A]
// for corners.
type boxParts struct {
	op                               func(op graph.Op, name string, in ...graph.Value) graph.Value
	area                             func(name string, sides graph.Value) graph.Value
	low, high, targetLow, targetHigh graph.Value
	common, union                    graph.Value
}

// boxParts compares predictions, the first four rows of the output, with InputBoxes. In cells without
// an object the prediction is replaced by 0 and compared with a box of zeros. The overlap is then 1
// and there is no gradient, whatever the prediction is.
func (t *tape) boxParts(raw graph.Value, cells int) (b boxParts) {
	b.op = func(op graph.Op, name string, in ...graph.Value) graph.Value {
		return t.op(op, "loss.box."+name, in)
	}
	b.area = func(name string, sides graph.Value) graph.Value {
		return b.op(graph.Mul, name, t.rows("loss.box."+name+".w", sides, 0, 1),
			t.rows("loss.box."+name+".h", sides, 1, 2))
	}
	target, mask := t.input(InputBoxes, []int{rowsOfBox, cells}), t.input(InputMask, []int{1, cells})
	raw = b.op(graph.Mul, "masked", raw, mask)
	size := b.op(graph.Exp, "size", t.rows("loss.box.logs", raw, 2, 4))
	centre := t.rows("loss.box.centre", raw, 0, 2)
	half := t.op(graph.Affine, "loss.box.half", []graph.Value{size}, "by", 0.5)
	b.low, b.high = b.op(graph.Sub, "low", centre, half), b.op(graph.Add, "high", centre, half)
	b.targetLow = t.rows("loss.box.target.low", target, 0, 2)
	b.targetHigh = t.rows("loss.box.target.high", target, 2, 4)
	overlap := b.op(graph.Sub, "overlap", b.op(graph.Min, "right", b.high, b.targetHigh),
		b.op(graph.Max, "left", b.low, b.targetLow))
	b.common = b.area("common", b.op(graph.Relu, "shared", overlap))
	both := b.op(graph.Add, "both", b.area("area", size),
		b.area("target.area", b.op(graph.Sub, "target.size", b.targetHigh, b.targetLow)))
	b.union = b.op(graph.Sub, "union", both, b.common)
	return b
}

// boxElements returns weight*(1 - GIoU) = weight*(2 - IoU - union/enclosing box) for each cell, [1, A].
func (t *tape) boxElements(outputs graph.Value, cells int, weight float64) graph.Value {
	b := t.boxParts(t.rows("loss.box.raw", outputs, 0, rowsOfBox), cells)
	enclosing := b.area("enclosing", b.op(graph.Sub, "reach", b.op(graph.Max, "far", b.high, b.targetHigh),
		b.op(graph.Min, "near", b.low, b.targetLow)))
	sum := b.op(graph.Add, "sum", b.op(graph.Div, "iou", b.common, b.union),
		b.op(graph.Div, "share", b.union, enclosing))
	return t.op(graph.Affine, "loss.box.elements", []graph.Value{sum}, "by", -weight, "add", 2*weight)
}

// notBoxes is the error for an output without boxes.
func notBoxes(t *tape, outputs graph.Value) error {
	return fmt.Errorf("output %s of graph %s is %v; a loss of boxes needs rows for cells: a box of four, "+
		"the presence of an object, and classes", t.From.Outputs[0].Name, t.From.Name, t.Builder.Type(outputs))
}
