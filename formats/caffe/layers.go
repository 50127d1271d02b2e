package caffe

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// window has the settings of a convolution, for height and width.
type window struct{ kernel, stride, pad, dilation [2]int }

// convWindow reads ConvolutionParameter.
func convWindow(p param) (w window, err error) {
	for _, f := range []struct {
		to                           *[2]int
		repeated, height, width, def int
	}{{&w.kernel, 4, 11, 12, 0}, {&w.stride, 6, 13, 14, 1}, {&w.pad, 3, 9, 10, 0}, {&w.dilation, 18, 0, 0, 1}} {
		if *f.to, err = p.pair(f.repeated, f.height, f.width, f.def); err != nil {
			return w, err
		}
	}
	if min(w.kernel[0], w.kernel[1], w.stride[0], w.stride[1], w.dilation[0], w.dilation[1]) < 1 {
		return w, fmt.Errorf("kernel %v, stride %v, dilation %v", w.kernel, w.stride, w.dilation)
	}
	return w, nil
}

func convolution(c *call) error {
	w, err := convWindow(c.p)
	if err != nil {
		return err
	}
	groups, err1 := c.p.uint(5, 1)
	out, err2 := c.p.uint(1, 0)
	hasBias, err3 := c.p.uint(2, 1)
	if err := cmp.Or(err1, err2, err3); err != nil {
		return err
	}
	s := c.shape(0)
	if len(s) != 3 || groups < 1 || out < 1 || s[0]%groups != 0 || out%groups != 0 {
		return fmt.Errorf("%d outputs in %d groups of an input of shape %v", out, groups, s)
	}
	op, shape := graph.Conv, []int{out, s[0] / groups, w.kernel[0], w.kernel[1]}
	if c.kind == "Deconvolution" {
		op, shape = graph.ConvTranspose, []int{s[0], out / groups, w.kernel[0], w.kernel[1]}
	}
	weight, err := c.weight(0, "weight", graph.Weight, shape...)
	if err != nil {
		return err
	}
	in := []graph.Value{c.in[0], weight}
	if hasBias != 0 {
		v, err := c.weight(1, "bias", graph.Bias, out)
		if err != nil {
			return err
		}
		in = append(in, v)
	}
	return c.done(c.node(op, "", in, "stride", w.stride[:],
		"pad", []int{w.pad[0], w.pad[1], w.pad[0], w.pad[1]}, "dilation", w.dilation[:], "groups", groups))
}

func innerProduct(c *call) error {
	out, err1 := c.p.uint(1, 0)
	hasBias, err2 := c.p.uint(2, 1)
	turned, err3 := c.p.uint(6, 0)
	axis, err4 := c.p.axis(5, 1, len(c.shape(0))+1)
	if err := cmp.Or(err1, err2, err3, err4); err != nil {
		return err
	}
	if axis != 1 || out < 1 {
		return fmt.Errorf("%d outputs over axis %d; only axis 1 is supported", out, axis)
	}
	x := c.flat()
	weight, err := c.matrix(out, tensor.Count(c.shape(0)), turned != 0)
	if err != nil {
		return err
	}
	in := []graph.Value{x, weight}
	if hasBias != 0 {
		v, err := c.weight(1, "bias", graph.Bias, out)
		if err != nil {
			return err
		}
		in = append(in, v)
	}
	return c.done(c.node(graph.Dense, "", in))
}

// matrix loads blob 0 as [out, in]. If turned is set, the file has it as [in, out].
func (c *call) matrix(out, in int, turned bool) (graph.Value, error) {
	if !turned || len(c.blobs) == 0 {
		return c.weight(0, "weight", graph.Weight, out, in)
	}
	t, err := c.layer.blobs[0].load(in, out)
	if err != nil {
		return graph.None, fmt.Errorf("weight: %w", err)
	}
	right := tensor.New(tensor.F32, out, in)
	for i, v := range t.F32() {
		right.F32()[i%out*in+i/out] = v
	}
	return c.declare(c.name+".weight", graph.Weight, right), nil
}

// flat returns the first input as a vector.
func (c *call) flat() graph.Value {
	if len(c.shape(0)) == 1 {
		return c.in[0]
	}
	return c.node(graph.Reshape, ".flat", c.in[:1], "shape", []int{tensor.Count(c.shape(0))})
}

func flatten(c *call) error {
	axis, err1 := c.p.axis(1, 1, len(c.shape(0))+1)
	end, err2 := c.p.axis(2, -1, len(c.shape(0))+1)
	if err := cmp.Or(err1, err2); err != nil {
		return err
	}
	if axis != 1 || end != len(c.shape(0)) {
		return fmt.Errorf("flattens axes %d to %d; only all but the batch are supported", axis, end)
	}
	return c.done(c.flat())
}

func split(c *call) error {
	for _, name := range c.top {
		c.set(name, c.in[0])
	}
	return nil
}

func dropout(c *call) error {
	ratio, err := c.p.float(1, 0.5)
	if err != nil {
		return err
	}
	return c.done(c.node(graph.Dropout, "", c.in, "p", ratio))
}

func concat(c *call) error {
	old, err := c.p.uint(1, 1)
	if err != nil {
		return err
	}
	axis, err := c.p.axis(2, old, len(c.shape(0))+1)
	if err != nil {
		return err
	}
	if axis == 0 {
		return fmt.Errorf("joins batches, which is not supported")
	}
	return c.done(c.node(graph.Concat, "", c.in, "axis", axis-1))
}

func slice(c *call) error {
	s := c.shape(0)
	old, err1 := c.p.uint(1, 1)
	points, err2 := c.p.uints(2)
	if err := cmp.Or(err1, err2); err != nil {
		return err
	}
	axis, err := c.p.axis(3, old, len(s)+1)
	if err != nil {
		return err
	}
	if axis == 0 {
		return fmt.Errorf("cuts the batch, which is not supported")
	}
	n := s[axis-1]
	if points == nil && n%len(c.top) == 0 {
		for i := 1; i < len(c.top); i++ {
			points = append(points, i*n/len(c.top))
		}
	}
	if len(points) != len(c.top)-1 {
		return fmt.Errorf("%d cuts of length %d for %d outputs", len(points), n, len(c.top))
	}
	begin, end := make([]int, len(s)), slices.Clone(s)
	for i, name := range c.top {
		end[axis-1] = n
		if i < len(points) {
			end[axis-1] = points[i]
		}
		c.set(name, c.node(graph.Slice, fmt.Sprintf(".%d", i), c.in, "begin", begin, "end", end))
		begin[axis-1] = end[axis-1]
	}
	return c.Err()
}
