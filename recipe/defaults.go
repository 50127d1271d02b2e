package recipe

import (
	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/weightsync"
)

// Release is the version of bnctl, as recipes name it: the same bits are
// promised within one release.
const Release = "0.1"

// Drawn is the value of Recipe.Init for weights that are drawn from the seed.
const Drawn = "seed"

// Default returns the default recipe of a model; model is a name of the zoo, or of a
// graph. All defaults are in this function: changing one is a breaking change.
//
// The caller fills in the fields that depend on model and data, with SetModel and SetData. The caller
// sets Init if weights are given. The batch of 128 rows is shared by 8 replicas, so a batch of fewer
// than 8 rows needs fewer replicas. For a run that counts Steps, set Epochs to 0.
func Default(model string) *Recipe {
	return &Recipe{Release: Release, Model: model, Init: Drawn,
		Epochs: 10, Batch: 128, Replicas: 8, Accumulate: 1, Tail: parallel.Keep,
		BN: bn.Sync, BNStats: bn.Pooled, BNUpdate: bn.EveryStep, BNMin: "refuse",
		WeightSync: weightsync.AllReduce, Optimizer: "sgd", LR: models.DefaultLR(model), Momentum: 0.9,
		WeightDecay: 1e-4, Schedule: "cosine", Precision: device.F32, Save: "last", EvalEvery: 1}
}
