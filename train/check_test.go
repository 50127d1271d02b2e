package train

import (
	"math"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/recipe"
)

// TestCheck has values of recipes at their limits and beyond them. want is "" if they are valid, and
// otherwise the option that is refused.
func TestCheck(t *testing.T) {
	given := func(r *recipe.Recipe) { r.BN, r.Init = bn.Frozen, "given" }
	replica := func(r *recipe.Recipe) { r.BN = bn.Replica }
	validated := func(r *recipe.Recipe) { r.Validation = r.Data }
	with := func(first func(*recipe.Recipe), then func(*recipe.Recipe)) func(*recipe.Recipe) {
		return func(r *recipe.Recipe) { first(r); then(r) }
	}
	for i, c := range []struct {
		change func(*recipe.Recipe)
		option string
	}{
		{func(r *recipe.Recipe) {}, ""},
		{func(r *recipe.Recipe) { *r = recipe.Recipe{} }, "recipe"},
		{func(r *recipe.Recipe) { r.Release = "" }, ""}, {func(r *recipe.Recipe) { r.Batch = 0 }, "batch"},
		{func(r *recipe.Recipe) { r.Batch = math.MaxInt32 }, ""},
		{func(r *recipe.Recipe) { r.Batch = math.MaxInt32 + 1 }, "batch"},
		{func(r *recipe.Recipe) { r.Batch = 4 }, ""}, {func(r *recipe.Recipe) { r.Batch = 3 }, "batch"},
		{func(r *recipe.Recipe) { r.Replicas = 0 }, "replicas"}, {func(r *recipe.Recipe) { r.Replicas = 1 }, ""},
		{func(r *recipe.Recipe) { r.Accumulate = 0 }, "accumulate"},
		{func(r *recipe.Recipe) { r.Epochs, r.Steps = 0, 1 }, ""},
		{func(r *recipe.Recipe) { r.Steps = 1 }, "epochs"},
		{func(r *recipe.Recipe) { r.Epochs = 0 }, "epochs"}, {func(r *recipe.Recipe) { r.Epochs = -1 }, "epochs"},
		{func(r *recipe.Recipe) { r.Steps = -1 }, "steps"}, {func(r *recipe.Recipe) { r.BNPrecise = -1 }, "bn-precise"},
		{func(r *recipe.Recipe) { r.Patience = -1 }, "patience"}, {func(r *recipe.Recipe) { r.EvalEvery = 0 }, "eval-every"},
		{func(r *recipe.Recipe) { r.Data.Samples = 0 }, "data"}, {func(r *recipe.Recipe) { r.Data.Samples = 1 }, ""},
		{func(r *recipe.Recipe) { r.Data.Samples = math.MaxInt32 }, ""},
		{func(r *recipe.Recipe) { r.Data.Samples = math.MaxInt32 + 1 }, "data"},
		{func(r *recipe.Recipe) { r.Tail, r.Data.Samples = parallel.Drop, 15 }, "tail"},
		{func(r *recipe.Recipe) { r.Tail, r.Data.Samples = parallel.Drop, 16 }, ""},
		{func(r *recipe.Recipe) { r.LR = 0 }, "lr"}, {func(r *recipe.Recipe) { r.LR = math.NaN() }, "lr"},
		{func(r *recipe.Recipe) { r.LR = 1e6 }, ""}, {func(r *recipe.Recipe) { r.LR = 1.1e6 }, "lr"},
		{func(r *recipe.Recipe) { r.Momentum = -0.1 }, "momentum"}, {func(r *recipe.Recipe) { r.Momentum = 1 }, "momentum"},
		{func(r *recipe.Recipe) { r.WeightDecay = 1e6 }, ""}, {func(r *recipe.Recipe) { r.WeightDecay = 1e7 }, "weight-decay"},
		{func(r *recipe.Recipe) { r.Warmup = -1 }, "warmup"}, {func(r *recipe.Recipe) { r.ClipNorm = 1e31 }, "clip-norm"},
		{func(r *recipe.Recipe) { r.LabelSmoothing = 1 }, "label-smoothing"},
		{func(r *recipe.Recipe) { r.AuxWeight = 1001 }, "aux-weight"}, {func(r *recipe.Recipe) { r.EMA = 1 }, "ema"},
		{func(r *recipe.Recipe) { r.ClassWeights = "1,x" }, "class-weights"},
		{func(r *recipe.Recipe) { r.LROf = []string{"layer1.*=2"} }, "lr-of"},
		{func(r *recipe.Recipe) { r.LROf = []string{"[=2x"} }, "lr-of"},
		{func(r *recipe.Recipe) { r.LROf = []string{"a=0x"} }, "lr-of"},
		{func(r *recipe.Recipe) { r.Tail = "x" }, "tail"}, {func(r *recipe.Recipe) { r.BN = "x" }, "bn"},
		{func(r *recipe.Recipe) { r.BNStats = "x" }, "bn-stats"}, {func(r *recipe.Recipe) { r.BNUpdate = "x" }, "bn-update"},
		{func(r *recipe.Recipe) { r.WeightSync = "x" }, "weight-sync"},
		{func(r *recipe.Recipe) { r.Optimizer = "x" }, "optimizer"}, {func(r *recipe.Recipe) { r.Precision = "x" }, "precision"},
		{func(r *recipe.Recipe) { r.BNMin = "x" }, "bn-min"}, {func(r *recipe.Recipe) { r.Save = "best" }, "save"},
		{func(r *recipe.Recipe) { r.Schedule = "x" }, "schedule"},
		{func(r *recipe.Recipe) { r.Schedule = "poly:101" }, "schedule"},
		{func(r *recipe.Recipe) { r.Schedule = "poly:100" }, ""}, {func(r *recipe.Recipe) { r.Schedule = "poly:0" }, "schedule"},
		{func(r *recipe.Recipe) { r.Schedule = "poly" }, ""}, {func(r *recipe.Recipe) { r.Schedule = "step:0" }, "schedule"},
		{func(r *recipe.Recipe) { r.Schedule = "step:1e400" }, "schedule"},
		{func(r *recipe.Recipe) { r.Schedule = "constant:1" }, "schedule"},
		{func(r *recipe.Recipe) { r.Schedule = "step" }, "schedule"},
		{func(r *recipe.Recipe) { r.Schedule = "cosine:1" }, "schedule"},
		{func(r *recipe.Recipe) { r.Schedule = "step:1,2" }, ""},
		{func(r *recipe.Recipe) { r.Schedule = "step:2,1" }, "schedule"},
		{func(r *recipe.Recipe) { r.Schedule = "step:1,1" }, "schedule"},
		{given, ""}, {func(r *recipe.Recipe) { r.BN = bn.Frozen }, "bn"},
		{with(given, func(r *recipe.Recipe) { r.BNPrecise = 1 }), "bn"},
		{func(r *recipe.Recipe) { r.BNPrecise = 1 }, ""},
		{validated, ""}, {func(r *recipe.Recipe) { r.Save = "best:loss" }, "save"},
		{with(validated, func(r *recipe.Recipe) { r.Save, r.Patience = "best:loss", 1 }), ""},
		{func(r *recipe.Recipe) { r.Patience = 1 }, "patience"},
		{func(r *recipe.Recipe) { r.Nesterov = true }, ""},
		{func(r *recipe.Recipe) { r.Nesterov, r.Optimizer = true, "lars" }, "nesterov"},
		{func(r *recipe.Recipe) { r.Optimizer = "lars" }, ""},
		{func(r *recipe.Recipe) { r.WeightSync = "periodic:2" }, "weight-sync"},
		{func(r *recipe.Recipe) { r.WeightSync = "async:2" }, "weight-sync"},
		{with(replica, func(r *recipe.Recipe) { r.WeightSync = "periodic:2" }), ""},
		{with(replica, func(r *recipe.Recipe) { r.WeightSync = "async:2" }), ""},
		{with(given, func(r *recipe.Recipe) { r.WeightSync = "periodic:2" }), ""},
		{func(r *recipe.Recipe) { r.BNStats = bn.Mean }, "bn-stats"}, {func(r *recipe.Recipe) { r.BNMin = "running" }, "bn-min"},
		{func(r *recipe.Recipe) { r.BNUpdate = bn.PostHoc }, "bn-update"},
		{with(replica, func(r *recipe.Recipe) { r.BNStats, r.BNMin = bn.Mean, "running" }), ""},
		{with(replica, func(r *recipe.Recipe) { r.BNUpdate = bn.PostHoc }), ""},
		{with(replica, func(r *recipe.Recipe) { r.BNUpdate, r.BNStats = bn.PostHoc, bn.Mean }), ""},
		{with(replica, func(r *recipe.Recipe) { r.BNUpdate = "async:2" }), ""},
		{with(replica, func(r *recipe.Recipe) { r.BNUpdate, r.BNStats = "async:2", bn.Mean }), "bn-update"},
		{with(replica, func(r *recipe.Recipe) { r.BNUpdate, r.BNMin = bn.PostHoc, "running" }), "bn-update"},
		{func(r *recipe.Recipe) { r.BNPrecisePlain = true }, "bn-precise-plain"},
		{func(r *recipe.Recipe) { r.BNPrecisePlain, r.BNPrecise = true, 8 }, ""},
		{func(r *recipe.Recipe) { r.BNPrecisePlain, r.EMA = true, 0.5 }, ""},
		{with(replica, func(r *recipe.Recipe) { r.BNPrecisePlain, r.WeightSync = true, "periodic:2" }), ""},
		{with(replica, func(r *recipe.Recipe) { r.BNPrecisePlain, r.WeightSync = true, "periodic:1" }),
			"bn-precise-plain"},
	} {
		r := newBench(t, 42).recipe
		c.change(&r)
		err := r.Check()
		if (err == nil) != (c.option == "") || err != nil && !strings.HasPrefix(err.Error(), c.option+" ") &&
			!strings.HasPrefix(err.Error(), c.option+":") {
			t.Errorf("case %d, %s: error %v, want one of %q", i, r.JSON(), err, c.option)
		}
	}
	if err := (*recipe.Recipe)(nil).Check(); err == nil {
		t.Error("no recipe is right")
	}
}
