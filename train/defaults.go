package train

import (
	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
)

// Release is the version that recipes name: same bits are promised within one.
const Release = "0.1"

// Drawn is what Recipe.Init says of weights that the seed decides.
const Drawn = "seed"

// DefaultRecipe returns how a model is trained where nobody says otherwise;
// model is a name of the zoo, or that of a graph. It is the one place of the
// defaults: changing one is a breaking change.
//
// The caller fills in what depends on data and devices: Data and Validation,
// Graph, Kernels, and Init if weights are given. The batch is shared by 8
// replicas: one of fewer rows needs fewer replicas. For a run that counts
// Steps, Epochs becomes 0.
func DefaultRecipe(model string) *Recipe {
	return &Recipe{Release: Release, Model: model, Init: Drawn,
		Epochs: 10, Batch: 128, Replicas: 8, Accumulate: 1, Tail: parallel.Keep, Augment: "none",
		BN: bn.Sync, BNStats: bn.Pooled, BNUpdate: bn.EveryStep, BNMin: "refuse",
		WeightSync: parallel.AllReduce, Optimizer: "sgd", LR: models.DefaultLR(model), Momentum: 0.9,
		WeightDecay: 1e-4, Schedule: "cosine", Precision: device.F32, Save: "last", EvalEvery: 1}
}
