package caffe

import (
	"cmp"
	"fmt"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
)

// pooling makes a pooling node. Caffe rounds the size of the output up, so the last window
// may reach beyond the padding. Averages include padding, but not positions beyond it.
func pooling(c *call) error {
	s := c.shape(0)
	if len(s) != 3 {
		return fmt.Errorf("an input of shape %v, want channels, height and width", s)
	}
	how, err1 := c.p.uint(1, 0)
	global, err2 := c.p.uint(12, 0)
	if err := cmp.Or(err1, err2); err != nil {
		return err
	}
	if how > 1 {
		return fmt.Errorf("method %d; maximum and average are supported", how)
	}
	if global != 0 {
		return globalPool(c, how, s)
	}
	kernel, err1 := c.p.pair(2, 5, 6, 0)
	stride, err2 := c.p.pair(3, 7, 8, 1)
	pad, err3 := c.p.pair(4, 9, 10, 0)
	if err := cmp.Or(err1, err2, err3); err != nil {
		return err
	}
	if min(kernel[0], kernel[1], stride[0], stride[1]) < 1 {
		return fmt.Errorf("kernel %v, stride %v", kernel, stride)
	}
	down, err := c.roundsDown(kernel, stride, pad)
	if err != nil {
		return err
	}
	return pool(c, how, kernel, stride, pad, down)
}

// roundsDown reports whether the size of the output is rounded down. Caffe rounds up unless
// field 13, round_mode, is FLOOR, which is 1. In some forks field 13 is ceil_mode, and 1
// means up. A file of weights does not show the meaning of the field, so it is rejected if
// it matters.
func (c *call) roundsDown(kernel, stride, pad [2]int) (bool, error) {
	round, err1 := c.p.uint(13, -1)
	up, err2 := c.p.uint(1013, -1)
	if err := cmp.Or(err1, err2); err != nil {
		return false, err
	}
	even := true
	for i := range 2 {
		even = even && (c.shape(0)[1+i]+2*pad[i]-kernel[i])%stride[i] == 0
	}
	if round >= 0 && c.net.phase != test && !even {
		return false, problem.Failure("", fmt.Sprintf("field 13 of pooling_param is %d: round_mode in Caffe, "+
			"ceil_mode in its forks, which mean the opposite", round),
			"name the network's deploy.prototxt with {arch}")
	}
	return (round == 1 || up == 0) && !even, nil
}

const average = 1 // PoolMethod AVE

func globalPool(c *call, kind int, s []int) error {
	if kind == average {
		return c.done(c.node(graph.GlobalAvgPool, "", c.in))
	}
	return c.done(c.node(graph.MaxPool, "", c.in, "kernel", s[1:], "stride", s[1:]))
}

func pool(c *call, kind int, kernel, stride, pad [2]int, roundDown bool) error {
	full := []int{pad[0], pad[1], 0, 0} // top, left, bottom, right
	beyond := false
	for i := range 2 {
		after, over, err := padAfter(c.shape(0)[1+i], kernel[i], stride[i], pad[i], roundDown, pad != [2]int{})
		if err != nil {
			return err
		}
		full[2+i] = after
		beyond = beyond || over
	}
	attrs := []any{"kernel", kernel[:], "stride", stride[:], "pad", full}
	if kind != average {
		return c.done(c.node(graph.MaxPool, "", c.in, attrs...))
	}
	padded := pad[0]+pad[1] > 0
	if padded && beyond {
		return fmt.Errorf("windows that average padding and reach beyond it are not supported")
	}
	return c.done(c.node(graph.AvgPool, "", c.in, append(attrs, "count_pad", padded)...))
}

// padAfter returns the padding at the far side (end) that gives the same number of windows as Caffe. reaches
// reports whether the last window reaches beyond Caffe's padding. If either axis is padded, windows that
// begin after the end of the image are dropped on both axes.
func padAfter(n, kernel, stride, pad int, roundDown, padded bool) (end int, reaches bool, err error) {
	if kernel > n+2*pad || pad >= kernel {
		return 0, false, fmt.Errorf("kernel %d with padding %d over a length of %d", kernel, pad, n)
	}
	windows := (n+2*pad-kernel+stride-1)/stride + 1
	if roundDown {
		windows = (n+2*pad-kernel)/stride + 1
	}
	if padded && (windows-1)*stride >= n+pad {
		windows-- // the last one would begin in the padding
	}
	need := (windows-1)*stride + kernel - n - pad
	return max(need, 0), need > pad, nil
}
