package train

import (
	"maps"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/objects/anchors"
	"github.com/bnctl/bnctl/objects/cells"
	"github.com/bnctl/bnctl/parallel/losses"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/tensor"
)

// takeSlots sets the slots of a detector: the places that predict a box each.
func (p *plan) takeSlots() error {
	if !p.loss.IsBoxes() {
		return nil
	}
	classes, ok := p.template.DetectedClasses()
	if !ok {
		return problem.New("model", "", "the labels of {data} are boxes, and model "+p.template.Architecture+
			" predicts none", "use a detector, for example yolox-nano")
	}
	form := p.template.BoxForm()
	if p.loss.IsMatched() && form != graph.YOLOXForm {
		return problem.New("loss", p.loss.Of, "it is for detectors of the form of YOLOX, and model "+
			p.template.Architecture+" has another", "use {loss} boxes")
	}
	in := p.template.Input().Shape
	var err error
	if p.slots, err = anchors.New(form, in[0], in[1]); err != nil {
		return problem.Wrap("size", err)
	}
	p.detected = classes
	return nil
}

// mapsOf returns the rows and columns of each map of a detector for a loss that matches objects; nil for
// other losses, and for graphs without whole cells.
func mapsOf(l evaluation.Loss, template *graph.Graph) [][2]int {
	in := template.Main.Values[template.Main.Inputs[0]].Type.Shape
	if !l.IsMatched() || len(in) < 2 {
		return nil
	}
	grid, err := cells.New(in[0], in[1])
	if err != nil {
		return nil // the loss reports the error
	}
	return grid.Sides()
}

// withBoxes adds the inputs of the loss of boxes to rows.
func (p *plan) withBoxes(rows map[string]tensor.Tensor) {
	maps.Copy(rows, p.loss.BoxInputs(p.slots, rows[losses.InputLabels], p.detected))
}

// positives returns the number of slots with an object, and at least 1. It returns 1 if the prediction
// determines which slots have an object.
func positives(rows map[string]tensor.Tensor) float64 {
	n := 0.0
	if _, ok := rows[losses.InputMask]; !ok {
		return 1
	}
	for _, v := range rows[losses.InputMask].F32() {
		n += float64(v)
	}
	return max(n, 1)
}

// AddNoObjects adds the inputs of the recipe's loss of boxes to the rows of a batch, for pictures without
// objects. It adds nothing for other losses.
func AddNoObjects(rows map[string]tensor.Tensor, m *models.Model, r *recipe.Recipe) error {
	l, err := evaluation.ParseLoss(r.Loss)
	if err != nil {
		return err
	}
	p := &plan{template: m, loss: evaluation.TrainingLoss{Loss: l}}
	if err := p.takeSlots(); err != nil || p.slots == nil {
		return err
	}
	labels := tensor.New(tensor.I32, r.Batch, r.MostBoxes, data.BoxFields)
	for all := labels.I32(); len(all) > 0; all = all[data.BoxFields:] {
		data.Box{Class: data.NoBox}.Put(all)
	}
	maps.Copy(rows, p.loss.BoxInputs(p.slots, labels, p.detected))
	return nil
}
