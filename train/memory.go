package train

import (
	"strconv"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/tensor"
)

// Memory is the memory that training of an architecture with sgd needs, in bytes,
// over all devices. It is an upper bound: intermediate values that a device fuses
// away are counted.
type Memory struct {
	Batch       int    `json:"batch"`
	Input       string `json:"input"`
	State       int64  `json:"state"` // weights, gradients, statistics and momentum of sgd; on each device
	Activations int64  `json:"activations"`
	Recomputed  int64  `json:"recomputed"` // Activations with Config.Recompute "all"
}

// MemoryOf returns the memory that training of an architecture of the zoo needs, for batches of
// images of a size, or of the architecture's size if it is zero. Errors are a *problem.Error about
// the option batch, or from models.Build.
func MemoryOf(name string, size models.Size, batch int) (*Memory, error) {
	a, err := models.Lookup(name)
	if err != nil {
		return nil, err
	}
	o := models.Options{Input: a.Input}
	if size != (models.Size{}) {
		o.Input.Height, o.Input.Width = size.Height, size.Width
	}
	if batch < 1 {
		return nil, problem.New("batch", strconv.Itoa(batch), "want at least 1", "")
	}
	m, err := models.Build(name, o)
	if err != nil {
		return nil, err
	}
	p, err := sgdProgram(m.Graph)
	if err != nil {
		return nil, err
	}
	again, err := recomputing(p, device.F32)
	if err != nil {
		return nil, err
	}
	need := &Memory{Batch: batch, Input: o.Input.String(), State: stateBytes(p.State)}
	need.Activations = int64(batch) * int64(p.Function(graph.Train).ActivationBytes())
	need.Recomputed = int64(batch) * int64(again.Function(graph.Train).ActivationBytes())
	return need, nil
}

// sgdProgram returns the program that trains a graph with sgd and batch norm over the batch.
func sgdProgram(g *graph.Graph) (*graph.Program, error) {
	wrapped, err := spmd.Wrap(g, spmd.Options{Replicas: 1, BN: bn.Sync, Stats: bn.Pooled})
	if err != nil {
		return nil, err
	}
	trained, err := Trained(g, nil)
	if err != nil {
		return nil, err
	}
	return Program(&recipe.Recipe{Optimizer: "sgd", BN: bn.Sync, Momentum: 0.9}, g, wrapped, trained)
}

// stateBytes returns the size of a table of state and of the gradients of its trained
// tensors.
func stateBytes(table []graph.State) int64 {
	n := int64(0)
	for _, s := range table {
		bytes := int64(tensor.Count(s.Shape) * s.DType.Size())
		if n += bytes; s.Role.Trained() {
			n += bytes
		}
	}
	return n
}
