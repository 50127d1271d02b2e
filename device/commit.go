package device

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Kept records whether an executable has the outputs that a run of graph.Train
// keeps for Commit, and of which version.
type Kept struct {
	Has bool    // anything
	For Version // of the state that the run read
}

// Check returns an error if Commit(v) must be refused by an executable whose state is at
// version at.
func (k Kept) Check(v, at Version) error {
	switch {
	case at != v:
		return fmt.Errorf("version %d is to be committed, the state is at %d", v, at)
	case !k.Has || k.For != v:
		return problem.Advise("run "+graph.Train+" first", "nothing is kept for version %d", v)
	}
	return nil
}

// Inputs returns the inputs of the function graph.Commit of p, in its order. Those that
// graph.Train keeps for it are zero Tensors. A number that h lacks is an error.
func (h Hyper) Inputs(p *graph.Program) ([]tensor.Tensor, error) {
	kept := map[string]bool{}
	if train := p.Function(graph.Train); train != nil {
		for _, o := range train.Outputs {
			kept[o.Name] = o.Keep
		}
	}
	fn := p.Function(graph.Commit)
	inputs := make([]tensor.Tensor, len(fn.Inputs))
	for i, id := range fn.Inputs {
		name := fn.Values[id].Name
		if kept[name] {
			continue
		}
		x, ok := h[name]
		if d := fn.Values[id].Type.DType; d != tensor.F32 {
			return nil, fmt.Errorf("input %s is %v, hyper-parameters are %v", name, d, tensor.F32)
		}
		if !ok {
			return nil, fmt.Errorf("hyper-parameter %s is missing", name)
		}
		inputs[i] = tensor.Scalar(x)
	}
	return inputs, nil
}
