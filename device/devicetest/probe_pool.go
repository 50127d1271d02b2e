package devicetest

import "github.com/bnctl/bnctl/graph"

// pool is a window over an image. It has a probe for each pooling operation.
type pool struct {
	name           string
	channels, h, w int
	kernel, stride [2]int
	pad            [4]int
}

var pools = []pool{
	{"2x2 stride 2", 16, 6, 8, [2]int{2, 2}, [2]int{2, 2}, [4]int{}},
	{"2x2 stride 2, odd image", 5, 7, 5, [2]int{2, 2}, [2]int{2, 2}, [4]int{}},
	{"3x3 stride 2, padding", 17, 8, 7, [2]int{3, 3}, [2]int{2, 2}, [4]int{1, 1, 1, 1}},
	{"overlapping 3x2, uneven padding", 3, 5, 6, [2]int{3, 2}, [2]int{1, 1}, [4]int{2, 0, 0, 1}},
	{"whole image", 4, 3, 5, [2]int{3, 5}, [2]int{1, 1}, [4]int{}},
}

func (p pool) probes() []probe {
	w := graph.Window{Kernel: p.kernel, Stride: p.stride, Dilation: [2]int{1, 1}, Pad: p.pad}
	attrs := func(more ...any) []any {
		return append([]any{"kernel", p.kernel[:], "stride", p.stride[:], "pad", p.pad[:]}, more...)
	}
	x, dy := rows(p.channels, p.h, p.w), rows(p.channels, w.Extent(0, p.h), w.Extent(1, p.w))
	size := []int{p.h, p.w}
	return []probe{
		{p.name, graph.MaxPool, attrs(), []operand{x}, bits},
		{p.name, graph.MaxPoolGrad, attrs(), []operand{x, dy}, blended},
		{p.name + ", ties", graph.MaxPoolGrad, attrs(), []operand{x.filledBy(fewValues), dy}, blended},
		{p.name, graph.AvgPool, attrs(), []operand{x}, products(p.kernel[0] * p.kernel[1])},
		{p.name + ", padding counts", graph.AvgPool, attrs("count_pad", true), []operand{x},
			products(p.kernel[0] * p.kernel[1])},
		{p.name, graph.AvgPoolGrad, attrs("size", size), []operand{dy}, products(p.kernel[0] * p.kernel[1])},
		{p.name + ", padding counts", graph.AvgPoolGrad, attrs("size", size, "count_pad", true), []operand{dy},
			products(p.kernel[0] * p.kernel[1])},
	}
}

// poolProbes returns the probes of all pools.
func poolProbes() []probe {
	p := []probe{
		{"5 channels of 3x7", graph.GlobalAvgPool, nil, []operand{rows(5, 3, 7)}, products(1)},
		{"64 channels of 8x8", graph.GlobalAvgPool, nil, []operand{rows(64, 8, 8)}, products(1)},
		{"5 channels of 3x7", graph.GlobalAvgPoolGrad, []any{"size", []int{3, 7}}, []operand{rows(5, 1, 1)},
			rounded},
	}
	for _, w := range pools {
		p = append(p, w.probes()...)
	}
	return p
}
