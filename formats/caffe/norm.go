package caffe

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

const fieldScale = 142 // scale_param

// batchNorm reads blobs (sum of means, sum of variances, factor): the statistics are the
// sums divided by the factor, or 0 if the factor is 0. Variances are unbiased. gamma and
// beta come from the Scale layer that follows.
func batchNorm(c *call) error {
	eps, err1 := c.p.float(3, 1e-5)
	decay, err2 := c.decay()
	running, err3 := c.p.uint(1, 1)
	if err := cmp.Or(err1, err2, err3); err != nil {
		return err
	}
	if running == 0 && c.net.phase == train {
		c.note("trains with the statistics of its batch (use_global_stats is false); " +
			"prediction takes the running ones")
	}
	if running == 0 && c.net.phase == test {
		return problem.Advise("set it to true, or leave it out, to take the running statistics",
			"use_global_stats is false: the network would normalise by its batch in prediction too")
	}
	if len(c.layer.blobs) != 3 {
		return fmt.Errorf("has %d blobs, want 3: mean, variance and factor", len(c.layer.blobs))
	}
	if len(c.shape(0)) == 0 {
		return errors.New("an input without channels")
	}
	n := c.shape(0)[0]
	factor, err := c.layer.blobs[2].load(1)
	if err != nil {
		return fmt.Errorf("factor: %w", err)
	}
	var stats [2]graph.Value
	for i, name := range []string{"running_mean", "running_var"} {
		t, err := c.layer.blobs[i].load(n)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		divide(t.F32(), factor.F32()[0])
		stats[i] = c.declare(c.name+"."+name, []graph.Role{graph.Mean, graph.Variance}[i], t)
	}
	gamma, beta, top, err := c.affine(n) // after the statistics: they show that n channels are in the file
	if err != nil {
		return err
	}
	in := []graph.Value{c.in[0], gamma, beta, stats[0], stats[1]}
	c.set(top, c.node(graph.BatchNorm, "", in, "eps", eps, "decay", decay))
	return c.Err()
}

// decay returns the weight of the old value in the running statistics. A weight of 1, which
// would keep them unchanged, is replaced by the default.
func (c *call) decay() (float64, error) {
	const otherwise = 0.999 // default of Caffe
	d, err := c.p.float(2, otherwise)
	switch {
	case err != nil:
		return 0, err
	case d == 1:
		c.note("moving_average_fraction 1 would keep the running statistics of training as they are; 0.999 is " +
			"taken, as where a file does not say it")
		return otherwise, nil
	case !(d >= 0 && d < 1):
		return 0, fmt.Errorf("moving_average_fraction is %v; the share of the old statistics that stays is at "+
			"least 0 and less than 1", d)
	}
	return d, nil
}

// note adds a remark about the layer to the file.
func (c *call) note(text string) {
	if c.file != nil {
		c.file.Find(c.name, text, "")
	}
}

func divide(v []float32, divisor float32) {
	for i, x := range v {
		if divisor == 0 {
			v[i] = 0
			continue
		}
		v[i] = float32(float64(x) / float64(divisor))
	}
}

// affine returns gamma and beta of n channels and the name of the resulting blob. They come
// from the Scale layer if it is the only reader of the batch norm's output; otherwise they
// are 1 and 0.
func (c *call) affine(n int) (gamma, beta graph.Value, top string, err error) {
	l := c.scaleBehind()
	if l == nil {
		return c.constant("weight", n, 1), c.constant("bias", n, 0), c.top[0], nil
	}
	withBias, err := l.params[fieldScale].uint(4, 0)
	if err != nil {
		return
	}
	s := &call{build: c.build, layer: &layer{name: c.name, blobs: l.blobs}}
	if gamma, err = s.weight(0, "weight", graph.Gamma, n); err != nil {
		return
	}
	if withBias == 0 {
		beta = c.constant("bias", n, 0)
	} else if beta, err = s.weight(1, "bias", graph.Beta, n); err != nil {
		return
	}
	l.absorbed = true
	return gamma, beta, l.top[0], nil
}

// scaleBehind returns the Scale layer that multiplies by a factor for each channel and is
// the only reader of the layer's output. It returns nil if there is no such layer.
func (c *call) scaleBehind() *layer {
	var readers []*layer
	for _, l := range c.net.layers[c.index+1:] {
		if slices.Contains(l.bottom, c.top[0]) {
			readers = append(readers, l)
		}
		if slices.Contains(l.top, c.top[0]) {
			break // later layers read another blob of the same name
		}
	}
	if len(readers) != 1 || readers[0].kind != "Scale" {
		return nil
	}
	if len(readers[0].bottom) != 1 || len(readers[0].top) != 1 {
		return nil
	}
	p := readers[0].params[fieldScale]
	axis, err1 := p.axis(1, 1, len(c.shape(0))+1)
	axes, err2 := p.signed(2, 1)
	if err1 != nil || err2 != nil || axis != 1 || axes != 1 {
		return nil
	}
	return readers[0]
}

// scale makes the nodes of a Scale layer that is not part of a batch norm. It multiplies by
// a weight, or by a second input.
func scale(c *call) error {
	if len(c.in) == 2 {
		return c.scaleBy()
	}
	withBias, err := c.p.uint(4, 0)
	if err != nil {
		return err
	}
	shape, err := c.perChannel()
	if err != nil {
		return err
	}
	gamma, err := c.weight(0, "weight", graph.Weight, shape...)
	if err != nil {
		return err
	}
	v := c.node(graph.Mul, "", []graph.Value{c.in[0], gamma})
	if withBias != 0 {
		beta, err := c.weight(1, "bias", graph.Bias, shape...)
		if err != nil {
			return err
		}
		v = c.node(graph.Add, ".add", []graph.Value{v, beta})
	}
	return c.done(v)
}

// scaleBy multiplies by a second input. The axes of the second input match the first axes
// of the first input. Both have the batch as axis 0, so a second input of [N,C] scales the
// channels of [N,C,H,W].
func (c *call) scaleBy() error {
	rank := len(c.shape(0))
	axis, err1 := c.p.axis(1, 1, rank+1)
	withBias, err2 := c.p.uint(4, 0)
	if err := cmp.Or(err1, err2); err != nil {
		return err
	}
	by := c.shape(1)
	if axis != 0 || withBias != 0 || len(by) > rank {
		return fmt.Errorf("by an input of shape %v from axis %d; only axis 0, the batch, without bias is supported",
			by, axis)
	}
	for i, n := range by {
		if n != c.shape(0)[i] {
			return fmt.Errorf("by an input of shape %v of one of shape %v", by, c.shape(0))
		}
	}
	full := append(slices.Clone(by), slices.Repeat([]int{1}, rank-len(by))...)
	v := c.in[1]
	if len(full) > len(by) {
		v = c.node(graph.Reshape, ".by", []graph.Value{v}, "shape", full)
	}
	return c.done(c.node(graph.Mul, "", []graph.Value{c.in[0], v}))
}

func bias(c *call) error {
	shape, err := c.perChannel()
	if err != nil {
		return err
	}
	v, err := c.weight(0, "bias", graph.Bias, shape...)
	if err != nil {
		return err
	}
	return c.done(c.node(graph.Add, "", []graph.Value{c.in[0], v}))
}

// perChannel returns the shape that broadcasts a vector over channels to the input:
// [C,1,1].
func (c *call) perChannel() ([]int, error) {
	rank := len(c.shape(0))
	axis, err1 := c.p.axis(1, 1, rank+1)
	axes, err2 := c.p.signed(2, 1)
	if err := cmp.Or(err1, err2); err != nil {
		return nil, err
	}
	if axes < 0 {
		axes = rank + 1 - axis // all axes from axis on
	}
	if axis != 1 || axes != 1 || rank == 0 || rank > tensor.MaxRank {
		return nil, fmt.Errorf("works over %d axes from %d; only channels are supported", axes, axis)
	}
	shape := slices.Repeat([]int{1}, rank)
	shape[0] = c.shape(0)[0]
	return shape, nil
}
