package losses

import "github.com/bnctl/bnctl/graph"

// rowOfCentre is the row of the centre-ness logit in the output of graph.FCOSForm.
const rowOfCentre = 4

// alpha is the weight of an object in the focal loss; the weight of the background is 1 - alpha.
const alpha = 0.25

// lossTerm is a term of a loss of boxes: rows f32 [R, A], with a weight for each element.
type lossTerm struct{ elements, weights graph.Value }

// fcosLoss returns Boxes for an output of graph.FCOSForm: the focal loss of the classes (Lin et al.
// 2017), 1 - GIoU of the box of each slot (an anchor of the detector) with an object, and the binary
// cross-entropy of its centre-ness. Package objects/anchors has the targets.
func (t *tape) fcosLoss(outputs graph.Value, shape []int) (Nodes, error) {
	rows, slots := shape[0], shape[1]
	mask := t.input(InputMask, []int{1, slots})
	logits := t.rows("loss.logits", outputs, rowOfCentre, rows)
	weights := []int{rows - rowOfCentre, slots}
	positive, negative := t.input(InputPositive, weights), t.input(InputNegative, weights)
	weight := func(of graph.Value, from, to int) graph.Value { return t.rows("loss.weight", of, from, to) }
	missed, wrong := t.softplus("loss", logits)
	centre := func(v graph.Value) graph.Value { return t.rows("loss.centre", v, 0, 1) }
	hit, spurious := t.focal("loss.focal", t.rows("loss.classes", logits, 1, weights[0]))
	return t.ofTerms(outputs, []lossTerm{
		{t.distanceElements(outputs, mask, slots), mask},
		{centre(missed), weight(positive, 0, 1)}, {centre(wrong), weight(negative, 0, 1)},
		{hit, weight(positive, 1, weights[0])}, {spurious, weight(negative, 1, weights[0])},
	})
}

// retinaNetLoss returns Boxes for an output of graph.RetinaNetForm: the focal loss of the classes
// (Lin et al. 2017), and for each slot (an anchor of the detector) with an object the sum of the
// absolute errors of its box, or 1 - GIoU in graph.RetinaNetV2Form.
func (t *tape) retinaNetLoss(outputs graph.Value, shape []int, form graph.BoxForm) (Nodes,
	error) {
	rows, slots := shape[0], shape[1]
	mask, weights := t.input(InputMask, []int{1, slots}), []int{rows - rowsOfBox, slots}
	hit, spurious := t.focal("loss.focal", t.rows("loss.logits", outputs, rowsOfBox, rows))
	boxes := graph.None
	if form == graph.RetinaNetV2Form {
		boxes = t.boxElements(outputs, slots, 1)
	} else {
		boxes = t.absoluteElements(outputs, mask, slots)
	}
	return t.ofTerms(outputs, []lossTerm{{boxes, mask}, {hit, t.input(InputPositive, weights)},
		{spurious, t.input(InputNegative, weights)}})
}

// absoluteElements returns the sum of the absolute errors of the first four rows, [1, A]. Slots without an
// object have a prediction of 0.
func (t *tape) absoluteElements(outputs, mask graph.Value, slots int) graph.Value {
	raw := t.op(graph.Mul, "loss.box.masked",
		[]graph.Value{t.rows("loss.box.raw", outputs, 0, rowsOfBox), mask})
	wrong := t.op(graph.Sub, "loss.box.error",
		[]graph.Value{raw, t.input(InputBoxes, []int{rowsOfBox, slots})})
	opposite := t.op(graph.Affine, "loss.box.opposite", []graph.Value{wrong}, "by", -1.0)
	all := t.op(graph.Max, "loss.box.absolute", []graph.Value{wrong, opposite})
	sum := t.rows("loss.box.first", all, 0, 1)
	for k := 1; k < rowsOfBox; k++ {
		sum = t.op(graph.Add, "loss.box.elements", []graph.Value{sum, t.rows("loss.box.next", all, k, k+1)})
	}
	return sum
}

// ofTerms adds a loss that is the sum of all elements times their weights, divided by the number of
// slots with an object in the whole batch.
func (t *tape) ofTerms(outputs graph.Value, terms []lossTerm) (n Nodes, err error) {
	n.Of, n.Hits, n.Partners, n.Positives = "moments", graph.None, graph.None, graph.None
	inverse := t.inverse()
	var all []graph.Value
	seeds := map[graph.Value]graph.Value{}
	for _, p := range terms {
		all = append(all, t.op(graph.Mul, "loss.weighted", []graph.Value{p.elements, p.weights}))
		seeds[p.elements] = t.op(graph.Mul, "loss.seed", []graph.Value{p.weights, inverse})
	}
	n.Sum = t.op(graph.Moments, "loss.moments", []graph.Value{
		t.op(graph.Concat, "loss.all", all, "axis", 0)})
	n.Seed = func(_ string, of graph.Value) graph.Value {
		return t.gradient(of, outputs, func() map[graph.Value]graph.Value { return seeds })
	}
	return n, nil
}

// softplus returns the losses of logits for the label 1, softplus(-x), and for the label 0, softplus(x).
func (t *tape) softplus(name string, x graph.Value) (positive, negative graph.Value) {
	opposite := t.op(graph.Affine, name+".opposite", []graph.Value{x}, "by", -1.0)
	return t.op(graph.Softplus, name+".missed", []graph.Value{opposite}),
		t.op(graph.Softplus, name+".wrong", []graph.Value{x})
}

// focal returns the focal losses of logits for the label 1, alpha*(1-p)^2*softplus(-x), and for the label 0,
// (1-alpha)*p^2*softplus(x), where p is the sigmoid of x.
func (t *tape) focal(name string, x graph.Value) (positive, negative graph.Value) {
	missed, found := t.softplus(name, x)
	opposite := t.op(graph.Affine, name+".minus", []graph.Value{x}, "by", -1.0)
	of := func(what string, factor float64, logit, loss graph.Value) graph.Value {
		p := t.op(graph.Sigmoid, name+"."+what, []graph.Value{logit})
		square := t.op(graph.Mul, name+"."+what+".square", []graph.Value{p, p})
		return t.op(graph.Affine, name+"."+what+".loss",
			[]graph.Value{t.op(graph.Mul, name+"."+what+".product", []graph.Value{square, loss})}, "by", factor)
	}
	return of("other", alpha, opposite, missed), of("p", 1-alpha, x, found)
}

// distanceElements returns 1 - GIoU = 2 - IoU - union/enclosing box, [1, A], of boxes that are
// given as the distances of their sides from a slot. Slots without an object have a prediction of
// 0.
func (t *tape) distanceElements(outputs, mask graph.Value, slots int) graph.Value {
	op := func(op graph.Op, name string, in ...graph.Value) graph.Value {
		return t.op(op, "loss.box."+name, in)
	}
	target := t.input(InputBoxes, []int{rowsOfBox, slots})
	raw := op(graph.Mul, "masked", t.rows("loss.box.raw", outputs, 0, rowsOfBox), mask)
	area := func(name string, distances graph.Value) graph.Value {
		sides := op(graph.Add, name+".sides", t.rows("loss.box."+name+".low", distances, 0, 2),
			t.rows("loss.box."+name+".high", distances, 2, 4))
		return op(graph.Mul, name, t.rows("loss.box."+name+".w", sides, 0, 1),
			t.rows("loss.box."+name+".h", sides, 1, 2))
	}
	common := area("common", op(graph.Min, "near", raw, target))
	enclosing := area("enclosing", op(graph.Max, "far", raw, target))
	both := op(graph.Add, "both", area("area", raw), area("target.area", target))
	union := op(graph.Sub, "union", both, common)
	sum := op(graph.Add, "sum", op(graph.Div, "iou", common, union), op(graph.Div, "share", union, enclosing))
	return t.op(graph.Affine, "loss.box.elements", []graph.Value{sum}, "by", -1.0, "add", 2.0)
}
