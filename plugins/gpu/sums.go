package gpu

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// sumOps sum over rows, positions and axes.
var sumOps = map[graph.Op]func(c *compiler){
	graph.Moments:           buildMoments,
	graph.NormaliseGradSums: buildNormaliseGradSums,
	graph.ChannelSum:        buildChannelSum,
	graph.GlobalAvgPool:     buildGlobalAvgPool,
	graph.DenseGradWeight:   buildWeights,
	graph.ConvGradWeight:    buildWeights,
	graph.SumRows:           buildSumRows,
	graph.ReduceSum:         buildReduce,
	graph.ReduceMean:        buildReduce,
	graph.ReduceMax:         buildReduce,
	graph.ReduceMin:         buildReduce,
	graph.ReduceProd:        buildReduce,
	graph.PreluGradSlope:    buildPreluGradSlope,
}

// channelPartition returns the partition of the rows of x for sums of channels, and the number of
// spans of a chunk.
func (c *compiler) channelPartition(x *value) (k *partition, spans int) {
	return c.partition(max(1, class.BlockPositions/max(x.positions(), 1))), spansOf(x)
}

// spansOf returns the number of spans of a channel of one row.
func spansOf(x *value) int { return max(1, (x.positions()+class.SpanPositions-1)/class.SpanPositions) }

// blocksOf returns the number of blocks of a span of a channel with this many positions.
func blocksOf(positions int) int {
	return (min(max(positions, 1), class.SpanPositions) + class.BlockPositions - 1) / class.BlockPositions
}

// grouped is the maximum number of blocks of a group of threads.
const grouped = 112

// spanThreads returns the number of threads for n spans, when a group of threads computes the given number
// of them (kernels/73_spans.cl).
func spanThreads(n, ofGroup int) int { return (n + ofGroup - 1) / ofGroup * Threads }

func buildMoments(c *compiler) {
	x, m := c.in(0), c.out(0)
	k, spans := c.channelPartition(x)
	p := c.chunkSlot(k, 3*8*x.channels()*spans)
	blocks := blocksOf(k.rows * x.positions())
	c.launchChunks(k, "moments_part", spanThreads(x.channels()*spans, grouped/blocks), x, p, k.table,
		x.channels()*spans, x.channels(), x.positions(), blocks)
	c.launch("moments_total", graph.Replica, x.channels(), p, m, k.firsts, x.channels(), spans)
}

// channelSums launches the partial sums of dy and dy*(x - mean), or only of dy if there are
// no moments.
func (c *compiler) channelSums(k *partition, spans int, x, dy, m *value) *slot {
	p, of := c.chunkSlot(k, 2*8*x.channels()*spans), -1
	var moments any = k.table // the kernel does not read it
	if m != nil {
		of, moments = unitsOf(m, graph.Rows), m
	}
	blocks := blocksOf(k.rows * x.positions())
	c.launchChunks(k, "gradient_part", spanThreads(x.channels()*spans, grouped/blocks), x, dy, moments, p,
		k.table, x.channels()*spans, x.channels(), x.positions(), blocks, of)
	return p
}

func buildNormaliseGradSums(c *compiler) {
	x, sums := c.in(0), c.out(0)
	k, spans := c.channelPartition(x)
	p := c.channelSums(k, spans, x, c.in(1), c.in(2))
	c.launch("gradient_total", graph.Replica, sums.count, p, sums, k.firsts, sums.count, x.channels(), spans)
}

func buildChannelSum(c *compiler) {
	x, y := c.in(0), c.out(0)
	k, spans := c.channelPartition(x)
	p := c.channelSums(k, spans, x, x, nil)
	c.launch("channel_total", graph.Replica, y.count, p, y, k.firsts, y.count, spans, 1.0)
}

func buildGlobalAvgPool(c *compiler) {
	x, y := c.in(0), c.out(0)
	k, spans := c.partition(1), spansOf(x)
	p := c.channelSums(k, spans, x, x, nil)
	c.launch("channel_mean", graph.Rows, y.count, p, y, y.count, spans, float64(x.positions()))
}

func buildSumRows(c *compiler) {
	x, y, kernel := c.in(0), c.out(0), "sum_rows32"
	if x.DType == tensor.F64 {
		kernel = "sum_rows64"
	}
	c.launch(kernel, graph.Replica, y.count, x, y, c.exe.starts, y.count)
}

func buildPreluGradSlope(c *compiler) {
	x, dy, ds := c.in(0), c.in(1), c.out(0)
	c.launch("prelu_slope", graph.Replica, ds.count, x, dy, ds, c.exe.starts, ds.count, x.positions())
}

func buildReduce(c *compiler) {
	x, y, bits := c.in(0), c.out(0), "32"
	if x.DType == tensor.F64 {
		bits = "64"
	}
	gone := map[int]bool{}
	for _, a := range c.node.Ints("axes") {
		gone[a] = true
	}
	var lists [4][]int // shape and strides of the axes that remain, then of the axes that are removed
	strides := rowMajor(x.Shape)
	for i, n := range x.Shape {
		at := 0
		if gone[i] {
			at = 2
		}
		lists[at], lists[at+1] = append(lists[at], n), append(lists[at+1], strides[i])
	}
	args := []any{x, y, c.table(lists[:]...), y.count, len(lists[0]), len(lists[2]), tensor.Count(lists[2])}
	switch c.node.Op {
	case graph.ReduceSum:
		c.launch("reduce"+bits, y.Kind, y.count, append(args, 1.0)...)
	case graph.ReduceMean:
		c.launch("reduce"+bits, y.Kind, y.count, append(args, float64(x.count/max(y.count, 1)))...)
	default:
		first, _ := class.Reduction(c.node.Op)
		c.launch("fold"+bits, y.Kind, y.count, append(args, int(c.node.Op), first)...)
	}
}

// buildWeights lowers the gradient for a weight.
func buildWeights(c *compiler) {
	l, algorithm := c.layer()
	x, dy, dw := c.in(0), c.in(1), c.out(0)
	positions := l.OH * l.OW
	k := c.partition(max(1, (class.ChunkPositions+positions-1)/max(positions, 1)))
	if c.leading() {
		k, l = c.partitionOf(k.rows, positions), pixel(l)
	}
	p := c.chunkSlot(k, dw.size())
	switch b := blockOf(l.O / l.Groups); {
	case tiled(algorithm):
		c.weightsByTiles(l, tilesOf(l, algorithm), k, x, dy, p)
	case l.O > l.Groups || c.leading():
		n := b.rowBlocks(l.Groups, l.O) * b.columnBlocks(dw.count/l.O) * Threads
		geometry := c.geometry(l, weights{}, byWindow)
		c.launchChunks(k, b.kernel("weights_block"), n, x, dy, p, k.table, geometry, dw.count)
	default:
		c.launchChunks(k, "conv_weights", dw.count, x, dy, p, k.table, c.geometry(l, weights{}, byWindow), dw.count)
	}
	c.launch("add_parts", graph.Replica, dw.count, p, dw, k.firsts, dw.count)
}
