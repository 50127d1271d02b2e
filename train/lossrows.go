package train

import (
	"maps"

	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/tensor"
)

// withLoss adds the inputs for the loss of p to rows.
func (p *plan) withLoss(rows map[string]tensor.Tensor) {
	if p.loss.Of == parallel.CrossEntropy {
		return
	}
	if p.loss.IsBoxes() {
		p.withBoxes(rows)
		return
	}
	labels := rows[parallel.InputLabels]
	if !p.loss.IsNumeric() {
		labels = evaluation.Padded(labels, classesOf(p.template.Graph))
	}
	rows[parallel.InputLabels] = labels
	maps.Copy(rows, p.loss.Inputs(labels))
}
