package recipe

import (
	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/weightsync"
)

// exampleRecipe returns a valid recipe of two epochs of a number of pictures in ten classes.
func exampleRecipe(samples int) Recipe {
	return Recipe{Release: "test", Model: "dense", Init: "seed", Seed: 7,
		Data:   Data{Kind: "glyphs", Samples: samples, Classes: 10},
		Epochs: 2, Batch: 16, Replicas: 4, Accumulate: 1, Tail: parallel.Keep,
		BN: bn.Sync, BNStats: bn.Pooled, BNUpdate: bn.EveryStep, WeightSync: weightsync.AllReduce, BNMin: "refuse",
		Optimizer: "sgd", LR: 0.05, Momentum: 0.9, WeightDecay: 1e-4,
		Schedule: "cosine", Precision: "f32", Save: "last", EvalEvery: 1}
}
