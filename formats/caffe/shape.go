package caffe

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// reshape replaces the axes [axis, axis+num_axes) of the input by the lengths of shape: a 0
// copies the length at the same place, and a single -1 becomes the length that keeps the
// number of elements. The batch stays as it is.
func reshape(c *call) error {
	in := append([]int{1}, c.shape(0)...) // shape with the batch
	from, err1 := c.p.axis(2, 0, len(in)+1)
	count, err2 := c.p.axis(3, -1, len(in)-from+1)
	dims, err3 := c.p.lengths(1)
	if err := cmp.Or(err1, err2, err3); err != nil {
		return err
	}
	to := from + count
	if to > len(in) {
		return fmt.Errorf("reshapes axes %d to %d of %d", from, to, len(in))
	}
	out := append(slices.Clone(in[:from]), dims...)
	out = append(out, in[to:]...)
	for i := from; i < from+len(dims); i++ {
		if out[i] == 0 && i < to {
			out[i] = in[i]
		}
	}
	if len(out) > 0 && from == 0 && len(dims) > 0 && dims[0] > 1 {
		return fmt.Errorf("gives the batch the length %d; 0 or 1, which keep it, are supported", dims[0])
	}
	shape, err := fillLength(out, tensor.Count(in))
	if err != nil {
		return err
	}
	if len(shape) == 0 || shape[0] != 1 {
		return fmt.Errorf("shape %v mixes the batch with other axes", shape)
	}
	return c.done(c.node(graph.Reshape, "", c.in, "shape", shape[1:]))
}

// fillLength replaces a length of -1 so that the shape has n elements.
func fillLength(shape []int, n int) ([]int, error) {
	out := slices.Clone(shape)
	open, rest := -1, 1
	for i, s := range out {
		switch {
		case s == -1 && open < 0:
			open = i
		case s < 1 || rest > 1<<30/s:
			return nil, fmt.Errorf("shape %v", shape)
		default:
			rest *= s
		}
	}
	if open >= 0 && n%rest == 0 {
		out[open] = n / rest
		rest = n
	}
	if rest != n || len(out) > tensor.MaxRank {
		return nil, fmt.Errorf("shape %v for %d elements", shape, n)
	}
	return out, nil
}

// permute makes axis order[i] of the input axis i of the result; the batch counts as an
// axis. Axes that are not in order follow in their original order.
func permute(c *call) error {
	order, err := c.p.uints(1)
	if err != nil {
		return err
	}
	rank := len(c.shape(0)) + 1
	for a := range rank {
		if !slices.Contains(order, a) {
			order = append(order, a)
		}
	}
	if len(order) != rank || order[0] != 0 {
		return fmt.Errorf("order %v of %d axes; the batch stays in front", order, rank)
	}
	perm := make([]int, rank-1)
	for i, a := range order[1:] {
		perm[i] = a - 1
	}
	return c.done(c.node(graph.Transpose, "", c.in, "perm", perm))
}

// maxTiles limits the copies of a blob that Tile joins.
const maxTiles = 256

// tile joins copies of the input along an axis.
func tile(c *call) error {
	axis, err1 := c.p.axis(1, 1, len(c.shape(0))+1)
	n, err2 := c.p.uint(2, 0)
	if err := cmp.Or(err1, err2); err != nil {
		return err
	}
	if axis == 0 || n < 1 || n > maxTiles {
		return fmt.Errorf("%d copies along axis %d; 1 to %d along any but the batch are supported", n, axis,
			maxTiles)
	}
	return c.done(c.node(graph.Concat, "", slices.Repeat(c.in, n), "axis", axis-1))
}

// crop cuts the first input to the size of the second from axis on. There is one offset for
// all of these axes, or one for each; the default is 0.
func crop(c *call) error {
	s, like := c.shape(0), c.shape(1)
	axis, err1 := c.p.axis(1, 2, len(s)+1)
	offsets, err2 := c.p.uints(2)
	if err := cmp.Or(err1, err2); err != nil {
		return err
	}
	n := len(s) + 1 - axis
	if len(offsets) == 0 {
		offsets = []int{0}
	}
	if len(offsets) == 1 {
		offsets = slices.Repeat(offsets, n)
	}
	if axis == 0 || len(like) != len(s) || len(offsets) != n {
		return fmt.Errorf("cuts %v like %v from axis %d with %d offsets", s, like, axis, len(offsets))
	}
	begin, end := make([]int, len(s)), slices.Clone(s)
	for i, at := range offsets {
		a := axis - 1 + i
		begin[a], end[a] = at, at+like[a]
	}
	return c.done(c.node(graph.Slice, "", c.in[:1], "begin", begin, "end", end))
}
