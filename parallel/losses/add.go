package losses

import "github.com/bnctl/bnctl/graph"

// Add adds the nodes of the loss to a function that b builds. outputs is the value that the loss is
// computed from: the first output of the graph from, or the input of the softmax or sigmoid before it.
// perReplica makes the denominator of YOLOX separate for each replica.
func (l *Loss) Add(b *graph.Builder, from *graph.Function, outputs graph.Value, perReplica bool) (
	Nodes, error) {
	t := &tape{Builder: b, From: from, loss: l, perReplica: perReplica, inputs: map[string]graph.Value{}}
	shape := b.Type(outputs).Shape
	switch l.Of {
	case CrossEntropy:
		return t.crossEntropy(outputs, shape), nil
	case Boxes:
		return t.boxLoss(outputs, shape)
	case YOLOX:
		return t.yoloxLoss(outputs, shape)
	}
	return t.elementLoss(outputs, shape)
}

// boxLoss adds the nodes of Boxes for the form of the output.
func (t *tape) boxLoss(outputs graph.Value, shape []int) (Nodes, error) {
	switch form := t.From.BoxForm(); form {
	case graph.FCOSForm:
		return t.fcosLoss(outputs, shape)
	case graph.RetinaNetForm, graph.RetinaNetV2Form:
		return t.retinaNetLoss(outputs, shape, form)
	case graph.SSDForm:
		return t.ssdLoss(outputs, shape)
	}
	return t.cellLoss(outputs, shape)
}
