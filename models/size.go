package models

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
)

// ParseSize reads height and width of pictures, "256x256"; the Channels of the
// result are 0. The error is a *problem.Error of size.
func ParseSize(text string) (s Size, err error) {
	n, err := fmt.Sscanf(text+"\n", "%dx%d\n", &s.Height, &s.Width)
	if n != 2 || err != nil || s.Height < 1 || s.Width < 1 || s.Height > maxSide || s.Width > maxSide {
		return Size{}, problem.New("size", strconv.Quote(text),
			fmt.Sprintf("want height x width, as 256x256, of at most %d each", maxSide), "")
	}
	return s, nil
}

// Sides writes height and width alone, as ParseSize reads them.
func (s Size) Sides() string { return fmt.Sprintf("%dx%d", s.Height, s.Width) }

// Size returns the size of m's input as pictures, or as arrays of pictures' shape; ok is
// false for other inputs, for example arrays of two axes.
func (m *Model) Size() (s Size, ok bool) {
	t, order, err := m.pixels()
	if err != nil || order == noChannels {
		return Size{}, false
	}
	return order.size(t.Shape), true
}

// SizeOf returns the size that arrays of the given shape have as pictures for m. ok is
// false if they have other channels or another order of axes than m's input.
func (m *Model) SizeOf(shape []int) (s Size, ok bool) {
	is, ok := m.Size()
	if !ok || len(shape) != 3 {
		return Size{}, false
	}
	_, order, _ := m.pixels()
	s = order.size(shape)
	return s, s.Channels == is.Channels
}

// WithSize returns m with the nodes of its graph for pictures of another height and width.
// The result shares the state of m. It returns a *problem.Error of size if the graph does
// not support them: a dense layer after a flattened map depends on the number of its
// positions.
func WithSize(m *Model, height, width int) (*Model, error) {
	s, ok := m.Size()
	if !ok {
		return nil, problem.New("size", Size{height, width, 0}.Sides(), fmt.Sprintf(
			"model %s takes %v: no images of 1 or 3 channels", m.Architecture, m.Input()), "")
	}
	if s.Height == height && s.Width == width {
		return m, nil
	}
	f := m.Graph.Main
	g := &graph.Graph{Name: m.Graph.Name, State: m.Graph.State}
	c := graph.NewCopier(f, graph.NewBuilder(f.Name, &g.State))
	in := f.Values[f.Inputs[0]]
	in.Type.Shape = resized(in.Type.Shape, s, height, width)
	c.To[f.Inputs[0]] = c.Builder.Input(in.Name, in.Type)
	for i := range f.Nodes {
		n := f.Nodes[i]
		if len(n.In) > 0 && n.In[0] != graph.None && c.Builder.Err() == nil {
			n.Attrs = resizeAttrs(c.Builder, &n, f.Values[n.In[0]].Type.Shape, c.Builder.Type(c.Value(n.In[0])).Shape)
		}
		c.Copy(&n)
	}
	c.Outputs()
	out := *m
	out.Graph = g
	var err error
	if g.Main, err = c.Builder.Function(); err == nil {
		err = g.Check()
	}
	if err != nil {
		return nil, problem.Wrap("size", fmt.Errorf("model %s is made for %s, and cannot take %s: %w",
			m.Architecture, s.Sides(), Size{height, width, 0}.Sides(), err))
	}
	return &out, nil
}

// resizeAttrs returns the attributes that n needs when the shape of its operand changes from oldShape to
// newShape. A range that reaches the end of an axis still does, and a factor stays the same. If the node
// selects a fixed part of a map, b fails.
func resizeAttrs(b *graph.Builder, n *graph.Node, oldShape, newShape []int) graph.Attrs {
	if slices.Equal(oldShape, newShape) || len(oldShape) != len(newShape) {
		return n.Attrs
	}
	fixed := func() graph.Attrs {
		b.Fail(fmt.Errorf("%v counts places of a map of %v", n.Op, oldShape))
		return n.Attrs
	}
	switch n.Op {
	case graph.Slice:
		end := n.Ints("end")
		for axis, length := range newShape {
			if length == oldShape[axis] {
				continue
			}
			if end[axis] != oldShape[axis] {
				return fixed()
			}
			end[axis] = length
		}
		return n.Attrs.With("end", end)
	case graph.Take:
		if axis := n.Int("axis"); newShape[axis] != oldShape[axis] {
			return fixed()
		}
	case graph.Upsample:
		size := n.Ints("size")
		for axis := range size {
			if size[axis]%oldShape[axis+1] != 0 {
				return fixed()
			}
			size[axis] = size[axis] / oldShape[axis+1] * newShape[axis+1]
		}
		return n.Attrs.With("size", size)
	}
	return n.Attrs
}

// resized returns the shape of pictures or arrays of another height and width.
func resized(shape []int, s Size, height, width int) []int {
	if shape[0] == s.Channels && shape[1] == s.Height && shape[2] == s.Width {
		return []int{s.Channels, height, width}
	}
	return []int{height, width, s.Channels}
}
