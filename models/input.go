package models

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// WithImage returns m with the image operation i in front, replacing m's image operation if
// it has one, so that its input is images, u8 [H,W,C]. The state is shared with m. It is an
// error if the input of m is not images of 1 or 3 channels, as [C,H,W] or [H,W,C], or grey
// images as [H,W], or if i does not fit them: see Image.Check.
func WithImage(m *Model, i Image) (*Model, error) {
	t, order, err := m.pixels()
	if err != nil {
		return nil, err
	}
	s := order.size(t.Shape)
	if err := i.Check(s.Channels); err != nil {
		return nil, err
	}
	return m.reinput(func(b *graph.Builder, name string) graph.Value {
		x := b.Input(name, graph.Type{Kind: graph.Rows, DType: tensor.U8,
			Shape: []int{s.Height, s.Width, s.Channels}})
		y := b.Op(graph.Image, m.free("image"), []graph.Value{x},
			"scale", i.Scale, "mean", i.Mean, "std", i.Std, "bgr", i.BGR)
		switch order {
		case channelsLast:
			y = b.Op(graph.Transpose, m.free("image.hwc"), []graph.Value{y}, "perm", []int{1, 2, 0})
		case noChannels:
			y = b.Op(graph.Reshape, m.free("image.hw"), []graph.Value{y}, "shape", []int{s.Height, s.Width})
		}
		return y
	})
}

// WithArrays returns m without its image operation, so that its input is the result of that
// operation, f32 [C,H,W]. It returns m itself if it has no image operation.
func WithArrays(m *Model) (*Model, error) {
	f := m.Graph.Main
	n := m.imageNode()
	if n == nil {
		return m, nil
	}
	t := f.Values[n.Out[0]].Type
	return m.reinput(func(b *graph.Builder, name string) graph.Value { return b.Input(name, t) })
}

// WithChannelsLast returns m with the input f32 [H,W,C], the layout of Keras, in place of
// f32 [C,H,W].
func WithChannelsLast(m *Model) (*Model, error) {
	t := m.Input()
	if t.DType != tensor.F32 || len(t.Shape) != 3 {
		return nil, fmt.Errorf("model %s takes %v, not f32[C,H,W]", m.Architecture, t)
	}
	return m.reinput(func(b *graph.Builder, name string) graph.Value {
		x := b.Input(name, graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: lastChannels(t.Shape)})
		return b.Op(graph.Transpose, m.free("input.chw"), []graph.Value{x}, "perm", []int{2, 0, 1})
	})
}

// lastChannels turns the shape [C,H,W] into [H,W,C].
func lastChannels(shape []int) []int { return []int{shape[1], shape[2], shape[0]} }

// free returns name or, if a value of m has it, a similar name. The result of the image
// operation does not count, because it is replaced.
func (m *Model) free(name string) string {
	f, image := m.Graph.Main, m.imageNode()
	taken := func(v graph.Variable) bool { return v.Name == name }
	for slices.ContainsFunc(f.Values, taken) {
		if image != nil && f.Values[image.Out[0]].Name == name {
			break
		}
		name += "_"
	}
	return name
}

// axes is the place of the channels among the axes of an image.
type axes int

const (
	channelsFirst axes = iota
	channelsLast
	noChannels // [H,W]: grey
)

// size returns the size of images with numbers of a shape.
func (a axes) size(shape []int) Size {
	switch a {
	case channelsLast:
		return Size{shape[0], shape[1], shape[2]}
	case noChannels:
		return Size{shape[0], shape[1], 1}
	}
	return Size{shape[1], shape[2], shape[0]}
}

// pixels returns the type of the numbers that m computes from an image, and
// where their channels are.
func (m *Model) pixels() (t graph.Type, order axes, err error) {
	t = m.Input()
	if n := m.imageNode(); n != nil {
		t = m.Graph.Main.Values[n.Out[0]].Type
	}
	colours := func(n int) bool { return n == 1 || n == 3 }
	switch s := t.Shape; {
	case t.DType != tensor.F32:
	case len(s) == 2:
		return t, noChannels, nil
	case len(s) == 3 && colours(s[0]):
		return t, channelsFirst, nil
	case len(s) == 3 && colours(s[2]):
		return t, channelsLast, nil
	}
	return t, 0, fmt.Errorf("model %s takes %v: no images of 1 or 3 channels", m.Architecture, t)
}

// reinput returns m with another input. The result of the function first replaces the
// former input, or the result of the image operation.
func (m *Model) reinput(first func(b *graph.Builder, name string) graph.Value) (*Model, error) {
	f, image := m.Graph.Main, m.imageNode()
	g := &graph.Graph{Name: m.Graph.Name, State: m.Graph.State}
	c := graph.NewCopier(f, graph.NewBuilder(f.Name, &g.State))
	old := f.Inputs[0]
	start := first(c.Builder, f.Values[old].Name)
	if image == nil {
		c.To[old] = start
	} else {
		c.To[image.Out[0]] = start
	}
	for i := range f.Nodes {
		if n := &f.Nodes[i]; n != image {
			c.Copy(n)
		}
	}
	c.Outputs()
	out := *m
	out.Graph = g
	var err error
	if g.Main, err = c.Builder.Function(); err != nil {
		return nil, fmt.Errorf("model %s: another input: %w", m.Architecture, err)
	}
	return &out, nil
}
