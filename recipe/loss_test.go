package recipe

import (
	"fmt"
	"strings"
	"testing"
)

func TestCheckLoss(t *testing.T) {
	for _, c := range []struct {
		change func(*Recipe)
		want   string
	}{
		{func(r *Recipe) { r.Loss = "l2" }, "want squared"},
		{func(r *Recipe) { r.Loss = "huber:0" }, "want huber"},
		{func(r *Recipe) { r.Loss = "squared:1" }, "want squared"},
		{func(r *Recipe) { r.Loss, r.LabelSmoothing = "squared", 0.1 }, "label-smoothing"},
		{func(r *Recipe) { r.Loss, r.ClassWeights = "binary", "1,2,3" }, "pos-weights"},
		{func(r *Recipe) { r.PosWeights = "1,2,3" }, "exclude each other"},
		{func(r *Recipe) { r.Loss, r.PosWeights = "binary", "1,-2,3" }, "is not a weight"},
		{func(r *Recipe) { r.Loss, r.PosWeights = "binary", "1,2" }, "2 weights for the 3 labels"},
		{func(r *Recipe) { r.Loss, r.Save = "squared", "best:accuracy" }, "best:loss"},
		{func(r *Recipe) { r.Loss, r.Save = "binary", "best:miou" }, "best:accuracy"},
	} {
		r := exampleRecipe(8)
		r.Data.Classes, r.Batch = 3, 8
		r.Validation.Samples = 1
		c.change(&r)
		if err := r.Check(); err == nil || !strings.Contains(fmt.Sprintf("%+v %v", err, err), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}
