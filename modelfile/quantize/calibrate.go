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

// The methods to choose a range from samples.
const (
	minMax       = "minmax"     // range of all numbers
	percentile   = "percentile" // range of all numbers but one in ten thousand at either end
	leastSquares = "least-squares"
)

// methods returns the names of the methods.
func methods() []string { return []string{leastSquares, percentile, minMax} }

// histogram counts the numbers of a value over samples, in bins between the ends of their
// range.
type histogram struct {
	Range
	channels []channel
	count    int // how many numbers were counted
	bins     [2048]int
}

// channel holds the counts of one channel.
type channel struct {
	Range
	sum, squares float64
}

// measuredValues returns the values of p to measure: all values that may become bytes, except a
// value that only a bound reads.
func (p *prepared) measuredValues() (values []graph.Value) {
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

// measure returns the histograms of values over samples, in two passes: the first finds the
// ends of the ranges, the second counts the numbers.
func (p *prepared) measure(ctx context.Context, s *samples, values []graph.Value) (
	map[graph.Value]*histogram, error) {
	observed, err := withOutputs(p.Model, values)
	if err != nil {
		return nil, err
	}
	all, first := map[graph.Value]*histogram{}, len(p.Graph.Main.Outputs)
	for _, v := range values {
		all[v] = newHistogram(p.Graph.Main.Values[v].Type.Shape[0])
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

// newHistogram returns an empty histogram of a value with this number of channels.
func newHistogram(channels int) *histogram {
	none := Range{math.Inf(1), math.Inf(-1)}
	return &histogram{Range: none, channels: slices.Repeat([]channel{{Range: none}}, channels)}
}

// reach extends the range of h by the numbers in t, and adds them to the sums of their
// channels.
func (h *histogram) reach(t tensor.Tensor) error {
	x, line := t.F32(), tensor.Count(t.Shape[2:])
	for i := 0; i < len(x); i += line {
		sum, squares, r := 0.0, 0.0, Range{math.Inf(1), math.Inf(-1)}
		for _, v := range x[i : i+line] {
			if !tensor.IsFinite(v) {
				return problem.Advise("look at the model with {doctor}", "it is %g for a sample", v)
			}
			r = r.union(Range{float64(v), float64(v)})
			sum += float64(v)
			squares += float64(float64(v) * float64(v))
		}
		c := &h.channels[i/line%len(h.channels)]
		c.sum, c.squares, c.Range = c.sum+sum, c.squares+squares, c.union(r)
		h.Range = h.union(r)
	}
	h.count += len(x)
	return nil
}

// fill counts numbers, once the ends are known.
func (h *histogram) fill(t tensor.Tensor) error {
	width := h.width()
	if _, err := h.scaleOf(); err != nil || width == 0 {
		return nil // the range cannot be represented in bytes
	}
	low, per, last := float32(h.Low), float32(1/width), len(h.bins)-1
	for _, v := range t.F32() {
		h.bins[min(int((v-low)*per), last)]++
	}
	return nil
}

// width returns the width of a bin.
func (h *histogram) width() float64 { return (h.High - h.Low) / float64(len(h.bins)) }

// moments returns the moments of the channels. The bounds are the measured ranges.
func (h *histogram) moments() []moments {
	out := make([]moments, len(h.channels))
	n := float64(h.count / len(out))
	for c, of := range h.channels {
		mean := of.sum / n
		out[c] = moments{mean, max(of.squares/n-float64(mean*mean), 0), of.Range}
	}
	return out
}

// rangeBy returns the range chosen by a method.
func (h *histogram) rangeBy(method string) Range {
	switch method {
	case percentile:
		return h.clippedRange(1e-4)
	case leastSquares:
		return h.closest()
	}
	return h.Range
}

// clippedRange returns the range that leaves out a fraction of the numbers at either end.
func (h *histogram) clippedRange(fraction float64) Range {
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

// closest returns the range with the least squared error from rounding and clipping, out of
// a hundred candidates that shrink both ends by the same factor.
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

// loss returns the sum of squared errors if the numbers are rounded and clipped to r.
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
