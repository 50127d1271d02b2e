package train

import (
	"slices"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/recipe"
)

// TestDetectorsInEveryWay: a detector of each form trains one template on one device, in two stages, and on
// two ranks, also with averaged weights and with frozen batch norms.
func TestDetectorsInEveryWay(t *testing.T) {
	ways := map[string]func(*recipe.Recipe){
		"replica":    func(r *recipe.Recipe) { r.BN = bn.Replica },
		"ema, adamw": func(r *recipe.Recipe) { r.EMA, r.EMAWarmup, r.Optimizer, r.LR = 0.9, true, "adamw", 0.01 },
		"frozen":     func(r *recipe.Recipe) { r.BN, r.Init = bn.Frozen, "given" },
	}
	for _, model := range []string{"cells", "fcos", "retinanet", "retinanet2", "ssd"} {
		for name, change := range ways {
			if testing.Short() && name != "ema, adamw" {
				continue
			}
			t.Run(model+", "+name, func(t *testing.T) {
				b := boxBench(t, 24)
				b.recipe.Model, b.recipe.Epochs = model, 1
				change(&b.recipe)
				want := b.template(New(t.Context(), &b.recipe, b.model(), b.config(1)))
				got, err := b.trainOn([]int{1, 2}, nil)
				if err != nil || !slices.Equal(got.sums, []string{want, want}) {
					t.Errorf("templates of two ranks %v, %v; on one device %s", got.sums, err, want)
				}
				staged := b.config(2)
				staged.Stages = parallel.Stages{Number: 2}
				if got := b.template(New(t.Context(), &b.recipe, b.model(), staged)); got != want {
					t.Errorf("template of two stages %s, on one device %s", got, want)
				}
			})
		}
	}
}
