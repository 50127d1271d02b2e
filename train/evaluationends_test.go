package train

import (
	"context"
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/tensor"
	"io"
	"testing"
)

// constant predicts the same scores for every row.
type constant struct{ scores tensor.Tensor }

func (c constant) Predict(_ context.Context, x tensor.Tensor) ([]tensor.Tensor, error) {
	return []tensor.Tensor{tensor.New(tensor.F32, x.Shape[0], c.scores.Shape[0])}, nil
}

// An evaluation ends with an error if a label has no class in the output, or if its plan is impossible.
func TestEvaluateEndsWithErrors(t *testing.T) {
	b := newBench(t, 20)
	for _, c := range []struct {
		classes int
		o       evaluation.Options
	}{{2, evaluation.Options{Batch: 8}}, {10, evaluation.Options{Batch: 0}}} {
		e, err := evaluation.Run(t.Context(), constant{tensor.New(tensor.F32, c.classes)}, b.source, c.o)
		if err == nil || err == io.EOF {
			t.Errorf("%+v: %+v, %v", c, e, err)
		}
	}
}
