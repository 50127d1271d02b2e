package train

import (
	"context"
	"github.com/bnctl/bnctl/evaluation"
	"testing"
)

// Each evaluation at the end of an epoch has separate observers. They receive every label
// before the figures are passed on.
func TestEvaluationIsObserved(t *testing.T) {
	b := newBench(t, 24)
	c := b.config(1)
	var labels []int // labels counted by each evaluation
	c.Observe = func() evaluation.Observers {
		labels = append(labels, 0)
		now := &labels[len(labels)-1]
		return evaluation.Observers{Observe: func(int, int, []float64, float64) { *now++ }}
	}
	told := 0
	c.Evaluated = func(e Evaluated) {
		if told++; e.Epoch != told || labels[told-1] != e.Evaluation.Counted || e.Evaluation.Counted == 0 ||
			e.Source.Info().Len != e.Evaluation.Samples || e.Model == nil {
			t.Errorf("epoch %d: %v labels were told, %+v", told, labels, e)
		}
	}
	b.template(New(context.Background(), &b.recipe, b.model(), c))
	if told != b.recipe.Epochs || len(labels) != told {
		t.Errorf("%d evaluations, %v labels: want %d", told, labels, b.recipe.Epochs)
	}
}
