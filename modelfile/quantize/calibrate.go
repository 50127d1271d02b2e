package quantize

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// The ways to a range from samples.
const (
	minMax       = "minmax"     // of all numbers
	percentile   = "percentile" // all but one in ten thousand at either end
	leastSquares = "least-squares"
)

// methods returns the ways to a range.
func methods() []string { return []string{leastSquares, percentile, minMax} }

// histogram counts the numbers of a value.
type histogram struct {
	Range
	sums  []float64 // of the channels
	count int       // of numbers
	bins  [2048]int
}

// wanted returns the values of p whose ranges are measured: all that may be bytes, without those that only a
// bound reads.
func (p *prepared) wanted() (values []graph.Value) {
	f := p.Graph.Main
	users := f.Users()
	for _, v := range f.Inputs {
		if t := f.Values[v].Type; t.Kind == graph.Rows && t.DType == tensor.F32 && len(t.Shape) > 0 {
			values = append(values, v)
		}
	}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		t := f.Values[n.Out[0]].Type
		_, passes := bounded(f, users, n.Out[0])
		if t.Kind != graph.Rows || t.DType != tensor.F32 || len(t.Shape) == 0 || onlyMoves(n.Op) ||
			passes && !p.remains(f.NodeName(&f.Nodes[users[n.Out[0]][0]])) {
			continue
		}
		values = append(values, n.Out[0])
	}
	return values
}

func onlyMoves(o graph.Op) bool {
	return slices.Contains([]graph.Op{graph.Reshape, graph.Slice, graph.Transpose, graph.Take, graph.Pad,
		graph.MaxPool}, o)
}

// measure returns the histograms of values over samples, in two passes: ends first.
func (p *prepared) measure(ctx context.Context, s *samples, values []graph.Value) (
	map[graph.Value]*histogram, error) {
	observed, err := withOutputs(p.Model, values)
	if err != nil {
		return nil, err
	}
	all, first := map[graph.Value]*histogram{}, len(p.Graph.Main.Outputs)
	for _, v := range values {
		all[v] = &histogram{Range: Range{math.Inf(1), math.Inf(-1)},
			sums: make([]float64, p.Graph.Main.Values[v].Type.Shape[0])}
	}
	for _, pass := range []func(*histogram, tensor.Tensor) error{(*histogram).reach, (*histogram).fill} {
		err := s.each(ctx, func(outputs [][]tensor.Tensor) error {
			for i, v := range values {
				if err := pass(all[v], outputs[0][first+i]); err != nil {
					return fmt.Errorf("%s: %w", p.Graph.Main.Values[v].Name, err)
				}
			}
			return nil
		}, observed)
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// reach takes in the ends of some rows, and the sums of channels.
func (h *histogram) reach(t tensor.Tensor) error {
	x, line := t.F32(), tensor.Count(t.Shape[2:])
	for i := 0; i < len(x); i += line {
		sum := 0.0
		for _, v := range x[i : i+line] {
			if !tensor.IsFinite(v) {
				return problem.Advise("look at the model with {doctor}", "it is %g for a sample", v)
			}
			h.Low, h.High = min(h.Low, float64(v)), max(h.High, float64(v))
			sum += float64(v)
		}
		h.sums[i/line%len(h.sums)] += sum
	}
	h.count += len(x)
	return nil
}

// fill counts numbers, once the ends are known.
func (h *histogram) fill(t tensor.Tensor) error {
	width := h.width()
	if _, err := h.scaleOf(); err != nil || width == 0 {
		return nil // no bytes are made of such a range
	}
	low, per, last := float32(h.Low), float32(1/width), len(h.bins)-1
	for _, v := range t.F32() {
		h.bins[min(int((v-low)*per), last)]++
	}
	return nil
}

// width returns that of a bin.
func (h *histogram) width() float64 { return (h.High - h.Low) / float64(len(h.bins)) }

// means returns those of the channels.
func (h *histogram) means() []float64 {
	out := slices.Clone(h.sums)
	for c := range out {
		out[c] /= float64(h.count / len(out))
	}
	return out
}

// rangeBy returns the range by a method.
func (h *histogram) rangeBy(method string) Range {
	switch method {
	case percentile:
		return h.without(1e-4)
	case leastSquares:
		return h.closest()
	}
	return h.Range
}

// without leaves out a fraction of the numbers at either end.
func (h *histogram) without(fraction float64) Range {
	most := int(fraction * float64(h.count))
	first, last := 0, len(h.bins)-1
	for sum := h.bins[first]; sum <= most && first < last; sum += h.bins[first] {
		first++
	}
	for sum := h.bins[last]; sum <= most && last > first; sum += h.bins[last] {
		last--
	}
	return Range{h.Low + float64(float64(first)*h.width()), h.Low + float64(float64(last+1)*h.width())}
}

// closest returns the range whose steps and ends change the numbers least, of a hundred that are cut off
// at both ends alike.
func (h *histogram) closest() Range {
	best, least := h.Range, math.Inf(1)
	for i := range 100 {
		by := 1 - float64(i)/125
		r := Range{min(h.Low, 0) * by, max(h.High, 0) * by}
		if loss := h.loss(r); loss < least {
			best, least = r, loss
		}
	}
	return best
}

// loss returns the sum of squares that a range changes.
func (h *histogram) loss(r Range) float64 {
	step, sum := (r.High-r.Low)/steps, 0.0
	rounding := step * step / 12
	for i, n := range h.bins {
		x := h.Low + float64((float64(i)+0.5)*h.width())
		off := max(r.Low-x, x-r.High, 0)
		sum += float64(float64(n) * (float64(off*off) + rounding))
	}
	return sum
}

// bySamples builds the template with ranges that are measured: by a method, or "" by that of which the
// model's first output loses least.
func (p *prepared) bySamples(ctx context.Context, s *samples, method string) (best *built, by string,
	err error) {
	values := p.wanted()
	all, err := p.measure(ctx, s, values)
	if err != nil {
		return nil, "", err
	}
	ways := methods()
	if method != "" {
		ways = []string{method}
	}
	means := map[graph.Value][]float64{}
	for v, h := range all {
		means[v] = h.means()
	}
	least := math.Inf(1)
	for _, m := range ways {
		ranges := map[graph.Value]Range{}
		for v, h := range all {
			ranges[v] = h.rangeBy(m)
		}
		p.spreadRanges(ranges)
		b, err := build(p.Model, ranges, p.spreadMeans(means), p.remains)
		if err != nil {
			return nil, "", err
		}
		loss, err := p.compare(ctx, s, b)
		if err != nil {
			return nil, "", err
		}
		if loss < least || best == nil {
			best, by, least = b, m, loss
		}
	}
	for i := range best.layers {
		if best.layers[i].Range != nil {
			best.layers[i].From = by
		}
	}
	return best, by, nil
}

// spreadRanges adds those of values that are moved before they become bytes.
func (p *prepared) spreadRanges(ranges map[graph.Value]Range) {
	f := p.Graph.Main
	for i := range f.Nodes {
		n := &f.Nodes[i]
		r, ok := ranges[n.In[0]]
		if ok && onlyMoves(n.Op) && (n.Op != graph.Pad || n.Float("value") == 0) {
			ranges[n.Out[0]] = r
		}
	}
}

// spreadMeans adds the means of values that only have another shape.
func (p *prepared) spreadMeans(means map[graph.Value][]float64) map[graph.Value][]float64 {
	f := p.Graph.Main
	for i := range f.Nodes {
		n := &f.Nodes[i]
		m := means[n.In[0]]
		if n.Op != graph.Reshape || m == nil {
			continue
		}
		list := make([]moments, len(m))
		for c, v := range m {
			list[c].mean = v
		}
		var out []float64
		for _, c := range repeated(list, f.Values[n.In[0]].Type.Shape, f.Values[n.Out[0]].Type.Shape) {
			out = append(out, c.mean)
		}
		means[n.Out[0]] = out
	}
	return means
}

// compare runs p and the template that was made of it, sets the signal to noise of its layers, and returns
// how far the first outputs are apart: the sum of squares over that of p's.
func (p *prepared) compare(ctx context.Context, s *samples, b *built) (float64, error) {
	var mine, its []graph.Value
	table := append([]graph.State{}, b.Graph.State...)
	more := graph.Extend(b.Graph.Main, &table)
	for _, l := range b.layers {
		if q, ok := b.bytes[l.value]; ok && l.Range != nil {
			mine = append(mine, l.value)
			name := more.UniqueName(b.Graph.Main.Values[q.value].Name + ".measured")
			its = append(its, more.Op(graph.Dequantize, name, []graph.Value{q.value}, "scale", q.scale.of, "zero",
				q.scale.zero))
		}
	}
	main, err := more.Function()
	if err != nil {
		return 0, err
	}
	bytes := *b.Model
	bytes.Graph = &graph.Graph{Name: b.Graph.Name, State: table, Main: main}
	numbers, err := withOutputs(p.Model, mine)
	if err != nil {
		return 0, err
	}
	measured, err := withOutputs(&bytes, its)
	if err != nil {
		return 0, err
	}
	signal, noise := make([]float64, len(mine)+1), make([]float64, len(mine)+1)
	first := len(p.Graph.Main.Outputs)
	err = s.each(ctx, func(outputs [][]tensor.Tensor) error {
		for i := range signal {
			at := max(first+i-1, 0)
			if i == 0 {
				at = 0
			}
			got := outputs[1][at].F32()
			for k, w := range outputs[0][at].F32() {
				off := float64(w) - float64(got[k])
				signal[i] += float64(w) * float64(w)
				noise[i] += off * off
			}
		}
		return nil
	}, numbers, measured)
	i := 0
	for k := range b.layers {
		if l := &b.layers[k]; l.Range != nil {
			i++
			l.Noise = decibels(signal[i], noise[i])
		}
	}
	return noise[0] / max(signal[0], 1e-300), err
}
