package quantize

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// Without data the distribution of a feature map comes from its batch norm: the result of
// channel c has mean beta and deviation |gamma|, and is assumed to be normal (Nagel et al.
// 2019, arXiv 1906.04721). The moments of the values that follow, up to the next batch
// norm, are computed from these. Channels are assumed to be independent.

// statistics are the moments of the channels of values of a function, and their sources.
// Unknown moments are absent.
type statistics struct {
	model   *models.Model
	moments map[graph.Value][]moments
	source  map[graph.Value]string
	norms   map[string][]moments // moments of batch norms that became part of a layer, by the names of both
}

// normMoments returns the moments from the batch norms of m, by the names of their results
// and of the layers before them.
func normMoments(m *models.Model) map[string][]moments {
	all, f, makers := map[string][]moments{}, m.Graph.Main, m.Graph.Main.Makers()
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.Op != graph.BatchNorm || f.Values[n.In[1]].State == "" || f.Values[n.In[2]].State == "" {
			continue
		}
		gamma, beta := m.State[f.Values[n.In[1]].State].F32(), m.State[f.Values[n.In[2]].State].F32()
		list := make([]moments, len(gamma))
		for c, g := range gamma {
			list[c] = moments{float64(beta[c]), float64(g) * float64(g), unbounded}
		}
		all[f.Values[n.Out[0]].Name] = list
		if before := makers[n.In[0]]; before != nil {
			all[f.Values[before.Out[0]].Name] = list
		}
	}
	return all
}

// learn computes the moments of all values of f that can be known.
func (s *statistics) learn(f *graph.Function) {
	for i := range f.Nodes {
		n := &f.Nodes[i]
		y := n.Out[0]
		known, ok := s.norms[f.Values[y].Name]
		if ok && (n.Op == graph.BatchNorm || isProduct(n.Op) && !normalised(f, y)) {
			s.moments[y], s.source[y] = known, "batch norm"
			continue
		}
		if list := s.node(f, n); list != nil {
			s.moments[y], s.source[y] = list, "computed"
			if n.Op == graph.Image {
				s.source[y] = "pixels"
			} else if of := s.source[n.In[0]]; len(n.In) == 1 && of != "" {
				s.source[y] = of
			}
		}
	}
}

// normalised reports whether a batch norm still reads v. If so, v does not have the moments
// of the norm's result.
func normalised(f *graph.Function, v graph.Value) bool {
	return slices.ContainsFunc(f.Nodes, func(n graph.Node) bool {
		return n.Op == graph.BatchNorm && n.In[0] == v
	})
}

func isProduct(o graph.Op) bool { return o == graph.Conv || o == graph.Dense }

// node returns the moments of a node's result, nil if they are not known.
func (s *statistics) node(f *graph.Function, n *graph.Node) []moments {
	if n.Op == graph.Image {
		return imageMoments(n, f.Values[n.Out[0]].Type.Shape[0])
	}
	x, y := s.moments[n.In[0]], f.Values[n.Out[0]].Type.Shape
	if x == nil {
		return nil
	}
	switch n.Op {
	case graph.Conv, graph.Dense:
		return s.product(f, n, x)
	case graph.MaxPool, graph.AvgPool, graph.GlobalAvgPool, graph.Upsample, graph.Dropout:
		return x
	case graph.ReduceMean:
		if n.Bool("keep") || len(y) == 1 {
			return x
		}
	case graph.Reshape:
		return repeated(x, f.Values[n.In[0]].Type.Shape, y)
	case graph.Slice, graph.Take, graph.Transpose, graph.Pad:
		return picked(n, x)
	case graph.Add, graph.Mul:
		return s.pair(n, x)
	case graph.Concat:
		return s.concat(n)
	}
	if act := activationOf(n); act != nil {
		out := make([]moments, len(x))
		for c := range x {
			out[c] = x[c].transformed(act.f, act.image(x[c].bounds))
		}
		return out
	}
	return nil
}

// imageMoments returns the moments of pixels: all bytes are possible.
func imageMoments(n *graph.Node, channels int) []moments {
	out := make([]moments, channels)
	for c := range out {
		mean, std := 0.0, 1.0
		if l := n.Floats("mean"); len(l) > 0 {
			mean = l[c]
		}
		if l := n.Floats("std"); len(l) > 0 {
			std = l[c]
		}
		at := func(pixel float64) float64 { return (float64(pixel*n.Float("scale")) - mean) / std }
		ends := Range{min(at(0), at(255)), max(at(0), at(255))}
		deviation := (ends.High - ends.Low) / 4
		out[c] = moments{at(255.0 / 2), deviation * deviation, ends}
	}
	return out
}

// product returns the moments of a layer without a batch norm.
func (s *statistics) product(f *graph.Function, n *graph.Node, x []moments) []moments {
	t, ok := s.model.State[f.Values[n.In[1]].State]
	if !ok || n.Op == graph.Dense && n.Int("leading") > 0 {
		return nil
	}
	w, out := t.F32(), make([]moments, t.Shape[0])
	size, taps := t.Count()/t.Shape[0], tensor.Count(t.Shape[2:])
	per := len(x) / groups(n)
	for o := range out {
		m, first := moments{bounds: unbounded}, o/(len(out)/groups(n))*per
		for k, v := range w[o*size : (o+1)*size] {
			c := x[first+k/taps]
			m.mean += float64(float64(v) * c.mean)
			m.variance += float64(float64(v) * float64(v) * c.variance)
		}
		if b := s.bias(f, n); b != nil {
			m.mean += float64(b[o])
		}
		out[o] = m
	}
	return out
}

func groups(n *graph.Node) int {
	if n.Op == graph.Conv {
		return n.Int("groups")
	}
	return 1
}

// bias returns the bias of a layer, or nil if it has none.
func (s *statistics) bias(f *graph.Function, n *graph.Node) []float32 {
	if len(n.In) < 3 || n.In[2] == graph.None {
		return nil
	}
	return s.model.State[f.Values[n.In[2]].State].F32()
}

// pair returns the moments of the sum or the product of two values.
func (s *statistics) pair(n *graph.Node, x []moments) []moments {
	y := s.moments[n.In[1]]
	if len(x) != len(y) {
		return nil
	}
	out := make([]moments, len(x))
	for c := range x {
		if n.Op == graph.Add {
			out[c] = x[c].plus(y[c])
		} else {
			out[c] = x[c].times(y[c])
		}
	}
	return out
}

// picked returns the moments of the channels that a node selects, keeps or adds. It returns
// nil if the channels move to another axis, or are padded with a number other than 0.
func picked(n *graph.Node, x []moments) []moments {
	switch n.Op {
	case graph.Slice:
		var out []moments
		for c := n.Ints("begin")[0]; c < n.Ints("end")[0]; c += n.SliceStep()[0] {
			out = append(out, x[c])
		}
		return out
	case graph.Take:
		if n.Int("axis") != 0 {
			return x
		}
		var out []moments
		for _, c := range n.Ints("index") {
			out = append(out, x[c])
		}
		return out
	case graph.Pad:
		if n.Float("value") != 0 {
			return nil // the value may be outside the range of the moments
		}
		none := []moments{{}}
		before, after := n.Ints("before")[0], n.Ints("after")[0]
		return slices.Concat(slices.Repeat(none, before), x, slices.Repeat(none, after))
	}
	if n.Ints("perm")[0] != 0 {
		return nil
	}
	return x
}

func (s *statistics) concat(n *graph.Node) []moments {
	var out []moments
	for _, v := range n.In {
		if s.moments[v] == nil || n.Int("axis") != 0 {
			return nil
		}
		out = append(out, s.moments[v]...)
	}
	return out
}

// repeated returns the moments of channels after a reshape that makes each of their numbers
// a channel.
func repeated(x []moments, oldShape, newShape []int) []moments {
	if len(oldShape) == 0 || len(oldShape) > 1 && len(newShape) > 1 && newShape[0] == oldShape[0] ||
		len(x) != oldShape[0] {
		return x
	}
	if len(newShape) != 1 {
		return nil
	}
	var out []moments
	for _, m := range x {
		out = append(out, slices.Repeat([]moments{m}, tensor.Count(oldShape[1:]))...)
	}
	return out
}

// activation is a function of one number, with the range of its results for all numbers.
type activation struct {
	f      func(float64) float64
	bounds Range
}

// image returns bounds of the results for numbers within r.
func (a *activation) image(r Range) Range {
	const far = 1e30
	low, high := a.f(max(r.Low, -far)), a.f(min(r.High, far))
	least := a.bounds.Low
	if falls := !math.IsInf(least, 0) && a.f(-far) > least; falls && r.Low < 0 {
		low = least // silu and similar functions fall before they rise
	}
	return Range{max(a.bounds.Low, min(low, 0)), min(a.bounds.High, max(high, 0))}
}

// activationOf returns the activation of a node, nil if it cannot be applied to bytes.
func activationOf(n *graph.Node) *activation {
	inf := math.Inf(1)
	bounds := map[graph.Op]Range{graph.Relu: {0, inf}, graph.Relu6: {0, 6}, graph.LeakyRelu: unbounded,
		graph.Elu: {-inf, inf}, graph.Sigmoid: {0, 1}, graph.HardSigmoid: {0, 1}, graph.Silu: {-0.2785, inf},
		graph.HardSwish: {-0.375, inf}, graph.Tanh: {-1, 1}, graph.Softplus: {0, inf}, graph.Erf: {-1, 1},
		graph.Gelu: {-0.17, inf}, graph.GeluTanh: {-0.1701, inf}, graph.Mish: {-0.3089, inf}}
	if n.Op == graph.Clip {
		return &activation{class.Activation(n), Range{n.Float("min"), n.Float("max")}}
	}
	b, ok := bounds[n.Op]
	if !ok {
		return nil
	}
	return &activation{class.Activation(n), b}
}

// rangeOf returns the range of a value with known moments, by this number of deviations of
// each channel.
func (s *statistics) rangeOf(v graph.Value, deviations float64) Range {
	r := Range{math.Inf(1), math.Inf(-1)}
	for _, m := range s.moments[v] {
		c := m.rangeWithin(deviations)
		r = Range{min(r.Low, c.Low), max(r.High, c.High)}
	}
	return r
}
