package caffe

import (
	"cmp"
	"fmt"

	"github.com/bnctl/bnctl/graph"
)

// withinChannel is NormRegion WITHIN_CHANNEL.
const withinChannel = 1

// lrn computes x / (k + alpha*mean(x*x))^beta. The mean is over local_size channels around
// each channel, with zeros beyond the first and the last. In the mode WITHIN_CHANNEL the
// mean is over a window of the image, and k is 1.
func lrn(c *call) error {
	s := c.shape(0)
	size, err1 := c.p.uint(1, 5)
	alpha, err2 := c.p.float(2, 1)
	beta, err3 := c.p.float(3, 0.75)
	region, err4 := c.p.uint(4, 0)
	k, err5 := c.p.float(5, 1)
	if err := cmp.Or(err1, err2, err3, err4, err5); err != nil {
		return err
	}
	if len(s) != 3 || size < 1 || size%2 == 0 || region > withinChannel {
		return fmt.Errorf("over %d elements of an input of shape %v in region %d", size, s, region)
	}
	squares := c.node(graph.Mul, ".squares", []graph.Value{c.in[0], c.in[0]})
	half := size / 2
	kernel, pad := []int{size, 1}, []int{half, 0, half, 0}
	lines := []int{1, s[0], s[1] * s[2]} // channels as the rows of an image
	if region == withinChannel {
		k, lines = 1, s
		kernel, pad = []int{size, size}, []int{half, half, half, half}
	}
	v := c.node(graph.Reshape, ".lines", []graph.Value{squares}, "shape", lines)
	v = c.node(graph.AvgPool, ".mean", []graph.Value{v}, "kernel", kernel, "pad", pad, "count_pad", true)
	v = c.node(graph.Reshape, ".image", []graph.Value{v}, "shape", s)
	v = c.node(graph.Affine, ".sum", []graph.Value{v}, "by", alpha, "add", k)
	return c.done(c.node(graph.Div, "", []graph.Value{c.in[0], c.power(v, beta)}))
}

// power computes v^exponent for positive v: exp(exponent*log(v)).
func (c *call) power(v graph.Value, exponent float64) graph.Value {
	v = c.node(graph.Log, ".log", []graph.Value{v})
	v = c.node(graph.Affine, ".exponent", []graph.Value{v}, "by", exponent)
	return c.node(graph.Exp, ".power", []graph.Value{v})
}

// normalize computes x / sqrt(sum(x*x) + eps) * scale, the layer of SSD: the sum is over
// the channels, or over all of an image; there is one scale, or one per channel.
func normalize(c *call) error {
	s := c.shape(0)
	across, err1 := c.p.uint(1, 1)
	shared, err2 := c.p.uint(3, 1)
	eps, err3 := c.p.float(4, 1e-10)
	if err := cmp.Or(err1, err2, err3); err != nil {
		return err
	}
	if len(s) != 3 {
		return fmt.Errorf("an input of shape %v, want channels, height and width", s)
	}
	axes, scales := []int{0}, []int{s[0], 1, 1}
	if across != 0 {
		axes = []int{0, 1, 2}
	}
	if shared != 0 {
		scales = []int{1, 1, 1}
	}
	scale, err := c.weight(0, "weight", graph.Weight, scales...)
	if err != nil {
		return err
	}
	v := c.node(graph.Mul, ".squares", []graph.Value{c.in[0], c.in[0]})
	v = c.node(graph.ReduceSum, ".sum", []graph.Value{v}, "axes", axes, "keep", true)
	v = c.node(graph.Affine, ".eps", []graph.Value{v}, "add", eps)
	v = c.node(graph.Sqrt, ".norm", []graph.Value{v})
	v = c.node(graph.Div, ".unit", []graph.Value{c.in[0], v})
	return c.done(c.node(graph.Mul, "", []graph.Value{v, scale}))
}
