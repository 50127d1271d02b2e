package models

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// calibrated is the name of the product that Calibrated adds after the logits.
const calibrated = "calibrated"

// Calibrated returns m with the logits of its first output multiplied by scale, rounded to
// float32. The factors of several calls are multiplied. Outputs computed from these logits
// change too: probabilities get a temperature (Guo and others 2017), and the order of
// classes stays. The product is part of the graph. Calibrated returns an error if the
// output is not a list of scores, or ends in a hard sigmoid.
func Calibrated(m *Model, scale float64) (*Model, error) {
	op, _ := m.Graph.Main.OutputOp(0)
	if !m.line(0) || op == graph.HardSigmoid {
		return nil, fmt.Errorf("output %s of model %s is %v and no list of scores: there is nothing to calibrate",
			m.Graph.Main.Outputs[0].Name, m.Architecture, m.outputType(0))
	}
	return m.scaledLogits(m.logitScale() * scale)
}

// Uncalibrated undoes Calibrated.
func Uncalibrated(m *Model) (*Model, error) {
	if m.Temperature() == 1 {
		return m, nil
	}
	return m.scaledLogits(1)
}

// Temperature returns the divisor of the logits of m since Calibrated, 1 if it was never
// called.
func (m *Model) Temperature() float64 { return 1 / m.logitScale() }

// logitScale returns the factor of the logits.
func (m *Model) logitScale() float64 {
	if n := m.calibration(); n != nil {
		return n.Float("by")
	}
	return 1
}

// calibration returns the node that Calibrated has made, or nil.
func (m *Model) calibration() *graph.Node {
	f := m.Graph.Main
	n := f.Makers()[logitsOf(f)]
	if n == nil || n.Op != graph.Affine || f.Values[n.Out[0]].Name != calibrated {
		return nil
	}
	return n
}

// logitsOf returns the logits of the first output: the output itself, or the operand of its
// ending.
func logitsOf(f *graph.Function) graph.Value {
	_, v := f.OutputOp(0)
	return v
}

// scaledLogits returns m with one product after its logits, or without it for a scale of 1.
func (m *Model) scaledLogits(scale float64) (*Model, error) {
	f, old := m.Graph.Main, m.calibration()
	z := logitsOf(f)
	if old != nil {
		z = old.In[0]
	}
	g := &graph.Graph{Name: m.Graph.Name, State: slices.Clone(m.Graph.State)}
	c := graph.NewCopier(f, graph.NewBuilder(f.Name, &g.State))
	c.Inputs()
	scaled := graph.None
	product := func() graph.Value {
		if scaled == graph.None {
			if scaled = c.Value(z); scale != 1 {
				scaled = c.Builder.Op(graph.Affine, calibrated, []graph.Value{scaled}, "by", float64(float32(scale)))
			}
		}
		return scaled
	}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		switch {
		case n == old:
			c.To[n.Out[0]] = product()
		case old == nil && slices.Contains(n.In, z) && slices.Contains(probabilities, n.Op):
			plain := c.Value(z)
			c.To[z] = product()
			c.Copy(n)
			c.To[z] = plain
		default:
			c.Copy(n)
		}
	}
	for _, o := range f.Outputs {
		v := c.Value(o.Value)
		if o.Value == z {
			v = product()
		}
		c.Builder.Output(o.Name, v, o.Keep)
	}
	out := *m
	out.Thresholds = nil // they were made for the previous probabilities
	var err error
	if g.Main, err = c.Builder.Function(); err != nil {
		return nil, err
	}
	out.Graph = g
	return &out, out.Check()
}

// probabilities are the operations that turn logits into probabilities.
var probabilities = []graph.Op{graph.Softmax, graph.LogSoftmax, graph.Sigmoid}
