package step

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// JoinRows joins outputs of consecutive rows. It returns the outputs of a single run as
// they are.
func JoinRows(chunks [][]tensor.Tensor) []tensor.Tensor {
	switch len(chunks) {
	case 0:
		return nil
	case 1:
		return chunks[0]
	}
	joined := make([]tensor.Tensor, len(chunks[0]))
	for i := range joined {
		shape, n := append([]int(nil), chunks[0][i].Shape...), 0
		for _, p := range chunks {
			n += p[i].Shape[0]
		}
		shape[0] = n
		joined[i] = tensor.New(chunks[0][i].DType, shape...)
		at := 0
		for _, p := range chunks {
			at += copy(joined[i].Bytes[at:], p[i].Bytes)
		}
	}
	return joined
}

// WithZeros adds zeros for the tensors of a program that state lacks: momentum and
// other tensors of the optimizer.
func WithZeros(p *graph.Program, state map[string]tensor.Tensor) map[string]tensor.Tensor {
	full := make(map[string]tensor.Tensor, len(p.State))
	for _, s := range p.State {
		t, ok := state[s.Name]
		if !ok {
			t = tensor.New(s.DType, s.Shape...)
		}
		full[s.Name] = t
	}
	return full
}
