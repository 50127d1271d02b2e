package models

import (
	"fmt"
	"math"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
)

// Quantised describes the origin of an int8 template.
type Quantised struct {
	From    string `msgpack:"from" json:"from"`       // the SHA-256 of the file of the model, in hex
	By      string `msgpack:"by" json:"by"`           // source of the ranges: "batch norm", or a method
	Samples int    `msgpack:"samples" json:"samples"` // number of samples on which the ranges were measured
	// Numbers names the numbered class that the template needs and the part that made it,
	// "int8/1" and "quantise/1". If ranges were measured, the class of the devices and the
	// parts that made the samples are between them: "fma/1", "decode.jpeg/1". It is nil in
	// files of earlier builds.
	Numbers []string `msgpack:"numbers,omitempty" json:"numbers,omitempty"`
}

// Check returns an error for values that quantisation does not write.
func (q *Quantised) Check() error {
	const digits = 64
	if len(q.From) != digits || len(q.By) > digits || q.Samples < 0 {
		return fmt.Errorf("int8: from %.80q, by %.80q, over %s: want a SHA-256, a method and a number", q.From,
			q.By, problem.Plural(q.Samples, "sample"))
	}
	for _, n := range q.Numbers {
		if len(n) > digits || len(q.Numbers) > digits {
			return fmt.Errorf("int8: %s, with %.80q: want few short ones",
				problem.Plural(len(q.Numbers), "number"), n)
		}
	}
	return nil
}

// Int8 reports whether m is an int8 template: one that computes with bytes (docs/int8.md).
func (m *Model) Int8() bool {
	return slices.ContainsFunc(m.Graph.Main.Nodes, func(n graph.Node) bool { return n.Op.Int8() })
}

// TrainsInt8 reports whether m computes with bytes, and the weights of all its products of bytes are
// trained in float32: quantisation-aware training.
func (m *Model) TrainsInt8() bool {
	f := m.Graph.Main
	trains := false
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.Op == graph.ConvInt8 || n.Op == graph.DenseInt8 {
			if f.Values[n.In[1]].State != "" {
				return false
			}
			trains = true
		}
	}
	return trains
}

// Trainable returns an error for a template that cannot be trained. option and value name
// it in the error.
func (m *Model) Trainable(option, value string) error {
	if !m.Int8() || m.TrainsInt8() {
		return nil
	}
	return problem.New(option, value, "it is an int8 template: weights of bytes have no gradients",
		m.Quantised.Instead())
}

// Instead advises what to train in place of an int8 template. q is nil if its origin is
// unknown.
func (q *Quantised) Instead() string {
	advice := "train the float32 model that it was made of"
	if q != nil {
		advice += ", sha256 " + q.From
	}
	return advice + ", and quantise the result"
}

// checkInt8 checks the biases and the factors of products of bytes.
func (m *Model) checkInt8() error {
	f := m.Graph.Main
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.Op != graph.ConvInt8 && n.Op != graph.DenseInt8 {
			continue
		}
		if madeByOne(f, n.In[1:4]) {
			continue
		}
		bias, by := f.Values[n.In[2]].State, f.Values[n.In[3]].State
		if bias == "" || by == "" || f.Values[n.In[1]].State == "" {
			return fmt.Errorf("model %s: %s: weight, bias and by are no state", m.Architecture, f.NodeName(n))
		}
		for c, b := range m.State[bias].I32() {
			if b < -graph.MostBias || b > graph.MostBias {
				return fmt.Errorf("model %s: %s of channel %d is %d, want at most 2^30 either way", m.Architecture,
					bias, c, b)
			}
		}
		for c, v := range m.State[by].F32() {
			if !(v >= 0x1p-126 && v <= math.MaxFloat32) {
				return fmt.Errorf("model %s: %s of channel %d is %g, want 2^-126 to %g", m.Architecture, by, c, v,
					math.MaxFloat32)
			}
		}
	}
	return nil
}

// madeByOne reports whether a single node quantize_weight makes the weight, the bias and
// the factors of a product.
func madeByOne(f *graph.Function, operands []graph.Value) bool {
	return slices.ContainsFunc(f.Nodes, func(n graph.Node) bool {
		return n.Op == graph.QuantizeWeight && slices.Equal(n.Out[:3], operands)
	})
}
