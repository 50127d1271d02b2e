package quantize

import (
	"context"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// mostAtEnd is the fraction of the bytes of a channel that may be at an end of the type. A
// larger fraction shows that the range of the feature map is too narrow for the samples.
const mostAtEnd = 0.05

// FileFindings runs samples of o.Data or o.Source through the model of o.Input, and returns
// warnings about constant or saturated channels of its feature maps of bytes.
func FileFindings(ctx context.Context, o Options) ([]bn.Finding, error) {
	opened, err := modelfile.Open(o.Input, o.File)
	if err != nil {
		return nil, err
	}
	list, err := findings(ctx, opened.Model, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Input, err)
	}
	return list, nil
}

// findings does the same as FileFindings for a model.
func findings(ctx context.Context, m *models.Model, o Options) ([]bn.Finding, error) {
	maps := countedMaps(m.Graph.Main)
	if len(maps) == 0 {
		return nil, problem.New("", "", "no layer of the model computes bytes, so samples show nothing about it",
			"leave out {data}, or give a quantised file")
	}
	observed, err := withBytes(m, maps)
	if err != nil {
		return nil, err
	}
	s, err := readSamples(ctx, m, o)
	if err != nil {
		return nil, err
	}
	first := len(m.Graph.Main.Outputs)
	err = s.each(ctx, func(outputs [][]tensor.Tensor) error {
		for i := range maps {
			maps[i].count(outputs[0][first+i])
		}
		return nil
	}, observed)
	var list []bn.Finding
	for i := range maps {
		list = append(list, maps[i].findings(s.count)...)
	}
	return list, err
}

// countedMap counts the bytes of a feature map.
type countedMap struct {
	layer    string
	value    graph.Value
	bounds   class.Int8
	channels []countedChannel
}

// countedChannel has the least and the largest byte of a channel, and the number of bytes at the ends.
type countedChannel struct {
	least, most       float32
	bytes, low, upper int
}

// countedMaps returns the feature maps that layers round to bytes.
func countedMaps(f *graph.Function) (maps []countedMap) {
	for i := range f.Nodes {
		n := &f.Nodes[i]
		t := f.Values[n.Out[0]].Type
		rounds := slices.Contains([]graph.Op{graph.Quantize, graph.ConvInt8, graph.DenseInt8, graph.AddInt8,
			graph.MulInt8}, n.Op)
		if !rounds || t.DType != tensor.U8 || len(t.Shape) == 0 {
			continue
		}
		maps = append(maps, countedMap{layer: f.NodeName(n), value: n.Out[0], bounds: class.Int8Of(n),
			channels: slices.Repeat([]countedChannel{{least: 255}}, t.Shape[0])})
	}
	return maps
}

// withBytes returns m with additional outputs: the bytes of the feature maps, as float32.
func withBytes(m *models.Model, maps []countedMap) (*models.Model, error) {
	table := append([]graph.State{}, m.Graph.State...)
	b := graph.Extend(m.Graph.Main, &table)
	for i, of := range maps {
		name := b.UniqueName(fmt.Sprintf("bytes.%d", i))
		b.Output(name, b.Op(graph.Dequantize, name, []graph.Value{of.value}, "scale", 1.0), false)
	}
	main, err := b.Function()
	out := *m
	out.Graph = &graph.Graph{Name: m.Graph.Name, State: table, Main: main}
	return &out, err
}

// count counts the bytes of the samples in t.
func (m *countedMap) count(t tensor.Tensor) {
	line := tensor.Count(t.Shape[2:])
	for i, v := range t.F32() {
		c := &m.channels[i/line%len(m.channels)]
		c.least, c.most = min(c.least, v), max(c.most, v)
		c.bytes++
		if v == 0 {
			c.low++
		}
		if v == 255 {
			c.upper++
		}
	}
}

// findings returns the warnings about constant and about saturated channels. Values at a bound
// count as saturated only if the bound is the end of the type: other bounds are a relu or a
// clip of the network. If byte 0 represents the number 0, the lower bound does not count.
func (m *countedMap) findings(samples int) (list []bn.Finding) {
	var dead, saturated []int
	most := 0.0
	for i, c := range m.channels {
		low := m.bounds.Min == 0 && m.bounds.Zero > 0
		upper := m.bounds.Max == 255
		fraction := 0.0
		if low {
			fraction = float64(c.low) / float64(max(1, c.bytes))
		}
		if upper {
			fraction = max(fraction, float64(c.upper)/float64(max(1, c.bytes)))
		}
		switch {
		case c.bytes > 1 && c.least == c.most:
			dead = append(dead, i)
		case fraction > mostAtEnd:
			saturated, most = append(saturated, i), max(most, fraction)
		}
	}
	all := problem.Plural(len(m.channels), "channel")
	if len(dead) > 0 {
		list = append(list, bn.Finding{Layer: m.layer, Channels: dead, Severity: bn.Warning,
			Problem: fmt.Sprintf("%d of %s dead: one byte in all of %s", len(dead), all,
				problem.Plural(samples, "sample")),
			Advice: "give samples of the data of training; if they are, prune the channels or quantise with them"})
	}
	if len(saturated) > 0 {
		list = append(list, bn.Finding{Layer: m.layer, Channels: saturated, Severity: bn.Warning,
			Problem: fmt.Sprintf("%d of %s saturated: up to %.0f %% of their bytes are at an end of the range",
				len(saturated), all, 100*most),
			Advice: "quantise the float model again, with samples like these"})
	}
	return list
}
