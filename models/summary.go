package models

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Summary has the figures of a model.
type Summary struct {
	Parameters int // trained elements
	Statistics int // elements of running means and variances
	Norms      int // batch norm layers
	Bytes      int // bytes of the whole state
	// Flops are the floating-point operations of one prediction.
	Flops float64
	// Input is the type and shape of one input, "f32[3,32,32]", or the names and types of several.
	Input string
}

// Summary returns the figures of m. It needs the graph only.
func (m *Model) Summary() Summary {
	var s Summary
	in := m.Input()
	if s.Input = tensor.Describe(in.DType, in.Shape); m.Fields != nil {
		s.Input = m.DescribeInputs()
	}
	s.Flops, _ = m.Graph.Main.TotalCost().At(1)
	for _, t := range m.Graph.State {
		n := tensor.Count(t.Shape)
		s.Bytes += n * t.DType.Size()
		switch {
		case t.Role.Trained():
			s.Parameters += n
		case t.Role.Statistic():
			s.Statistics += n
		}
	}
	for _, n := range m.Graph.Main.Nodes {
		if n.Op == graph.BatchNorm {
			s.Norms++
		}
	}
	return s
}
