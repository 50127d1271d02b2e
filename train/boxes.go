package train

import (
	"maps"

	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/objects/cells"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// takeGrid finds the cells of a detector.
func (p *plan) takeGrid() error {
	if !p.loss.IsBoxes() {
		return nil
	}
	classes, ok := p.template.DetectedClasses()
	if !ok {
		return problem.New("model", "", "the labels of {data} are boxes, and model "+p.template.Architecture+
			" predicts none", "use a detector, for example yolox-nano")
	}
	in := p.template.Input().Shape
	var err error
	if p.grid, err = cells.New(in[0], in[1]); err != nil {
		return problem.Wrap("size", err)
	}
	p.detected = classes
	return nil
}

// withBoxes adds the inputs of the loss of boxes to rows.
func (p *plan) withBoxes(rows map[string]tensor.Tensor) {
	maps.Copy(rows, evaluation.BoxInputs(p.grid, rows[parallel.InputLabels], p.detected))
}

// positives returns the number of cells with an object, and at least 1.
func positives(rows map[string]tensor.Tensor) float64 {
	n := 0.0
	for _, v := range rows[parallel.InputMask].F32() {
		n += float64(v)
	}
	return max(n, 1)
}
