package devicetest

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// setting returns a step of training, or a prediction if function is graph.Predict, of replicas with the
// given numbers of rows. The weights and inputs are the same in each call.
func (n network) setting(function string, rows ...int) (*setting, error) {
	p, err := n.program()
	if err != nil {
		return nil, err
	}
	s := &setting{program: p, function: function, rows: rows, state: map[string]tensor.Tensor{}}
	draws := tensor.NewPhilox(2, tensor.StreamInit).Draws(0, 0)
	for _, st := range p.State {
		t := tensor.New(st.DType, st.Shape...)
		switch st.Role {
		case graph.Gamma, graph.Variance:
			positive(&draws, t)
		case graph.Weight, graph.Beta, graph.Mean:
			set(t, func(int) float64 { return 0.3 * draws.Normal() })
		}
		s.state[st.Name] = t
	}
	n.fill(s, &draws)
	return s, nil
}

// fill draws the inputs.
func (n network) fill(s *setting, d *tensor.Draws) {
	total := sum(s.rows)
	x := tensor.New(tensor.U8, append([]int{total}, n.input...)...)
	bytes(d, x)
	s.inputs = []tensor.Tensor{x}
	if s.function == graph.Train {
		labels := tensor.New(tensor.I32, total)
		classes(n.classes, -1)(d, labels)
		s.inputs = append(s.inputs, labels, tensor.Scalar(float32(1)/float32(max(total, 1))))
	}
}
