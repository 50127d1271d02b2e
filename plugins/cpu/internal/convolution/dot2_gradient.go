package convolution

import (
	"sync"

	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
)

// In a gradient the sum runs over positions, so the pairs consist of neighbouring positions,
// which are C values apart. They are interleaved first, once for all taps:
//
// 	line of the image       p0: c0 c1 c2 ..   p1: c0 c1 c2 ..   p2: ...
// 	interleaved             (p0 p1) of c0, (p0 p1) of c1, ...   (p2 p3) of c0, ...
//
// The result's gradient is interleaved in the same way. The choice of pairs is a function of
// the shape: see pairLines.

// dot2Gradient is the weight gradient of a convolution by pairs of positions.
type dot2Gradient struct {
	g         *Geometry
	lines     *pairLines
	offsets   []int // offset in dw of each weight (tap and value), for the first output channel
	atStep    int   // distance in dw between the weights of two output channels
	x, dy, dw *run.Value
	chunks    chunks
	// interleaved is the number of values that are interleaved before the products of any of them are computed.
	// They should stay in the cache.
	interleaved int

	mu     sync.Mutex
	orders map[[4]int]kernel.Order // offsets in dw of the sums of a task
}

// newDot2Gradient returns the weight gradient of a convolution with its positions paired in lines l.
func (g *Geometry) newDot2Gradient(l *pairLines, x, dy, dw *run.Value, interleaved int) *dot2Gradient {
	k := &dot2Gradient{g: g, lines: l, x: x, dy: dy, dw: dw, chunks: chunksOf(dy.Positions),
		interleaved: interleaved, orders: map[[4]int]kernel.Order{}}
	if k.offsets, k.atStep = g.forwardAt(0); l.padded {
		k.offsets, k.atStep = g.narrowAt()
	}
	return k
}

// order returns the offsets in dw of the sums of values [k0, k1) and columns [j0, j1) of
// the kernel.
func (k *dot2Gradient) order(k0, k1, j0, j1 int) kernel.Order {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := [4]int{k0, k1, j0, j1}
	if o, ok := k.orders[key]; ok {
		return o
	}
	var offsets []int
	for i := range k.lines.rows {
		for j := j0; j < j1; j++ {
			offsets = append(offsets, k.offsets[(i*len(k.lines.begin)+j)*k.lines.values:][k0:k1]...)
		}
	}
	k.orders[key] = kernel.NewOrder(offsets)
	return k.orders[key]
}

// replicas computes the gradients of replicas [from, to). A task is, for one replica, a panel of a group
// and some values of the input, few enough that their sums stay in the cache. If workers would be idle, a
// task has only some columns of the kernel.
func (k *dot2Gradient) replicas(f *run.Frame, from, to int) {
	const most, least = 4 * kernel.Lanes, kernel.Lanes / 2 // values of a task
	panels := (k.g.og + kernel.PanelLanes - 1) / kernel.PanelLanes
	whole := (to - from) * k.g.Groups * panels
	columns := enough(len(k.lines.begin), whole*((k.lines.values+most-1)/most), f.Threads())
	some := enough((k.lines.values+least-1)/least, whole*columns, f.Threads())
	some = min(most, (k.lines.values+least*some-1)/(least*some)*least)
	ranges := (k.lines.values + some - 1) / some
	f.Each(whole*columns*ranges, func(w *run.Worker, i int) {
		index, i := i%ranges, i/ranges
		column, i := i%columns, i/columns
		panel, i := i%panels, i/panels
		t := dot2Task{k: k, kernels: f.Kernels, worker: w, group: i % k.g.Groups,
			first: panel * kernel.PanelLanes, k0: index * some, k1: min((index+1)*some, k.lines.values)}
		t.j0, t.j1 = schedule.RangeOf(column, columns, len(k.lines.begin))
		r := from + f.Turn(i/k.g.Groups, to-from)
		t.sum(storedIn(f, k.x), storedIn(f, k.dy), f.Starts[r], f.Starts[r+1])
		t.unpack(run.Row(f.F32(k.dw), k.dw, r))
	})
}
