package train

import (
	"maps"

	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/parallel/losses"
	"github.com/bnctl/bnctl/tensor"
)

// withLoss adds the inputs for the loss of p to rows.
func (p *plan) withLoss(rows map[string]tensor.Tensor) {
	if p.loss.Of == losses.CrossEntropy {
		return
	}
	if p.loss.IsBoxes() {
		p.withBoxes(rows)
		return
	}
	labels := rows[losses.InputLabels]
	if !p.loss.IsNumeric() {
		labels = evaluation.Padded(labels, classesOf(p.template.Graph))
	}
	rows[losses.InputLabels] = labels
	maps.Copy(rows, p.loss.Inputs(labels))
}
