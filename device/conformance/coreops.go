package conformance

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// coreOps are the operations of training and predicting with lenet-bn, sync batch norm and
// SGD. A device needs all of them to be useful.
var coreOps = []graph.Op{
	graph.Image, graph.Conv, graph.ConvGradInput, graph.ConvGradWeight, graph.Dense, graph.DenseGradInput,
	graph.DenseGradWeight, graph.Moments, graph.Normalise, graph.NormaliseGradSums, graph.NormaliseGradInput,
	graph.NormaliseGradParams, graph.BatchNorm, graph.AllReduce, graph.Relu, graph.ActivationGrad, graph.MaxPool,
	graph.MaxPoolGrad, graph.ChannelSum, graph.Reshape, graph.SoftmaxXent, graph.SoftmaxXentGrad, graph.Correct,
	graph.SGD,
}

// missingFrom returns the core operations that are not in have.
func missingFrom(have []graph.Op) []graph.Op {
	return slices.DeleteFunc(slices.Clone(coreOps), func(o graph.Op) bool { return slices.Contains(have, o) })
}

// missing returns the core operations in lacks, the operations that a device does not have.
func missing(lacks []graph.Op) []graph.Op {
	return slices.DeleteFunc(slices.Clone(lacks), func(o graph.Op) bool { return !slices.Contains(coreOps, o) })
}
