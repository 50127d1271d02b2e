package evaluation

import (
	"fmt"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/objects"
	"github.com/bnctl/bnctl/objects/anchors"
	"github.com/bnctl/bnctl/objects/average"
	"github.com/bnctl/bnctl/objects/cells"
	"github.com/bnctl/bnctl/parallel/losses"
	"github.com/bnctl/bnctl/tensor"
)

// detections are the options of cells.Grid.Detections for computing average precision. They keep nearly all
// boxes, like the evaluation of YOLOX.
var detections = cells.Options{Score: 0.01, Overlap: 0.65, Most: 100}

// boxes collects the detections and the annotated objects of an evaluation, in coordinates of the model's
// input.
type boxes struct {
	slots  cells.Slots
	set    objects.Set
	found  []average.Detection
	figure *average.COCOFigures
}

// newBoxes returns nil unless the labels are boxes and the size of the input is known.
func newBoxes(info data.Info, form graph.BoxForm, height, width int) (*boxes, error) {
	if !info.Boxes {
		return nil, nil
	}
	slots, err := anchors.New(form, height, width)
	return &boxes{slots: slots, set: objects.Set{Classes: info.Classes}}, err
}

// objectsOf returns the objects of a label of a source with Info.Boxes, in pixels of the input.
func objectsOf(label []int32) (list []cells.Object) {
	for i := 0; i+data.BoxFields <= len(label); i += data.BoxFields {
		switch b := data.BoxOf(label[i:]); {
		case b.Class >= 0:
			list = append(list, cells.Object{Corners: b.Corners, Class: int(b.Class)})
		case b.Class < data.NoBox:
			list = append(list, cells.Object{Corners: b.Corners, Class: int(-2 - b.Class), Ignored: true})
		}
	}
	return list
}

// BoxInputs returns the inputs of the training function for a loss of boxes, from labels [N, M, BoxFields]
// and the number of classes of the model. If l.IsMatched is true, slots must be the slots of YOLOX.
func (l Loss) BoxInputs(slots cells.Slots, labels tensor.Tensor, classes int) map[string]tensor.Tensor {
	n, a, m := labels.Shape[0], slots.Len(), labels.Shape[1]
	all := map[string]tensor.Tensor{}
	each := labels.Count() / max(n, 1)
	fill := func(shapes map[string][2]int, row func(of func(name string) []float32, objects []cells.Object)) {
		for name, shape := range shapes {
			all[name] = tensor.New(tensor.F32, n, shape[0], shape[1])
		}
		for i := range n {
			row(func(name string) []float32 { return all[name].Rows(i, i+1).F32() },
				objectsOf(labels.I32()[i*each:(i+1)*each]))
		}
	}
	if l.IsMatched() {
		grid := slots.(*cells.Grid)
		fill(map[string][2]int{losses.InputObjects: {m, cells.Columns}, losses.InputClasses: {m, classes},
			losses.InputNear: {m, grid.AllSides()}, losses.InputCells: {cells.PerCell, a}},
			func(of func(name string) []float32, objects []cells.Object) {
				grid.FillCandidates(cells.Candidates{Objects: of(losses.InputObjects),
					Classes: of(losses.InputClasses), Near: of(losses.InputNear), Cells: of(losses.InputCells)},
					objects, classes)
			})
		return all
	}
	fill(map[string][2]int{losses.InputBoxes: {4, a}, losses.InputMask: {1, a},
		losses.InputPositive: {slots.TargetRows(classes), a},
		losses.InputNegative: {slots.TargetRows(classes), a}},
		func(of func(name string) []float32, objects []cells.Object) {
			slots.Fill(targetsIn(of), objects, classes)
		})
	return all
}

func targetsIn(output func(name string) []float32) cells.Targets {
	return cells.Targets{Boxes: output(losses.InputBoxes), Mask: output(losses.InputMask),
		Positive: output(losses.InputPositive), Negative: output(losses.InputNegative)}
}

// BoxLosses returns the sum of the losses of predictions [N, R, A] for labels [N, M, BoxFields], and the
// number of slots with objects.
func (l Loss) BoxLosses(slots cells.Slots, scores, labels tensor.Tensor) (sum, n float64) {
	for i := range scores.Shape[0] {
		loss, positives := l.boxLoss(slots, scores.Rows(i, i+1), labels.Rows(i, i+1))
		sum, n = sum+loss, n+positives
	}
	return sum, n
}

// boxLoss is BoxLosses for a single row of the batch.
func (l Loss) boxLoss(slots cells.Slots, scores, labels tensor.Tensor) (loss, n float64) {
	rows := scores.F32()
	if l.IsMatched() {
		loss, positives := slots.(*cells.Grid).MatchedLoss(rows, objectsOf(labels.I32()), labels.Shape[1])
		return loss, float64(positives)
	}
	inputs := l.BoxInputs(slots, labels, scores.Shape[1]-slots.Fields())
	t := targetsIn(func(name string) []float32 { return inputs[name].F32() })
	for _, v := range t.Mask {
		n += float64(v)
	}
	return slots.Loss(rows, t), n
}

// addBoxes adds N predictions [N, R, A] with labels [N, M, BoxFields] to the figures.
func (e *Evaluation) addBoxes(scores, labels tensor.Tensor) error {
	b := e.boxes
	if len(scores.Shape) != 3 || scores.Shape[2] != b.slots.Len() ||
		scores.Shape[1] <= b.slots.Fields() {
		return fmt.Errorf("labels are boxes for an output of %v", scores)
	}
	n := scores.Shape[0]
	each := labels.Count() / max(n, 1)
	for i := range n { // one row at a time: sums in the order of samples do not depend on the batch
		loss, positives := e.loss.boxLoss(b.slots, scores.Rows(i, i+1), labels.Rows(i, i+1))
		e.LossSum, e.WeightSum = e.LossSum+loss, e.WeightSum+positives
		all := objectsOf(labels.I32()[i*each : (i+1)*each])
		e.Counted += len(all)
		b.add(all, b.slots.Detections(scores.Rows(i, i+1).F32(), detections))
	}
	e.Samples += n
	return nil
}

// add adds a picture with its annotated objects, and the detections found in it.
func (b *boxes) add(annotated []cells.Object, found []cells.Detection) {
	p, at := objects.Picture{ID: int64(len(b.set.Pictures))}, len(b.set.Pictures)
	for _, o := range annotated {
		box := boxOf(o.Corners)
		p.Objects = append(p.Objects, objects.Object{Box: box, Class: o.Class, Area: box.Area(),
			Difficult: o.Ignored})
	}
	b.set.Pictures = append(b.set.Pictures, p)
	for _, d := range found {
		if d.Class < len(b.set.Classes) {
			b.found = append(b.found, average.Detection{Picture: at, Class: d.Class, Box: boxOf(d.Corners),
				Score: float64(d.Score)})
		}
	}
	b.figure = nil
}

func boxOf(c [4]float32) objects.Box {
	return objects.Box{X1: float64(c[0]), Y1: float64(c[1]), X2: float64(c[2]), Y2: float64(c[3])}
}

// AveragePrecision returns COCO's figures of boxes in the coordinates of the input; nil for other labels.
func (e *Evaluation) AveragePrecision() *average.COCOFigures {
	if e.boxes == nil {
		return nil
	}
	if e.boxes.figure == nil {
		e.boxes.figure = average.COCO(&e.boxes.set, e.boxes.found)
	}
	return e.boxes.figure
}

// Detected returns the annotated objects and the detections, in coordinates of the input. Both are nil for
// labels that are not boxes.
func (e *Evaluation) Detected() (set *objects.Set, found []average.Detection) {
	if e.boxes == nil {
		return nil, nil
	}
	return &e.boxes.set, e.boxes.found
}

// ap50 returns COCO's AP50, or 0 without objects.
func (e *Evaluation) ap50() float64 {
	f := e.AveragePrecision()
	if f == nil {
		return 0
	}
	return max(f.AP50, 0)
}
